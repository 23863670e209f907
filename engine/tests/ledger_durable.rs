//! What is acknowledged is found again, whatever ended the run (items U9, U29–U32, decisions O9–O12).

mod files_fixture;
mod ledger_fixture;

use files_fixture::File;
use interleaf_engine::ledger::{
    Address, Amount, Block, BlockError, Genesis, Journal, JournalError, Kind, Ledger, LedgerConfig, NodeInfo,
    OpenError, OutPoint, Output, Recovered, RedbStore, Store, StoreError, Tx,
};
use ledger_fixture::{A, B, C, tx};
use proptest::prelude::*;

/// The files of a ledger.
#[derive(Clone, Debug, Default)]
struct Files {
    store: File,
    journal: [File; 2],
}

impl Files {
    fn open(&self, config: LedgerConfig) -> Result<(Ledger<RedbStore>, Recovered), OpenError> {
        let [a, b] = self.journal.clone();
        Ledger::open(config, genesis(), RedbStore::on(self.store.clone())?, Journal::on(a, b))
    }

    fn opened(&self) -> Ledger<RedbStore> {
        self.open(small()).expect("the files are whole").0
    }

    fn after_crash(&self, lost: bool) -> Self {
        Self { store: self.store.after_crash(lost), journal: self.journal.each_ref().map(|f| f.after_crash(lost)) }
    }

    fn all(&self) -> [&File; 3] {
        [&self.store, &self.journal[0], &self.journal[1]]
    }
}

fn genesis() -> Genesis {
    Genesis::of(&[(A, 1_000), (B, 500)])
}

/// A window of two blocks and batches of two, so that a handful of blocks reaches the store.
fn small() -> LedgerConfig {
    LedgerConfig { window_blocks: 2, commit_every_blocks: 2, ..LedgerConfig::default() }
}

/// The next block on the tip: everything that is left of A's first record goes on, and a bit to others.
fn next<S: Store>(ledger: &Ledger<S>, salt: u64) -> Block {
    let tip = ledger.current_block();
    // Of the chain, not of the pool, to which roll-backs return what they take off.
    let confirmed = ledger.state().unwrap().confirmed.utxos.into_iter();
    let own: Vec<_> = confirmed.filter(|(_, r)| r.owner == A && r.kind == Kind::Coin).collect();
    let total: Amount = own.iter().map(|(_, record)| record.amount).sum();
    let kind = match salt % 4 {
        0 => Kind::Coin,
        1 => Kind::Stake,
        2 => Kind::Node(NodeInfo { host: std::net::Ipv6Addr::LOCALHOST, port: salt as u16 }),
        _ => Kind::Referral,
    };
    let (owner, amount) = match kind {
        Kind::Referral => (Address::numbered(100 + salt as u32), 0),
        _ => (A, 1),
    };
    let outputs = vec![Output::coin(0, A, total - 3), Output::coin(1, C, 1), Output { index: 2, owner, amount, kind }];
    let tx = Tx::new(1_000 * (tip.meta.height + 1) + salt, A, own.iter().map(|(key, _)| *key).collect(), outputs);
    Block::new(tip.meta.id, tip.meta.height + 1, vec![tx])
}

#[test]
fn a_ledger_in_a_folder_is_found_again_as_it_was() {
    // On a real file.
    let folder = tempfile::tempdir().unwrap();
    let open = || Ledger::open_folder(small(), genesis(), folder.path());
    let (ledger, recovered) = open().unwrap();
    assert_eq!(recovered, Recovered { stored_blocks: 1, ..Recovered::default() });
    for salt in 0..7 {
        ledger.add_block(next(&ledger, salt)).unwrap();
    }
    ledger.roll_back().unwrap();
    ledger.add_block(next(&ledger, 77)).unwrap();
    let before = ledger.state().unwrap().confirmed;
    assert!(matches!(open(), Err(OpenError::Store(StoreError { operation: "open", .. }))), "it is open already");
    drop(ledger);
    for _ in 0..2 {
        let (ledger, recovered) = open().unwrap();
        assert_eq!(ledger.state().unwrap().confirmed, before);
        // Batches of two at heights 4 and 6; then the seventh, off again, and another.
        assert_eq!(recovered, Recovered { stored_blocks: 5, journalled_blocks: 3, changes: 3, torn_bytes: 0 });
    }
    // The window can still be undone, and no more (O9).
    let (ledger, _) = open().unwrap();
    (0..3).for_each(|_| drop(ledger.roll_back().unwrap()));
    assert_eq!(ledger.roll_back(), Err(BlockError::RollBackPastCommit { depth: 1, tip: 4, committed: 4 }));
}

