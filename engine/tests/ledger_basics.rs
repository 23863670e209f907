//! The ledger on one thread: admission, blocks, roll-back, what each refuses and says.

use interleaf_engine::ledger::*;

const A: Address = Address::numbered(1);
const B: Address = Address::numbered(2);
const C: Address = Address::numbered(3);

fn out(index: u32, owner: Address, amount: Amount) -> Output {
    Output { index, owner, amount }
}

fn ledger(outputs: &[(Address, Amount)]) -> (Ledger, Vec<OutPoint>) {
    let genesis = Genesis::of(outputs);
    let tx = genesis.tx();
    let keys = tx.outputs.iter().map(|output| tx.outpoint(output.index)).collect();
    (Ledger::new(LedgerConfig::default(), genesis), keys)
}

fn next_block(ledger: &Ledger, txs: Vec<Tx>) -> Block {
    let tip = ledger.current_block();
    Block::new(tip.meta.id, tip.meta.height + 1, txs)
}

#[test]
fn own_change_is_spendable_before_any_block() {
    // U25, U26, U27: A sends 3 of 5; the 5 is reserved, the change of 2 is available and can be spent.
    let (ledger, keys) = ledger(&[(A, 5)]);
    let first = Tx::new(1, A, vec![keys[0]], vec![out(0, B, 3), out(1, A, 2)]);
    assert_eq!(ledger.add_tx(first.clone()), Ok(0));
    let pool = ledger.state().unwrap().pool;
    let reserved = &pool.pools[&A];
    assert_eq!(reserved.spent_keys.keys().copied().collect::<Vec<_>>(), [keys[0]]);
    assert_eq!(reserved.available, [(first.outpoint(1), Record { owner: A, amount: 2 })].into());
    assert_eq!(pool.global_spent_keys, [(keys[0], first.id)].into());
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(2));

    let second = Tx::new(2, A, vec![first.outpoint(1)], vec![out(0, C, 1)]);
    assert_eq!(ledger.add_tx(second), Ok(1));
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(0));
}

#[test]
fn block_then_roll_back_restores_confirmed_state_and_returns_the_transactions() {
    // U30, U32, O8
    let (ledger, keys) = ledger(&[(A, 5)]);
    let tx = Tx::new(1, A, vec![keys[0]], vec![out(0, B, 3), out(1, A, 2)]);
    ledger.add_tx(tx.clone()).unwrap();
    let before = ledger.state().unwrap();
    let block = next_block(&ledger, vec![tx]);
    ledger.add_block(block.clone()).unwrap();
    assert!(ledger.state().unwrap().pool.entries.is_empty());
    assert_eq!(*ledger.roll_back().unwrap(), block);
    let after = ledger.state().unwrap();
    assert_eq!(before.confirmed, after.confirmed);
    assert_eq!(before.pool.pools, after.pool.pools);
    assert!(ledger.block_pool().contains_key(&block.id));
}
