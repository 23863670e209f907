//! Transactions that are valid one after the other, drawn from a seed.

use std::collections::VecDeque;

use interleaf_engine::ledger::{Address, Amount, Genesis, Kind, NodeInfo, OutPoint, Output, Tx, TxId};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256StarStar;

/// What each account has in the beginning.
const START: Amount = 1_000_000_000;

/// Addresses from here on are brought in by referrals.
const REFERRED: u32 = 1 << 31;

/// How many confirmed keys and transactions are remembered to be asked for.
const SAMPLES: usize = 10_000;

/// The least number of accounts.
const ACCOUNTS_MIN: u32 = 1_000;

/// A coin that its owner can spend.
#[derive(Clone, Copy, Debug)]
struct Coin {
    key: OutPoint,
    amount: Amount,
}

/// What a transaction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// One input, one payment, change: a Direct transaction.
    Direct,
    /// Up to three inputs, two payments, change.
    Several,
    Stake,
    Unstake,
    Referral,
    Node,
}

impl Shape {
    /// Of 1,000 transactions.
    const SHARES: [(Self, u64); 6] = [
        (Self::Direct, 600),
        (Self::Several, 350),
        (Self::Stake, 15),
        (Self::Unstake, 10),
        (Self::Referral, 15),
        (Self::Node, 10),
    ];

    fn draw(mut n: u64) -> Self {
        for (shape, share) in Self::SHARES {
            match n.checked_sub(share) {
                Some(rest) => n = rest,
                None => return shape,
            }
        }
        Self::Direct
    }
}

/// Makes the transactions of block after block. A transaction spends what an earlier block holds; so all of a block are
/// independent of each other and any order of them is valid.
#[derive(Debug)]
pub struct Workload {
    random: Xoshiro256StarStar,
    /// The coins of each account, oldest first.
    coins: Vec<VecDeque<Coin>>,
    /// Owner, stake, oldest first.
    stakes: VecDeque<(u32, Coin)>,
    /// The account whose turn it is.
    turn: usize,
    referred: u32,
    made: u64,
    samples: Samples,
}

/// What there is to ask for.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Confirmed transactions.
    pub txs: Vec<TxId>,
    /// Consumed records.
    pub consumed: Vec<OutPoint>,
    /// Created records, some of them consumed since.
    pub created: Vec<OutPoint>,
    /// The number of accounts, numbered from 0.
    pub accounts: u32,
    /// Addresses that were brought in, the first of them.
    pub referred: Vec<Address>,
    /// Addresses that have a stake now, those that have it longest.
    pub staked: Vec<Address>,
    /// Addresses that have announced a node, the first of them.
    pub announced: Vec<Address>,
}

impl Workload {
    /// For blocks of `block_size` transactions.
    #[must_use]
    pub fn new(seed: u64, block_size: u32) -> (Self, Genesis) {
        let accounts = block_size.saturating_mul(2).max(ACCOUNTS_MIN);
        let genesis = Genesis::of(&(0..accounts).map(|n| (Address::numbered(n), START)).collect::<Vec<_>>());
        let tx = genesis.tx();
        let coin = |index| VecDeque::from([Coin { key: tx.outpoint(index), amount: START }]);
        let workload = Self {
            random: Xoshiro256StarStar::seed_from_u64(seed),
            coins: (0..accounts).map(coin).collect(),
            stakes: VecDeque::new(),
            turn: 0,
            referred: 0,
            made: 0,
            samples: Samples { accounts, ..Samples::default() },
        };
        (workload, genesis)
    }

    /// The next `count` transactions, for one block: fewer if not so many accounts own anything.
    pub fn block(&mut self, count: u32, time_ms: u64) -> Vec<Tx> {
        // What this block creates can be spent from the next one on.
        let mut created = Vec::new();
        let mut staked = Vec::new();
        let txs: Vec<Tx> = (0..count).map_while(|_| self.tx(time_ms, &mut created, &mut staked)).collect();
        for (owner, coin) in created {
            self.coins[owner as usize].push_back(coin);
        }
        self.stakes.extend(staked);
        txs
    }

    /// What there is to ask for by now.
    #[must_use]
    pub fn samples(&self) -> Samples {
        let staked = self.stakes.iter().take(SAMPLES).map(|(owner, _)| Address::numbered(*owner)).collect();
        Samples { staked, ..self.samples.clone() }
    }

    fn tx(&mut self, ms: u64, created: &mut Vec<(u32, Coin)>, staked: &mut Vec<(u32, Coin)>) -> Option<Tx> {
        let shape = Shape::draw(self.below(1_000));
        let stake = if shape == Shape::Unstake { self.stakes.pop_front() } else { None };
        let (account, inputs) = match stake {
            Some((owner, stake)) => (owner, vec![stake]),
            None => self.inputs(if shape == Shape::Several { 3 } else { 1 })?,
        };
        let sender = Address::numbered(account);
        let outputs = self.outputs(shape, account, &inputs);
        let tx = Tx::new(ms, sender, inputs.iter().map(|coin| coin.key).collect(), outputs);
        for output in &tx.outputs {
            let coin = Coin { key: tx.outpoint(output.index), amount: output.amount };
            match output.kind {
                Kind::Coin => created.push((number(output.owner), coin)),
                Kind::Stake => staked.push((account, coin)),
                Kind::Referral | Kind::Node(_) => {}
            }
        }
        self.remember(&tx);
        Some(tx)
    }