#[test]
fn what_is_not_this_ledger_is_refused_by_name() {
    let files = Files::default();
    files.opened().add_block(next(&files.after_crash(false).opened(), 1)).ok();
    let other = Genesis::of(&[(A, 1)]);
    let open = |genesis: Genesis, files: &Files| {
        let [a, b] = files.journal.clone();
        Ledger::open(small(), genesis, RedbStore::on(files.store.clone()).unwrap(), Journal::on(a, b)).map(drop)
    };
    let refused = open(other.clone(), &files).unwrap_err();
    let mismatch = JournalError::OtherLedger { found: genesis().id(), expected: other.id() };
    assert_eq!(refused, OpenError::Journal(mismatch));
    let no_journal = Files { journal: Default::default(), ..files.clone() };
    let refused = open(other.clone(), &no_journal).unwrap_err();
    assert_eq!(refused, OpenError::OtherLedger { found: genesis().id(), expected: other.id() });
    let no_store = Files { store: File::default(), ..files.clone() };
    assert_eq!(open(genesis(), &no_store), Err(OpenError::StoreLost { base_height: 0 }));
    assert!(RedbStore::on(File::of(b"short".to_vec())).is_err());
    let text = File::of(b"this is no database at all, whatever its name says ....".to_vec());
    assert!(matches!(RedbStore::on(text), Err(StoreError { operation: "open", .. })));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    let refused = Ledger::open_folder(small(), genesis(), &folder.path().join("file")).unwrap_err();
    assert!(refused.to_string().contains("file"), "{refused}");
    // A journal whose store is that of another branch.
    let (one, other) = (Files::default(), Files::default());
    let ledger = one.opened();
    ledger.add_block(next(&ledger, 1)).unwrap();
    drop(ledger);
    let ledger = other.opened();
    for salt in 2..8 {
        ledger.add_block(next(&ledger, salt)).unwrap();
    }
    drop(ledger);
    let refused = open(genesis(), &Files { store: other.store, ..one }).unwrap_err();
    assert!(matches!(refused, OpenError::Mismatch { height: 1, expected: Some(_), .. }), "{refused}");
    // A journal whose store is that of an earlier time, or of a later one.
    let early = files.clone().after_crash(false);
    let ledger = files.opened();
    for salt in 0..9 {
        ledger.add_block(next(&ledger, salt)).unwrap();
    }
    drop(ledger);
    let mixed = Files { store: early.store, ..files };
    let refused = open(genesis(), &mixed).unwrap_err();
    assert!(matches!(refused, OpenError::Mismatch { expected: None, .. }), "{refused}");
}

