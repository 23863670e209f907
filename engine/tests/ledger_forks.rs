//! Fork switches, unconfirmed branches, and what readers without a lock see.

mod ledger_fixture;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicBool, Ordering::SeqCst};
use interleaf::thread;
use interleaf_engine::ledger::{Block, BlockError, Ledger};
use ledger_fixture::{A, B, C, add, ledger, next_block, tx, waiting};

/// `length` blocks on `parent`, the first of `txs`, the others empty.
fn empty_branch(parent: &Block, txs: Vec<interleaf_engine::ledger::Tx>, length: u64) -> Vec<Block> {
    let mut blocks = vec![Block::new(parent.id, parent.height + 1, txs)];
    for n in 1..length {
        let below = &blocks[blocks.len() - 1];
        blocks.push(Block::new(below.id, parent.height + 1 + n, vec![]));
    }
    blocks
}

#[test]
fn a_switch_replaces_blocks_and_keeps_the_old_ones_as_branches() {
    // O13, U5, U39
    let (ledger, keys) = ledger(&[(A, 5), (B, 5)]);
    let genesis = Arc::clone(&ledger.current_block().block);
    let lost = tx(1, A, &[keys[0]], &[(C, 5)]);
    let kept = tx(2, B, &[keys[1]], &[(C, 5)]);
    let old = [add(&ledger, std::slice::from_ref(&lost)), add(&ledger, std::slice::from_ref(&kept))];
    let winner = tx(3, A, &[keys[0]], &[(B, 5)]);
    let new = empty_branch(&genesis, vec![winner], 3);
    assert!(ledger.offer_branch(new[0].clone()));
    assert!(!ledger.offer_branch(new[0].clone()));
    assert!(!ledger.offer_branch(old[0].clone()));
    let popped = ledger.switch_fork(2, new.clone()).unwrap();
    assert!(popped.iter().map(|block| &**block).eq(old.iter().rev()));
    assert_eq!(*ledger.current_block().block, new[2]);
    assert!(ledger.block_metas().iter().skip(1).map(|meta| meta.id).eq(new.iter().map(|block| block.id)));
    let branches = ledger.block_pool();
    assert_eq!(branches.keys().copied().collect::<Vec<_>>(), {
        let mut ids = old.each_ref().map(|block| block.id);
        ids.sort();
        ids
    });
    // What the old branch confirmed waits again unless the new one contradicts it.
    assert_eq!(waiting(&ledger), [kept]);
}

#[test]
fn a_switch_to_an_invalid_branch_changes_nothing() {
    // O13
    let (ledger, keys) = ledger(&[(A, 5)]);
    let genesis = Arc::clone(&ledger.current_block().block);
    let first = tx(1, A, &[keys[0]], &[(A, 4)]);
    add(&ledger, std::slice::from_ref(&first));
    add(&ledger, &[]);
    ledger.add_tx(tx(2, A, &[first.outpoint(0)], &[])).unwrap();
    let before = (ledger.state().unwrap(), ledger.current_block().meta.clone(), ledger.block_pool());
    let mut new = empty_branch(&genesis, vec![tx(3, A, &[keys[0]], &[(C, 5)])], 2);
    new.push(Block::new(new[1].id, 3, vec![tx(4, A, &[keys[0]], &[])]));
    assert!(matches!(ledger.switch_fork(2, new), Err(BlockError::InvalidTx { height: 3, .. })));
    let refused = ledger.switch_fork(3, vec![]);
    assert_eq!(refused, Err(BlockError::RollBackPastCommit { depth: 3, tip: 2, committed: 0 }));
    assert_eq!(before, (ledger.state().unwrap(), ledger.current_block().meta.clone(), ledger.block_pool()));
}

