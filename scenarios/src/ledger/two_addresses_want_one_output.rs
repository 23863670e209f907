//! One output worth 5. Alice spends it, Alice spends it a second time from another device, and Bob spends it too, all at
//! once. Whatever the order, exactly one of the three is accepted.
//!
//! Reservations are kept per address (item U22), so a second transaction of the same address meets its own pool; one of
//! another address is stopped only by the keys that are reserved against everybody (item U23).

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::Tx;
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.two_addresses_want_one_output",
    claim: "of several spenders of one output, whoever they are, exactly one is accepted",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.one_spender_is_accepted",
    ],
    finds: &[
        (Planted::NoCrossAddressCheck, 1_000),
        (Planted::CheckThenAct, 1_000),
        (Planted::ChangeBeforeReservation, 1_000),
    ],
    weight: 4,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    first: Tx,
    second: Tx,
    bobs: Tx,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let first = pay(ALICE, &opening.keys, &[(CAROL, 3), (ALICE, 2)]);
    let second = pay(ALICE, &opening.keys, &[(BOB, 5)]);
    let bobs = pay(BOB, &opening.keys, &[(BOB, 5)]);
    Facts { opening, first, second, bobs }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let accepted = thread::scope(|scope| {
        let phone = begin(scope, "alice's phone", || add_tx(&ledger, "second", &facts.second));
        let bob = begin(scope, "bob", || add_tx(&ledger, "bob's", &facts.bobs));
        let accepted = u64::from(add_tx(&ledger, "first", &facts.first));
        let others = [phone, bob].map(|thread| u64::from(thread.join().expect("both return")));
        accepted + others[0] + others[1]
    });
    check_settled(&ledger);
    claim::equal("ledger.one_spender_is_accepted", "not exactly one of three spenders", &1, &accepted);
    setup.tally.conflicts(3 - accepted);
}
