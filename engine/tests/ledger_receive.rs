//! Blocks from others: which branch is the chain, whatever the order in which they come (items U5, U39, O9, O13).

mod ledger_fixture;

use std::collections::{BTreeMap, BTreeSet};

use interleaf_engine::ledger::fork_choice::weight;
use interleaf_engine::ledger::{Block, BlockError, BlockId, Ledger, LedgerConfig, OutPoint, Received, TxError, TxId};
use ledger_fixture::{A, B, ledger, open, tx};
use proptest::prelude::*;

fn genesis(ledger: &Ledger) -> Block {
    Block::clone(&ledger.state().unwrap().confirmed.blocks[0])
}

/// An empty block that differs from others by a record that nobody has; with `valid` false it is consumed.
fn child(parent: &Block, salt: u64, valid: bool) -> Block {
    let txs = if valid { Vec::new() } else { vec![tx(salt, A, &[OutPoint { tx: TxId([9; 32]), index: 7 }], &[])] };
    Block::new(parent.id, parent.height + 1, txs)
}

fn tip(ledger: &Ledger) -> BlockId {
    ledger.current_block().meta.id
}

#[test]
fn a_heavier_branch_replaces_the_chain_once_it_is_complete() {
    // O13: three blocks against two; the last to come is the one in the middle.
    let (ledger, keys) = ledger(&[(A, 5)]);
    let root = genesis(&ledger);
    let first = Block::new(root.id, 1, vec![tx(1, A, &keys, &[(B, 5)])]);
    let second = child(&first, 0, true);
    let switched = |depth, blocks| Ok(Received::Switched { depth, blocks });
    assert_eq!(ledger.receive_block(first.clone()), switched(0, 1));
    assert_eq!(ledger.receive_block(second.clone()), switched(0, 1));
    let rival = [0, 1, 2].iter().fold(vec![root], |mut chain, &n| {
        let inputs = if n == 0 { vec![tx(7, A, &keys, &[(A, 5)])] } else { Vec::new() };
        let parent = chain[chain.len() - 1].clone();
        chain.push(Block::new(parent.id, parent.height + 1, inputs));
        chain
    });
    assert_eq!(ledger.receive_block(rival[1].clone()), Ok(Received::Kept));
    let orphan = Received::Orphan { missing: rival[2].id, height: 2 };
    assert_eq!(ledger.receive_block(rival[3].clone()), Ok(orphan));
    assert_eq!(ledger.receive_block(rival[3].clone()), Ok(Received::Known));
    assert_eq!(tip(&ledger), second.id);
    assert_eq!(ledger.receive_block(rival[2].clone()), switched(2, 3));
    assert_eq!(tip(&ledger), rival[3].id);
    // What was replaced is a branch now, and its payment waits again unless it is contradicted.
    let branches: BTreeSet<_> = ledger.block_pool().keys().copied().collect();
    assert_eq!(branches, [first.id, second.id].into());
    assert!(ledger.pool_batch(9).is_empty());
    for block in [&rival[2], &first] {
        assert_eq!(ledger.block(block.height, block.id).unwrap().as_deref(), Some(block));
    }
    assert_eq!(ledger.block(2, BlockId([1; 32])), Ok(None));
}

#[test]
fn a_branch_that_breaks_a_rule_is_never_tried_again() {
    // Of equally many blocks the smaller id is tried at once, the larger one when it is heavier.
    for at_once in [true, false] {
        let (ledger, _) = ledger(&[(A, 5)]);
        let root = genesis(&ledger);
        let good = child(&root, 0, true);
        ledger.receive_block(good.clone()).unwrap();
        let bad = (1..).map(|salt| child(&root, salt, false)).find(|bad| (bad.id < good.id) == at_once).unwrap();
        let above = child(&bad, 0, true);
        let before = ledger.state().unwrap().confirmed;
        let tried = if at_once { Received::Invalid(Some(invalid(&bad))) } else { Received::Kept };
        assert_eq!(ledger.receive_block(bad.clone()), Ok(tried));
        let tried = Received::Invalid(if at_once { None } else { Some(invalid(&bad)) });
        assert_eq!(ledger.receive_block(above.clone()), Ok(tried));
        assert_eq!(ledger.state().unwrap().confirmed, before);
        assert!(ledger.block_pool().is_empty());
        for block in [bad, above.clone(), child(&above, 0, true)] {
            assert_eq!(ledger.receive_block(block), Ok(Received::Invalid(None)));
        }
        let mut forged = child(&good, 0, true);
        forged.height = 7;
        assert_eq!(ledger.receive_block(forged), Ok(Received::Invalid(None)));
    }
}

