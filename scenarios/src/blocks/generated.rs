//! Generated blocks. The same description and seed give the same block on every machine.

use interleaf_engine::ledger::block::{Block, BlockId};
use interleaf_engine::ledger::tx::{Address, Amount, OutPoint, Output, Tx, TxId};
use interleaf_engine::schedule::{Ownership, Record, RecordMap, Rules};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256StarStar;

use super::PreparedBlock;
use super::spec::{Place, Spec};

/// Few owners, so that a random transaction finds several records of the same one.
const OWNERS: usize = 4;

/// Ids of transactions before the block start with this byte. Theirs carry a timestamp there, which is smaller.
const OUTSIDE: u8 = 0xff;

impl Spec {
    /// The block that this describes, drawn from `seed`.
    #[must_use]
    pub fn generate(&self, seed: u64) -> PreparedBlock {
        let mut g = Generator::new(seed, self.txs());
        match *self {
            Self::Independent { txs } => g.direct(txs, |_| false),
            Self::Chain { txs, percent, place } => g.direct(txs, |i| is_member(i, txs, percent, place)),
            Self::Random { txs, percent } => g.random(txs, percent),
            Self::Conflicts { txs, percent } => g.conflicts(txs, percent),
        }
        PreparedBlock {
            name: format!("{self} (seed {seed})"),
            block: Block::new(BlockId::default(), 1, g.txs),
            base: g.base,
            rules: Rules { ownership: Ownership::SenderOwnsInputs },
        }
    }
}

/// Whether transaction `i` belongs to the chain.
fn is_member(i: u32, txs: u32, percent: u32, place: Place) -> bool {
    let (i, txs) = (u64::from(i), u64::from(txs));
    let members = txs * u64::from(percent) / 100;
    match place {
        Place::First => i < members,
        Place::Last => i >= txs - members,
        Place::Spread => i * members % txs < members,
    }
}

/// A rule that a transaction of [`Spec::Conflicts`] breaks.
#[derive(Clone, Copy)]
enum Fault {
    SecondSpender,
    Overspend,
    MissingInput,
    DuplicateInput,
    DuplicateOutput,
    Stranger,
    Overflow,
    BeforeParent,
    Repeated,
    NoInputs,
}

impl Fault {
    const ALL: [Self; 10] = [
        Self::SecondSpender,
        Self::Overspend,
        Self::MissingInput,
        Self::DuplicateInput,
        Self::DuplicateOutput,
        Self::Stranger,
        Self::Overflow,
        Self::BeforeParent,
        Self::Repeated,
        Self::NoInputs,
    ];
}

/// An output that a transaction may consume.
#[derive(Clone, Copy)]
struct Coin {
    outpoint: OutPoint,
    owner: usize,
    amount: Amount,
}

/// What `coins` are worth together. Outputs of faulty transactions may exceed what is representable.
fn total(coins: &[Coin]) -> Amount {
    coins.iter().fold(0, |sum, c| sum.saturating_add(c.amount))
}

/// A block while it is generated.
struct Generator {
    rng: Xoshiro256StarStar,
    base: RecordMap,
    txs: Vec<Tx>,
    /// Unspent outputs of the block by owner.
    unspent: [Vec<Coin>; OWNERS],
    spent: Vec<Coin>,
    /// What a base record is worth at least: enough for a fee in each transaction of a chain through the whole block.
    worth: Amount,
}

impl Generator {
    fn new(seed: u64, txs: u32) -> Self {
        Self {
            rng: Xoshiro256StarStar::seed_from_u64(seed),
            base: RecordMap::default(),
            txs: Vec::with_capacity(txs as usize),
            unspent: Default::default(),
            spent: Vec::new(),
            worth: 3 * Amount::from(txs) + 10,
        }
    }

    /// A number below `n`, which is not 0. The bias is below n / 2^64.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * n as u128) >> 64) as usize
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    fn owner(owner: usize) -> Address {
        Address::numbered(owner as u32)
    }

    /// A new record below the block.
    fn older_record(&mut self, owner: usize) -> Coin {
        let n = self.base.len() as u64;
        let mut id = [OUTSIDE; 32];
        id[24..].copy_from_slice(&n.to_be_bytes());
        let outpoint = OutPoint { tx: TxId(id), index: 0 };
        let amount = self.worth + self.below(1000) as Amount;
        self.base.insert(outpoint, Record::coin(Self::owner(owner), amount));
        Coin { outpoint, owner, amount }
    }

    fn transaction(&mut self, inputs: &[Coin], outputs: Vec<Output>) -> Tx {
        let sender = inputs.first().map_or(0, |c| c.owner);
        let time_ms = self.txs.len() as u64;
        Tx::new(time_ms, Self::owner(sender), inputs.iter().map(|c| c.outpoint).collect(), outputs)
    }

