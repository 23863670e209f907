//! Stakes, referrals and node infos: records that transactions create and consume like coins (items U20, U37, U38).

mod ledger_fixture;

use interleaf_engine::ledger::{
    Address, Amount, BlockError, Kind, KindError, Ledger, LedgerConfig, NodeInfo, OutPoint, Output, Tx, TxError,
};
use ledger_fixture::{A, B, C, add, ledger, next_block, open, tx};

const D: Address = Address::numbered(4);

fn node(port: u16) -> NodeInfo {
    NodeInfo { host: "2001:db8::1".parse().unwrap(), port }
}

/// A transaction whose outputs have indices from 0.
fn of_kinds(time_ms: u64, sender: Address, inputs: &[OutPoint], outputs: &[(Address, Amount, Kind)]) -> Tx {
    let outputs = outputs.iter().zip(0..).map(|(&(owner, amount, kind), index)| Output { index, owner, amount, kind });
    Tx::new(time_ms, sender, inputs.to_vec(), outputs.collect())
}

/// Why `tx` is refused, by the pool and inside a block.
fn refused(ledger: &Ledger, tx: &Tx) -> TxError {
    let by_pool = ledger.add_tx(tx.clone()).expect_err("the pool refuses it");
    let by_block = match ledger.add_block(next_block(ledger, std::slice::from_ref(tx))) {
        Err(BlockError::InvalidTx { index: 0, reason, .. }) => *reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(by_pool, by_block);
    by_pool
}

fn money(ledger: &Ledger, owner: Address) -> (Amount, Amount) {
    (ledger.get_balance_available_with_pool(owner).unwrap(), ledger.get_stake_with_pool(owner).unwrap())
}

#[test]
fn a_stake_is_value_that_only_its_owner_takes_back() {
    // U18, U19, U20: the stake is seen from the pool on, and is neither balance nor input.
    let (ledger, keys) = ledger(&[(A, 10)]);
    let stake = of_kinds(1, A, &keys, &[(A, 6, Kind::Stake), (A, 4, Kind::Coin)]);
    ledger.add_tx(stake.clone()).unwrap();
    assert_eq!(money(&ledger, A), (4, 6));
    add(&ledger, std::slice::from_ref(&stake));
    assert_eq!(money(&ledger, A), (4, 6));
    assert_eq!(ledger.get_input_with_pool(A, 5).unwrap(), None);
    assert_eq!(ledger.get_input_with_pool(A, 4).unwrap().unwrap()[0].0, stake.outpoint(1));

    let stolen = tx(2, B, &[stake.outpoint(0)], &[(B, 6)]);
    let reason = KindError::OfSomebodyElse { owner: A };
    assert_eq!(refused(&ledger, &stolen), TxError::InputKind { input: 0, key: stake.outpoint(0), reason });
    let given = of_kinds(3, A, &[stake.outpoint(1)], &[(B, 4, Kind::Stake)]);
    let reason = KindError::ForSomebodyElse { owner: B };
    assert_eq!(refused(&ledger, &given), TxError::OutputKind { index: 0, reason });

    let unstake = of_kinds(4, A, &[stake.outpoint(0)], &[(A, 5, Kind::Coin), (A, 1, Kind::Stake)]);
    ledger.add_tx(unstake.clone()).unwrap();
    assert_eq!(money(&ledger, A), (9, 1));
    add(&ledger, &[unstake]);
    assert_eq!(money(&ledger, A), (9, 1));
    ledger.roll_back().unwrap();
    ledger.roll_back().unwrap();
    // Both transactions wait again.
    assert_eq!(money(&ledger, A), (9, 1));
    ledger.evict_tx(stake.id);
    assert_eq!(money(&ledger, A), (10, 0));
}

#[test]
fn the_first_confirmed_referral_counts_if_its_sender_is_in_the_tree() {
    // U7, U37, U38: genesis brought A in, A brings in B, B brings in C inside the same block, and C brings nobody in twice.
    let (ledger, keys) = ledger(&[(A, 5)]);
    let by = |address| ledger.referral(address).map(|referral| (referral.by, referral.since_height));
    let before = ledger.state().unwrap().confirmed;
    let first = of_kinds(1, A, &keys, &[(B, 0, Kind::Referral), (B, 5, Kind::Coin)]);
    let second = of_kinds(2, B, &[first.outpoint(1)], &[(C, 0, Kind::Referral), (C, 5, Kind::Coin)]);
    let stranger = of_kinds(3, D, &[second.outpoint(1)], &[(A, 0, Kind::Referral), (D, 5, Kind::Coin)]);
    let other = Address::numbered(5);
    let unknown = of_kinds(4, D, &[stranger.outpoint(1)], &[(other, 0, Kind::Referral), (C, 5, Kind::Coin)]);
    let again = of_kinds(5, C, &[unknown.outpoint(1)], &[(B, 0, Kind::Referral), (D, 0, Kind::Referral)]);
    add(&ledger, &[first.clone(), second, stranger, unknown]);
    assert_eq!((by(A), by(B), by(C)), (Some((None, 0)), Some((Some(A), 1)), Some((Some(B), 1))));
    assert_eq!((by(D), by(other)), (None, None), "D was in no tree");
    add(&ledger, &[again]);
    assert_eq!((by(B), by(D)), (Some((Some(A), 1)), Some((Some(C), 2))));

    let next = |kind, owner, amount| of_kinds(6, A, &[first.outpoint(0)], &[(owner, amount, kind)]);
    let consumed = TxError::InputKind { input: 0, key: first.outpoint(0), reason: KindError::ReferralConsumed };
    assert_eq!(refused(&ledger, &next(Kind::Coin, A, 0)), consumed);
    let reason = KindError::OwnReferral;
    assert_eq!(refused(&ledger, &next(Kind::Referral, A, 0)), TxError::OutputKind { index: 0, reason });
    let reason = KindError::ReferralOfWorth { amount: 1 };
    assert_eq!(refused(&ledger, &next(Kind::Referral, B, 1)), TxError::OutputKind { index: 0, reason });

    ledger.roll_back().unwrap();
    assert_eq!((by(B), by(D)), (Some((Some(A), 1)), None));
    ledger.roll_back().unwrap();
    assert_eq!(ledger.state().unwrap().confirmed, before);
}

#[test]
fn a_node_info_changes_when_its_record_is_consumed_and_created_anew() {
    // U38
    let (ledger, keys) = ledger(&[(A, 5)]);
    let announced = of_kinds(1, A, &keys, &[(A, 2, Kind::Node(node(1))), (A, 3, Kind::Coin)]);
    add(&ledger, std::slice::from_ref(&announced));
    assert_eq!(ledger.nodes(A), [(announced.outpoint(0), node(1))].into());
    assert_eq!(money(&ledger, A), (3, 0));
    let one = ledger.state().unwrap().confirmed;

    // Inside one block: moved twice; only the last place remains.
    let moved = of_kinds(2, A, &[announced.outpoint(0)], &[(A, 2, Kind::Node(node(2)))]);
    let again = of_kinds(3, A, &[moved.outpoint(0)], &[(A, 2, Kind::Node(node(3)))]);
    let second = of_kinds(4, A, &[announced.outpoint(1)], &[(A, 3, Kind::Node(node(9)))]);
    add(&ledger, &[moved, again.clone(), second.clone()]);
    assert_eq!(ledger.nodes(A), [(again.outpoint(0), node(3)), (second.outpoint(0), node(9))].into());
    ledger.roll_back().unwrap();
    assert_eq!(ledger.state().unwrap().confirmed, one);

    let gone = tx(5, A, &[announced.outpoint(0)], &[(A, 2)]);
    add(&ledger, &[gone]);
    assert!(ledger.nodes(A).is_empty() && ledger.state().unwrap().confirmed.nodes.is_empty());
}

#[test]
fn what_left_the_window_is_found_again_in_the_store() {
    // U20, U31, U37, U38: a stake, a referral and a node info older than the blocks in memory.
    let config = LedgerConfig { window_blocks: 1, commit_every_blocks: 1, ..LedgerConfig::default() };
    let (ledger, keys) = open(config, &[(A, 9), (B, 1)]);
    let kinds = [(A, 4, Kind::Stake), (C, 0, Kind::Referral), (A, 2, Kind::Node(node(7))), (A, 3, Kind::Coin)];
    let all = of_kinds(1, A, &keys[..1], &kinds);
    add(&ledger, std::slice::from_ref(&all));
    let before = (money(&ledger, A), ledger.referral(C), ledger.nodes(A));
    add(&ledger, &[]);
    add(&ledger, &[]);
    assert_eq!((money(&ledger, A), ledger.referral(C), ledger.nodes(A)), before);
    assert_eq!(before.0, (3, 4));
    let unstake = tx(2, A, &[all.outpoint(0), all.outpoint(2)], &[(A, 6)]);
    add(&ledger, &[unstake]);
    add(&ledger, &[]);
    assert_eq!(money(&ledger, A), (9, 0));
    assert!(ledger.nodes(A).is_empty());
}
