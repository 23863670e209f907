//! A durable ledger on a simulated disk, and a history of it with forks.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::net::Ipv6Addr;

use interleaf::disk::{Disk, Image, Log, Options, Plan};
use interleaf_engine::ledger::{
    Address, Amount, Block, ConfirmedState, Genesis, Journal, Kind, Ledger, LedgerConfig, NodeInfo, OpenError, Output,
    Recovered, RedbStore, Tx,
};
use interleaf_engine::planted::Planted;

/// Who owns what at the beginning.
pub(crate) fn genesis() -> Genesis {
    Genesis::of(&[(Address::numbered(1), 10_000), (Address::numbered(2), 10_000), (Address::numbered(3), 10_000)])
}

/// A window of three blocks and a batch for every block, so that batches are many.
pub(crate) fn config(planted: Option<Planted>) -> LedgerConfig {
    LedgerConfig { window_blocks: 3, commit_every_blocks: 1, planted, ..LedgerConfig::default() }
}

/// The ledger on the files of `disk`.
pub(crate) fn open(disk: &Disk, planted: Option<Planted>) -> Result<(Ledger<RedbStore>, Recovered), OpenError> {
    let store = RedbStore::on(disk.open("ledger.redb"))?;
    Ledger::open(config(planted), genesis(), store, Journal::on(disk.open("journal.a"), disk.open("journal.b")))
}

/// A disk that holds an image, without log.
pub(crate) fn disk_of(image: Image) -> Disk {
    Disk::from_image(image, Options { log: false, scheduling_points: false, ..Options::default() })
}

/// The block above `state`: every owner moves what he has; now and then one stakes, announces a node, brings one in.
pub(crate) fn next(state: &ConfirmedState, salt: u64) -> Block {
    let txs = (1..=3u32).filter_map(|n| {
        let owner = Address::numbered(n);
        let own: Vec<_> = state.utxos.iter().filter(|(_, r)| r.owner == owner && r.kind == Kind::Coin).collect();
        let total: Amount = own.iter().map(|(_, record)| record.amount).sum();
        let rest = total.checked_sub(3)?;
        let special = match salt % 5 {
            0 => (owner, 1, Kind::Stake),
            1 => (owner, 1, Kind::Node(NodeInfo { host: Ipv6Addr::LOCALHOST, port: salt as u16 })),
            2 => (Address::numbered(1_000 + 10 * salt as u32 + n), 0, Kind::Referral),
            _ => (Address::numbered(n % 3 + 1), 1, Kind::Coin),
        };
        let outputs = vec![
            Output::coin(0, owner, rest),
            Output::coin(1, Address::numbered(50 + n), 1),
            Output { index: 2, owner: special.0, amount: special.1, kind: special.2 },
        ];
        let time = (state.tip.height + 1) * 1_000_000 + salt;
        Some(Tx::new(time, owner, own.iter().map(|(key, _)| **key).collect(), outputs))
    });
    Block::new(state.tip.id, state.tip.height + 1, txs.collect())
}

/// What a run did: everything that reached the disk, and after which operation each state was acknowledged.
pub(crate) struct History {
    pub(crate) log: Log,
    /// Ascending; the first is that of the opened ledger.
    pub(crate) acknowledged: Vec<(u64, ConfirmedState)>,
}

/// Runs `changes` changes of the chain: blocks, roll-backs, fork switches.
pub(crate) fn run(changes: u64, planted: Option<Planted>, plan: Plan) -> History {
    let disk = Disk::new(Options { scheduling_points: false, plan, ..Options::default() });
    let (ledger, _) = open(&disk, planted).expect("an empty disk takes a ledger");
    let state = || ledger.state().expect("the store can be read").confirmed;
    let mut acknowledged = vec![(disk.operations(), state())];
    for salt in 0..changes {
        match salt % 9 {
            4 => drop(ledger.roll_back().expect("the window is not empty")),
            7 => {
                // A branch of three from two blocks below: made on a copy that rolls back.
                let (copy, _) = open(&disk_of(disk.image()), planted).expect("a copy opens");
                (0..2).for_each(|_| drop(copy.roll_back().expect("the window holds two")));
                let branch = (0..3).map(|n| {
                    let block = next(&copy.state().expect("the store can be read").confirmed, 100 * salt + n);
                    copy.add_block(block.clone()).expect("a valid block");
                    block
                });
                let branch = branch.collect();
                ledger.switch_fork(2, branch).expect("a valid branch");
            }
            _ => drop(ledger.add_block(next(&state(), salt)).expect("a valid block")),
        }
        acknowledged.push((disk.operations(), state()));
    }
    History { log: disk.log().expect("the disk keeps a log"), acknowledged }
}
