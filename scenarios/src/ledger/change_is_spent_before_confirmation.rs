//! Alice owns an output worth 5, pays Bob 3 of it and spends the change of 2 at once, and the change of that, before any
//! block confirms it. At the same time Bob wants the output worth 5 himself, twice, and a block with Alice's payment
//! arrives. If the payment was accepted, so is the spending of its change, whichever of pool and chain holds the payment
//! by then.
//!
//! The effect of items U26 and U27: change is usable from the moment at which everybody knows that its parent has
//! reserved the inputs. Made available a moment earlier, two addresses build on one output.

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::{check_kept, check_settled};
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.change_is_spent_before_confirmation",
    claim: "change is usable at once, and only by one who has reserved what it comes from",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.accepted_is_kept",
        "ledger.change_is_usable",
    ],
    finds: &[(Planted::ChangeBeforeReservation, 1_500), (Planted::CheckThenAct, 200)],
    weight: 40,
    exhaustive: Some(3_521),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    change_spent: Tx,
    its_change_spent: Tx,
    wanted_by_bob: [Tx; 2],
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let payment = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let change_spent = pay(ALICE, &[payment.outpoint(1)], &[(CAROL, 1), (ALICE, 1)]);
    let its_change_spent = pay(ALICE, &[change_spent.outpoint(1)], &[(CAROL, 1)]);
    let wanted_by_bob = [BOB, CAROL].map(|payee| pay(BOB, &opening.keys, &[(payee, 5)]));
    let block = opening.block(&[&payment]);
    Facts { opening, payment, change_spent, its_change_spent, wanted_by_bob, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let (alice, bob) = thread::scope(|scope| {
        let bob = begin(scope, "bob", || {
            let [first, second] = &facts.wanted_by_bob;
            [add_tx(&ledger, "wanted by bob", first), add_tx(&ledger, "wanted again", second)]
        });
        begin(scope, "chain", || add_block(&ledger, "with payment", &facts.block));
        begin(scope, "shop", || {
            let free = ledger.get_utxo_with_pool(facts.payment.outpoint(1)).expect("the store can be read");
            note(|| format!("sees change {}", if free.is_some() { "free" } else { "absent or reserved" }));
        });
        let alice = [
            add_tx(&ledger, "payment", &facts.payment),
            add_tx(&ledger, "change spent", &facts.change_spent),
            add_tx(&ledger, "its change spent", &facts.its_change_spent),
        ];
        (alice, bob.join().expect("Bob's thread returns"))
    });
    let state = check_settled(&ledger);
    let [paid, spent, again] = alice;
    claim::holds(
        (!paid || spent) && (!spent || again),
        "ledger.change_is_usable",
        "accepted change was refused",
        || format!("payment accepted: {paid}, its change: {spent}, the change of that: {again}"),
    );
    let offered = [&facts.payment, &facts.change_spent, &facts.its_change_spent];
    let offered = offered.into_iter().chain(&facts.wanted_by_bob);
    let answers = || alice.into_iter().chain(bob);
    check_kept(&state, offered.zip(answers()).filter(|(_, accepted)| *accepted).map(|(tx, _)| tx));
    setup.tally.conflicts(answers().filter(|accepted| !accepted).count() as u64);
}