#[test]
fn a_journal_that_ends_anywhere_loses_the_last_change_at_most() {
    // O11: the journal cut off at every byte, and with rubbish where the rest was.
    let files = Files::default();
    let ledger = files.opened();
    let mut states = vec![ledger.state().unwrap().confirmed];
    let mut ends = vec![files.journal[1].bytes().len()];
    for salt in 0..3 {
        ledger.add_block(next(&ledger, salt)).unwrap();
        states.push(ledger.state().unwrap().confirmed);
        ends.push(files.journal[1].bytes().len());
    }
    drop(ledger);
    let whole = files.journal[1].bytes();
    for cut in ends[0]..whole.len() {
        let kept = ends.iter().rposition(|end| *end <= cut).unwrap();
        let mut rubbish = whole.clone();
        rubbish[cut..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        // Rubbish that leaves later records whole is damage, not a torn end: the next test.
        for bytes in [whole[..cut].to_vec(), rubbish] {
            let cut_off = Files { store: files.store.after_crash(false), journal: [File::default(), File::of(bytes)] };
            let (ledger, recovered) = cut_off.open(small()).unwrap();
            assert_eq!(ledger.state().unwrap().confirmed, states[kept], "cut at {cut}");
            assert_eq!(recovered.changes, kept as u64);
            // It goes on from there, and is found again.
            let block = next(&ledger, 9);
            ledger.add_block(block.clone()).unwrap();
            drop(ledger);
            assert_eq!(cut_off.opened().current_block().meta.id, block.id);
        }
    }
}

#[test]
fn damage_in_the_middle_is_named_and_not_taken_for_the_end() {
    // O11: every byte of the journal but those of its last record.
    let files = Files::default();
    let ledger = files.opened();
    let mut ends = vec![files.journal[1].bytes().len()];
    for salt in 0..3 {
        ledger.add_block(next(&ledger, salt)).unwrap();
        ends.push(files.journal[1].bytes().len());
    }
    drop(ledger);
    let whole = files.journal[1].bytes();
    for at in 0..ends[2] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let damaged = Files { store: files.store.after_crash(false), journal: [File::default(), File::of(bytes)] };
        let sequence = ends.iter().position(|end| at < *end).unwrap() as u64;
        let offset = sequence.checked_sub(1).map_or(0, |before| ends[before as usize] as u64);
        let expected = JournalError::Damaged { file: 'b', offset, sequence, later: sequence + 1 };
        match damaged.open(small()) {
            Err(OpenError::Journal(error)) => assert_eq!(error, expected, "byte {at}"),
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

/// What a run on failing files acknowledged, and what it was told could not be known.
fn run_until_failure(files: &Files, blocks: u64) -> (Vec<Block>, Option<Block>) {
    let mut chain: Vec<Block> = Vec::new();
    let Ok((ledger, _)) = files.open(small()) else { return (chain, None) };
    for salt in 0..blocks {
        if salt % 5 == 4 {
            match ledger.roll_back() {
                Ok(_) => drop(chain.pop()),
                // Whether the block is off is not known; the chain below it is certain.
                Err(_) => {
                    let unknown = chain.pop();
                    return (chain, unknown);
                }
            }
            continue;
        }
        let block = next(&ledger, salt);
        match ledger.add_block(block.clone()) {
            Ok(_) => chain.push(block),
            Err(BlockError::Journal(JournalError::Broken { .. })) => return (chain, None),
            Err(_) => return (chain, Some(block)),
        }
    }
    (chain, None)
}

/// Opens `files` and checks that the acknowledged chain is there, with or without the block in doubt.
fn assert_kept(files: &Files, acknowledged: &[Block], doubtful: Option<&Block>, context: &str) {
    let (ledger, _) = files.open(small()).unwrap_or_else(|error| panic!("{context}: {error}"));
    let state = ledger.state().unwrap().confirmed;
    let ids: Vec<_> = state.blocks[1..].iter().map(|block| block.id).collect();
    let mut expected: Vec<_> = acknowledged.iter().map(|block| block.id).collect();
    if ids.len() > expected.len() {
        expected.extend(doubtful.map(|block| block.id));
    }
    assert_eq!(ids, expected, "{context}");
    drop(ledger);
    assert_eq!(files.opened().state().unwrap().confirmed, state, "{context}: opened twice");
}

#[test]
fn nothing_acknowledged_is_lost_when_any_file_fails_at_any_operation() {
    // O11, O12: a disk that is gone from one operation on, then a crash that keeps or loses what was not synced.
    const BLOCKS: u64 = 12;
    for place in 0..3 {
        let whole = Files::default();
        run_until_failure(&whole, BLOCKS);
        let operations = whole.all()[place].operations();
        assert!(operations > 15, "{operations}");
        for fails_in in 0..operations {
            let files = Files::default();
            files.all()[place].fail_in(fails_in);
            let (acknowledged, doubtful) = run_until_failure(&files, BLOCKS);
            for lost in [false, true] {
                let context = format!("file {place} fails at {fails_in}, unsynced lost: {lost}");
                assert_kept(&files.after_crash(lost), &acknowledged, doubtful.as_ref(), &context);
            }
        }
    }
}

#[test]
fn a_journal_that_failed_takes_nothing_more_until_it_is_opened_again() {
    let files = Files::default();
    let ledger = files.opened();
    ledger.add_block(next(&ledger, 0)).unwrap();
    let before = ledger.state().unwrap();
    files.journal[1].fail_in(1);
    let block = next(&ledger, 1);
    let failed = ledger.add_block(block.clone()).unwrap_err();
    assert!(matches!(failed, BlockError::Journal(JournalError::Io { file: 'b', .. })), "{failed}");
    let refused = ledger.add_block(block).unwrap_err();
    assert!(refused.to_string().contains("open it again"), "{refused}");
    assert!(matches!(ledger.roll_back(), Err(BlockError::Journal(JournalError::Broken { .. }))));
    assert_eq!(ledger.state().unwrap(), before);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u64),
    RollBack,
    Switch(usize, usize),
    Reopen,
    Crash,
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..50u64).prop_map(Step::Add),
        2 => Just(Step::RollBack),
        2 => (1..3usize, 1..4usize).prop_map(|(depth, blocks)| Step::Switch(depth, blocks)),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
        1 => Just(Step::Flush),
    ]
}

