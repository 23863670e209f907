//! Alice owns an output worth 5, pays Bob 3 of it and spends the change of 2 at once, before any block confirms it. At
//! the same time Bob wants the output worth 5 himself, and a block with Alice's payment arrives. If the payment was
//! accepted, so is the spending of its change, whichever of pool and chain holds the payment by then.
//!
//! The effect of items U26 and U27: change is usable from the moment at which everybody knows that its parent has
//! reserved the inputs. Made available a moment earlier, two addresses build on one output.

use std::sync::LazyLock;

use interleaf::thread;
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
    finds: &[(Planted::ChangeBeforeReservation, 1_000), (Planted::CheckThenAct, 1_000)],
    weight: 4,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    change_spent: Tx,
    wanted_by_bob: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let payment = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let change_spent = pay(ALICE, &[payment.outpoint(1)], &[(CAROL, 2)]);
    let wanted_by_bob = pay(BOB, &opening.keys, &[(BOB, 5)]);
    let block = opening.block(&[&payment]);
    Facts { opening, payment, change_spent, wanted_by_bob, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let (paid, spent, wanted) = thread::scope(|scope| {
        let bob = begin(scope, "bob", || add_tx(&ledger, "wanted by bob", &facts.wanted_by_bob));
        let chain = begin(scope, "chain", || add_block(&ledger, "with payment", &facts.block));
        let paid = add_tx(&ledger, "payment", &facts.payment);
        let spent = add_tx(&ledger, "change spent", &facts.change_spent);
        drop(chain);
        (paid, spent, bob.join().expect("Bob's thread returns"))
    });
    let state = check_settled(&ledger);
    claim::holds(!paid || spent, "ledger.change_is_usable", "the change of an accepted payment was refused", || {
        "payment accepted, its change refused".to_owned()
    });
    let accepted = [(paid, &facts.payment), (spent, &facts.change_spent), (wanted, &facts.wanted_by_bob)];
    check_kept(&state, accepted.into_iter().filter(|(accepted, _)| *accepted).map(|(_, tx)| tx));
    setup.tally.conflicts(u64::from(!paid) + u64::from(!spent) + u64::from(!wanted));
}