    /// At most `count` coins of the next account that has any: half of the time its newest, which the blocks in memory hold,
    /// else its oldest. (Whoever always spends his newest is left with dust.)
    fn inputs(&mut self, count: usize) -> Option<(u32, Vec<Coin>)> {
        let newest = self.below(2) == 0;
        for _ in 0..self.coins.len() {
            self.turn = (self.turn + 1) % self.coins.len();
            let coins = &mut self.coins[self.turn];
            if !coins.is_empty() {
                let count = count.min(coins.len());
                let range = if newest { coins.len() - count..coins.len() } else { 0..count };
                return Some((self.turn as u32, coins.drain(range).collect()));
            }
        }
        None
    }

    /// What becomes of `inputs`. A fee of one unit is left, if there is one.
    fn outputs(&mut self, shape: Shape, account: u32, inputs: &[Coin]) -> Vec<Output> {
        let own = Address::numbered(account);
        let worth: Amount = inputs.iter().map(|coin| coin.amount).sum::<Amount>().saturating_sub(1);
        let other = |workload: &mut Self| Address::numbered(workload.below(workload.coins.len() as u64) as u32);
        let part = self.below(worth / 2 + 1);
        match shape {
            Shape::Direct => vec![Output::coin(0, other(self), part), Output::coin(1, own, worth - part)],
            Shape::Several => {
                let half = part / 2;
                let payments = [half, part - half].map(|amount| (other(self), amount));
                let all = payments.into_iter().chain([(own, worth - part)]);
                (0..).zip(all).map(|(index, (owner, amount))| Output::coin(index, owner, amount)).collect()
            }
            Shape::Unstake => vec![Output::coin(0, own, worth)],
            Shape::Stake => vec![of_kind(0, own, part, Kind::Stake), Output::coin(1, own, worth - part)],
            Shape::Referral => {
                let new = Address::numbered(REFERRED + self.referred);
                self.referred += 1;
                first_ones(&mut self.samples.referred, new);
                vec![of_kind(0, new, 0, Kind::Referral), Output::coin(1, own, worth)]
            }
            Shape::Node => {
                first_ones(&mut self.samples.announced, own);
                let host = std::net::Ipv4Addr::from(self.random.next_u32()).to_ipv6_mapped();
                let info = NodeInfo { host, port: (self.below(1 << 16)) as u16 };
                vec![of_kind(0, own, worth / 100, Kind::Node(info)), Output::coin(1, own, worth - worth / 100)]
            }
        }
    }

    /// Keeps a fair sample of everything that was made.
    fn remember(&mut self, tx: &Tx) {
        self.made += 1;
        let place = if self.samples.txs.len() < SAMPLES {
            self.samples.txs.push(TxId::default());
            self.samples.consumed.push(OutPoint::default());
            self.samples.created.push(OutPoint::default());
            self.samples.txs.len() - 1
        } else {
            match usize::try_from(self.below(self.made)) {
                Ok(place) if place < SAMPLES => place,
                _ => return,
            }
        };
        self.samples.txs[place] = tx.id;
        self.samples.consumed[place] = tx.inputs[0];
        self.samples.created[place] = tx.outpoint(0);
    }

    /// A number below `end`; 0 if that is 0.
    fn below(&mut self, end: u64) -> u64 {
        // The bias is at most `end` in 2^64, which no figure here shows.
        self.random.next_u64().checked_rem(end).unwrap_or(0)
    }
}

fn first_ones(sample: &mut Vec<Address>, address: Address) {
    if sample.len() < SAMPLES {
        sample.push(address);
    }
}

const fn of_kind(index: u32, owner: Address, amount: Amount, kind: Kind) -> Output {
    Output { index, owner, amount, kind }
}

/// The number of an [`Address::numbered`].
const fn number(address: Address) -> u32 {
    let a = address.0;
    u32::from_be_bytes([a[16], a[17], a[18], a[19]])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_transactions_and_another_gives_others() {
        let of = |seed| Workload::new(seed, 50).0.block(50, 1);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn every_kind_of_transaction_occurs_and_no_record_is_consumed_twice() {
        let (mut workload, _) = Workload::new(3, 500);
        let (mut consumed, mut kinds) = (BTreeSet::new(), BTreeSet::new());
        for ms in 1..=20 {
            let txs = workload.block(500, ms);
            assert_eq!(txs.len(), 500);
            for tx in &txs {
                assert!(tx.inputs.iter().all(|key| consumed.insert(*key)), "{tx:?}");
                kinds.extend(tx.outputs.iter().map(|o| std::mem::discriminant(&o.kind)).map(|d| format!("{d:?}")));
            }
            assert!(txs.iter().any(|tx| tx.inputs.len() > 1) || ms < 5);
        }
        assert_eq!(kinds.len(), 4, "{kinds:?}");
        assert!(!workload.samples().referred.is_empty());
        assert_eq!(workload.samples().txs.len(), SAMPLES);
    }
}