    /// Direct transactions: one record in, one out (item N2).
    fn direct(&mut self, txs: u32, in_chain: impl Fn(u32) -> bool) {
        let mut last = None;
        for i in 0..txs {
            let owner = self.below(OWNERS);
            let input = last.filter(|_| in_chain(i)).unwrap_or_else(|| self.older_record(owner));
            let payee = self.below(OWNERS);
            let amount = input.amount - self.below(3) as Amount;
            let tx = self.transaction(&[input], vec![Output::coin(0, Self::owner(payee), amount)]);
            if in_chain(i) {
                last = Some(Coin { outpoint: tx.outpoint(0), owner: payee, amount });
            }
            self.txs.push(tx);
        }
    }

    fn random(&mut self, txs: u32, percent: u32) {
        for _ in 0..txs {
            let (tx, inputs) = self.valid(percent);
            self.push(tx, &inputs);
        }
    }

    fn conflicts(&mut self, txs: u32, percent: u32) {
        while self.txs.len() < txs as usize {
            let (tx, inputs) = self.valid(50);
            if self.chance(percent) {
                let fault = Fault::ALL[self.below(Fault::ALL.len())];
                self.push_faulty(fault, tx, inputs);
            } else {
                self.push(tx, &inputs);
            }
        }
        // Some faults take two transactions.
        self.txs.truncate(txs as usize);
    }

    /// A transaction that breaks no rule, and what it consumes.
    fn valid(&mut self, percent_inside: u32) -> (Tx, Vec<Coin>) {
        let owner = self.below(OWNERS);
        let inputs: Vec<Coin> = (0..=self.below(3)).map(|_| self.take(owner, percent_inside)).collect();
        let brought = total(&inputs);
        let mut left = brought.saturating_sub(self.below(3) as Amount);
        let count = 1 + self.below(3) as u32;
        let outputs = (0..count).map(|index| {
            let amount = if index + 1 == count { left } else { self.below(left as usize / 2 + 1) as Amount };
            left -= amount;
            Output::coin(index, Self::owner(self.below(OWNERS)), amount)
        });
        let outputs = outputs.collect();
        (self.transaction(&inputs, outputs), inputs)
    }

    /// Takes a record of `owner` from inside the block if chance wants it and there is one, an older one otherwise.
    fn take(&mut self, owner: usize, percent_inside: u32) -> Coin {
        if self.chance(percent_inside) && !self.unspent[owner].is_empty() {
            let at = self.below(self.unspent[owner].len());
            self.unspent[owner].swap_remove(at)
        } else {
            self.older_record(owner)
        }
    }

    /// Appends `tx`; its outputs may be consumed from now on, also if it will fail.
    fn push(&mut self, tx: Tx, inputs: &[Coin]) {
        self.spent.extend(inputs);
        for o in &tx.outputs {
            let owner = (0..OWNERS).find(|&n| Self::owner(n) == o.owner).unwrap_or(0);
            self.unspent[owner].push(Coin { outpoint: tx.outpoint(o.index), owner, amount: o.amount });
        }
        self.txs.push(tx);
    }

    /// Appends `tx` with a fault in it.
    fn push_faulty(&mut self, fault: Fault, tx: Tx, mut inputs: Vec<Coin>) {
        let mut outputs = tx.outputs.clone();
        match fault {
            Fault::SecondSpender => {
                let at = self.below(self.spent.len().max(1));
                let rival = self.spent.get(at).copied().unwrap_or(inputs[0]);
                inputs = vec![rival];
                outputs.truncate(1);
                outputs[0].amount = rival.amount;
            }
            Fault::Overspend => outputs[0].amount = total(&inputs).saturating_add(1),
            Fault::MissingInput => inputs[0].outpoint.index += 1000,
            Fault::NoInputs => inputs.clear(),
            Fault::DuplicateInput => inputs.push(inputs[0]),
            Fault::DuplicateOutput => outputs.push(outputs[0]),
            Fault::Stranger => {
                let stranger = (inputs[0].owner + 1) % OWNERS;
                inputs.push(self.older_record(stranger));
            }
            Fault::Overflow => outputs.push(Output::coin(1000, Address::default(), Amount::MAX)),
            Fault::BeforeParent => {
                let child_input = Coin { outpoint: tx.outpoint(0), owner: 0, amount: tx.outputs[0].amount };
                let child = self.transaction(&[child_input], vec![tx.outputs[0]]);
                self.push(child, &[]);
            }
            Fault::Repeated => self.push(tx.clone(), &inputs),
        }
        let unchanged = matches!(fault, Fault::BeforeParent | Fault::Repeated);
        let tx = if unchanged { tx } else { self.transaction(&inputs, outputs) };
        self.push(tx, &inputs);
    }
}

#[cfg(test)]
mod tests;