fn invalid(block: &Block) -> BlockError {
    let tx = &block.txs[0];
    let reason = Box::new(TxError::UnknownInput { input: 0, key: tx.inputs[0], sender: A });
    BlockError::InvalidTx { block: block.id, height: block.height, index: 0, tx: tx.id, reason }
}

#[test]
fn what_is_below_the_store_can_never_join() {
    // O9
    let config = LedgerConfig { window_blocks: 1, commit_every_blocks: 1, ..LedgerConfig::default() };
    let (ledger, _) = open(config, &[(A, 5)]);
    let root = genesis(&ledger);
    let mut chain = vec![root.clone()];
    for n in 0..4 {
        chain.push(child(&chain[n], 0, true));
        ledger.receive_block(chain[n + 1].clone()).unwrap();
    }
    let old = Block::new(root.id, 1, vec![tx(1, A, &[], &[])]);
    assert_eq!(ledger.receive_block(old), Ok(Received::TooOld { committed: 3 }));
    // A heavier branch that begins below the store: kept, but never chosen.
    let mut rival = Block::new(chain[2].id, 3, vec![tx(1, A, &[], &[])]);
    for _ in 0..4 {
        rival = child(&rival, 0, true);
        assert!(matches!(ledger.receive_block(rival.clone()), Ok(Received::Orphan { .. })));
    }
    assert_eq!(tip(&ledger), chain[4].id);
}

#[test]
fn branches_stay_within_their_budget() {
    // U40: what is farthest from the tip goes first.
    let one = Block::new(BlockId::default(), 1, Vec::new()).memory_bytes();
    let config = LedgerConfig { branch_bytes_max: 3 * one, ..LedgerConfig::default() };
    let (ledger, _) = open(config, &[(A, 5)]);
    let mut far = genesis(&ledger);
    for _ in 0..5 {
        far = child(&far, 0, true);
    }
    let orphans: Vec<_> = (6..12).map(|height| Block::new(far.id, height, Vec::new())).collect();
    for orphan in orphans.iter().rev() {
        ledger.receive_block(orphan.clone()).unwrap();
    }
    let kept: BTreeSet<_> = ledger.block_pool().values().map(|block| block.height).collect();
    assert_eq!(kept, [6, 7, 8].into());
}

/// A random tree of blocks: the parent of each is an earlier one. Some break a rule.
fn tree() -> impl Strategy<Value = Vec<(usize, bool)>> {
    prop::collection::vec((0..1_000usize, prop::bool::weighted(0.85)), 1..24)
}

proptest! {
    #[test]
    fn in_whatever_order_blocks_come_the_heaviest_valid_branch_is_the_chain(
        tree in tree(),
        order in prop::collection::vec(any::<u32>(), 24),
        rolled_back in prop::collection::vec(prop::bool::weighted(0.1), 24),
    ) {
        let (ledger, keys) = ledger(&[(A, 5); 24]);
        let mut blocks = vec![genesis(&ledger)];
        let mut valid = vec![true];
        for (n, (parent, ok)) in tree.iter().enumerate() {
            // Not so deep that anything is written to the store.
            let parent = parent % blocks.len();
            let parent = if blocks[parent].height < 9 { parent } else { 0 };
            // Each spends a record of its own, so all differ, and each may stand on any.
            let spend = tx(n as u64, A, &keys[n..=n], &[(B, 5)]);
            let below = &blocks[parent];
            let block = if *ok { Block::new(below.id, below.height + 1, vec![spend]) } else { child(below, n as u64, false) };
            blocks.push(block);
            valid.push(valid[parent] && *ok);
        }
        let mut arrival: Vec<usize> = (1..blocks.len()).collect();
        arrival.sort_by_key(|&n| order[n - 1]);
        for (i, &n) in arrival.iter().enumerate() {
            ledger.receive_block(blocks[n].clone()).unwrap();
            let metas = ledger.block_metas();
            prop_assert!(ledger.block_pool().values().all(|b| metas.get(b.height).is_none_or(|m| m.id != b.id)));
            if rolled_back[i] {
                // What is taken off is a branch, and comes back with the next block.
                ledger.roll_back().ok();
            }
        }
        // One more, so that what was rolled back is chosen again.
        ledger.receive_block(child(&blocks[0], 999, false)).unwrap();
        let heaviest = (0..blocks.len()).filter(|&n| valid[n]).max_by_key(|&n| weight(blocks[n].height, blocks[n].id));
        prop_assert_eq!(tip(&ledger), blocks[heaviest.unwrap()].id);
        let by_id: BTreeMap<_, _> = blocks.iter().map(|b| (b.id, b)).collect();
        let state = ledger.state().unwrap().confirmed;
        prop_assert!(state.blocks.windows(2).all(|w| by_id[&w[1].id].parent == w[0].id));
    }
}