/// `count` blocks on top of what `ledger` has after `depth` roll-backs; made on a ledger in memory.
fn branch(memory: &Ledger, depth: usize, count: usize) -> Option<Vec<Block>> {
    for _ in 0..depth {
        memory.roll_back().ok()?;
    }
    let blocks = (0..count as u64).map(|n| {
        let block = next(memory, 200 + n);
        memory.add_block(block.clone()).unwrap();
        block
    });
    Some(blocks.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// The durable ledger and one in memory go through the same history; the durable one is closed, or crashes, in
    /// between.
    #[test]
    fn durable_and_in_memory_are_the_same_ledger(steps in prop::collection::vec(step(), 1..40)) {
        let mut files = Files::default();
        let mut ledger = files.opened();
        let memory = Ledger::new(small(), genesis());
        for (salt, step) in (1_000..).zip(steps) {
            match step {
                Step::Add(n) => {
                    let block = next(&memory, salt * 100 + n);
                    prop_assert_eq!(ledger.add_block(block.clone()), memory.add_block(block));
                }
                Step::RollBack => prop_assert_eq!(ledger.roll_back(), memory.roll_back()),
                Step::Switch(depth, count) => {
                    if let Some(blocks) = branch(&memory, depth, count) {
                        let off = ledger.switch_fork(depth, blocks);
                        // The one in memory may have written a batch on the way that the other writes at the end.
                        prop_assert!(off.is_ok(), "{:?}", off);
                    } else {
                        // The one in memory has gone back as far as it can.
                        while ledger.current_block().meta.height > memory.current_block().meta.height {
                            ledger.roll_back().unwrap();
                        }
                    }
                }
                Step::Flush => prop_assert!(ledger.flush().is_ok()),
                Step::Reopen => {
                    drop(ledger);
                    ledger = files.opened();
                }
                Step::Crash => {
                    files = files.after_crash(true);
                    ledger = files.opened();
                }
            }
            let (durable, expected) = (ledger.state().unwrap().confirmed, memory.state().unwrap().confirmed);
            prop_assert_eq!(&durable, &expected);
            // B and C send nothing, so no waiting transaction hides a record of theirs.
            for owner in [B, C] {
                let coins = durable.utxos.values().filter(|r| r.owner == owner && r.kind == Kind::Coin);
                let balance = ledger.get_balance_available_with_pool(owner).unwrap();
                prop_assert_eq!(balance, coins.map(|r| r.amount).sum::<Amount>());
            }
            let ids: Vec<_> = ledger.recent_transactions(5).unwrap();
            let mut all: Vec<_> = durable.blocks.iter().flat_map(|b| &b.txs).map(|tx| tx.id).collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all.truncate(5);
            prop_assert_eq!(ids, all);
        }
    }
}

#[test]
fn a_spent_record_in_the_store_stays_spent() {
    // U34, U35: across the border between memory and store, after a restart.
    let files = Files::default();
    let ledger = files.opened();
    let key: OutPoint = genesis().tx().outpoint(1);
    let spend = tx(1, B, &[key], &[(B, 500)]);
    let tip = ledger.current_block();
    ledger.add_block(Block::new(tip.meta.id, 1, vec![spend.clone()])).unwrap();
    for salt in 0..4 {
        ledger.add_block(next(&ledger, salt)).unwrap();
    }
    drop(ledger);
    let ledger = files.opened();
    assert_eq!(ledger.transaction_height(spend.id), Ok(Some(1)));
    let again = tx(2, B, &[key], &[(C, 500)]);
    assert!(ledger.add_tx(again).unwrap_err().to_string().contains("spent at height 1"));
}
