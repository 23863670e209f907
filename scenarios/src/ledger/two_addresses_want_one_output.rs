//! Two outputs worth 5. Alice, Alice's phone, Bob and Carol want to spend both, each beginning with one of the two, all
//! at once. Whatever the order, exactly one spender of each output is accepted.
//!
//! Reservations are kept per address (item U22), so a second transaction of the same address meets its own pool; one of
//! another address is stopped only by the keys that are reserved against everybody (item U23).

use std::sync::LazyLock;

use interleaf::rand::{Rng, stream};
use interleaf::thread;
use interleaf_engine::ledger::{Address, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.two_addresses_want_one_output",
    claim: "of several spenders of one output, whoever they are, exactly one is accepted",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", ONE_SPENDER],
    finds: &[(Planted::NoCrossAddressCheck, 10), (Planted::CheckThenAct, 100), (Planted::ChangeBeforeReservation, 150)],
    weight: 40,
    draws: true,
    world,
    ..LEDGER_STORY
};

const ONE_SPENDER: &str = "ledger.one_spender_is_accepted";

/// Sender, payee and name of the thread. The first two send from one address.
const SPENDERS: [(Address, Address, &str); 4] =
    [(ALICE, CAROL, "alice"), (ALICE, BOB, "alice's phone"), (BOB, BOB, "bob"), (CAROL, CAROL, "carol")];

struct Facts {
    opening: Opening,
    /// What each spender offers for each output.
    offers: [[Tx; 2]; 4],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5), (ALICE, 5)]);
    let offer = |sender, payee, output: usize| pay(sender, &[opening.keys[output]], &[(payee, 4), (sender, 1)]);
    let offers = SPENDERS.map(|(sender, payee, _)| [offer(sender, payee, 0), offer(sender, payee, 1)]);
    Facts { opening, offers }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    // Which output each of them tries first.
    let order = stream("workload").next_u64();
    let accepted = thread::scope(|scope| {
        let spend = |spender: usize| {
            let ledger = &ledger;
            move || {
                let mut accepted = [0u64; 2];
                let first = (order >> spender & 1) as usize;
                for output in [first, 1 - first] {
                    let name = ["output 0", "output 1"][output];
                    accepted[output] = u64::from(add_tx(ledger, name, &facts.offers[spender][output]));
                }
                accepted
            }
        };
        let others = [1, 2, 3].map(|spender| begin(scope, SPENDERS[spender].2, spend(spender)));
        let own = spend(0)();
        others.into_iter().fold(own, |sum, other| {
            let other = other.join().expect("all return");
            [sum[0] + other[0], sum[1] + other[1]]
        })
    });
    check_settled(&ledger);
    claim::equal(ONE_SPENDER, "not exactly one of the spenders of an output", &[1, 1], &accepted);
    setup.tally.conflicts(8 - accepted[0] - accepted[1]);
}