#[test]
fn branches_that_can_never_win_are_forgotten() {
    // U39, O9: what stands at or below the newest block in the store.
    let (ledger, _) = ledger(&[(A, 5)]);
    let genesis = Arc::clone(&ledger.current_block().block);
    let branch = empty_branch(&genesis, vec![tx(9, C, &[], &[])], 11);
    branch.iter().for_each(|block| assert!(ledger.offer_branch(block.clone())));
    for _ in 0..19 {
        add(&ledger, &[]);
    }
    assert_eq!(ledger.block_pool().len(), 11);
    add(&ledger, &[]);
    assert_eq!(ledger.block_pool().values().map(|block| block.height).collect::<Vec<_>>(), [11]);
}

#[test]
fn a_snapshot_is_of_one_moment_and_does_not_change() {
    // U3, U4, U11
    let (ledger, _) = ledger(&[(A, 5)]);
    add(&ledger, &[]);
    let (current, metas) = (ledger.current_block(), ledger.block_metas());
    ledger.roll_back().unwrap();
    add(&ledger, &[]);
    add(&ledger, &[]);
    assert_eq!((current.meta.height, metas.len()), (1, 2));
    assert_eq!(ledger.current_block().meta.height, 2);
}

/// Ends the other thread also when an assertion fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Switches to and fro between two branches of different lengths.
fn switch_for_ever(ledger: &Ledger, branches: &[Vec<Block>; 2], stop: &AtomicBool) {
    let mut on = 0;
    while !stop.load(SeqCst) {
        let next = 1 - on;
        ledger.switch_fork(branches[on].len(), branches[next].clone()).unwrap();
        on = next;
    }
}

#[test]
fn readers_never_see_a_chain_between_two_branches() {
    // U3, U4, U11, O13: only the two tips, each with its own metas; locked queries see only the two states.
    let (ledger, keys) = ledger(&[(A, 5)]);
    let genesis = Arc::clone(&ledger.current_block().block);
    let one = tx(1, A, &[keys[0]], &[(B, 3), (C, 1)]);
    let branches = [empty_branch(&genesis, vec![one], 3), empty_branch(&genesis, vec![], 2)];
    let tips = branches.each_ref().map(|branch| branch[branch.len() - 1].id);
    ledger.switch_fork(0, branches[0].clone()).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _at_end = StopAtEnd(&stop);
        scope.spawn(|| switch_for_ever(&ledger, &branches, &stop));
        let mut seen = [0, 0];
        // On a busy machine the other thread may not come to its first switch for long.
        for look in 0..5_000_000 {
            if look >= 5_000 && seen[0] > 0 && seen[1] > 0 {
                break;
            }
            if look > 5_000 {
                thread::yield_now();
            }
            let current = ledger.current_block();
            let on = tips.iter().position(|tip| *tip == current.meta.id).expect("one of the two tips");
            seen[on] += 1;
            assert_eq!(current.metas.tip(), Some(&current.meta));
            assert_eq!(current.metas.len(), branches[on].len() + 1);
            let metas = ledger.block_metas();
            assert!(tips.contains(&metas.tip().unwrap().id));
            let state = ledger.state().unwrap().confirmed;
            let expected = if state.tip.id == tips[0] { 4 } else { 5 };
            assert_eq!(state.unspent_value(), expected);
        }
        assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}: no switch was met");
    });
}

#[test]
fn tip_and_state_follow_each_other() {
    // O13: publication happens under the exclusive lock. A state is never older than a tip seen before it, a tip never
    // older than a state seen before it.
    let (ledger, keys) = ledger(&[(A, 1_000)]);
    let mut last = keys[0];
    let blocks: Vec<Block> = (1..200u64).fold(Vec::new(), |mut blocks, n| {
        let spend = tx(n, A, &[last], &[(A, 1_000 - n)]);
        last = spend.outpoint(0);
        let parent = blocks.last().map_or_else(|| next_block(&ledger, &[]).parent, |block: &Block| block.id);
        blocks.push(Block::new(parent, n, vec![spend]));
        blocks
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            for block in &blocks {
                ledger.add_block(block.clone()).unwrap();
            }
        });
        while ledger.current_block().meta.height < 199 {
            let seen = ledger.current_block().meta.height;
            let height = 1_000 - ledger.get_balance_available_with_pool(A).unwrap();
            assert!(seen <= height && height <= ledger.current_block().meta.height);
        }
    });
}
