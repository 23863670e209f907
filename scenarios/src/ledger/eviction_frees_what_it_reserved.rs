//! A pool has room for three transactions. Alice pays little and goes on with the change; Bob and Carol pay well, all at once.
//! Whatever the order, the pool could be confirmed as it stands: who is pushed out leaves no reservation behind and
//! nobody who uses his change.
//!
//! The inverse of the reservation is not described (decision O7), and an eviction meets it in the middle of an `add_tx` of
//! somebody else.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{LedgerConfig, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

const ROOM: &str = "ledger.pool_keeps_what_pays";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.eviction_frees_what_it_reserved",
    claim: "who is pushed out of a full pool leaves no reservation and no dependant behind",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", ROOM],
    finds: &[(Planted::EvictionKeepsDependants, 50), (Planted::EvictionKeepsReservation, 50)],
    weight: 20,
    exhaustive: Some(116),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    poor: Tx,
    child: Tx,
    rich: [Tx; 2],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 100), (BOB, 100), (CAROL, 100)]);
    let poor = pay(ALICE, &opening.keys[..1], &[(ALICE, 99)]);
    let child = pay(ALICE, &[poor.outpoint(0)], &[(ALICE, 97)]);
    let rich = [pay(BOB, &opening.keys[1..2], &[(BOB, 90)]), pay(CAROL, &opening.keys[2..], &[(CAROL, 80)])];
    Facts { opening, poor, child, rich }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    // Each takes about 1,070 bytes.
    let config = LedgerConfig { pool_bytes_max: 3_300, planted: setup.planted, ..LedgerConfig::default() };
    let ledger = facts.opening.ledger_with(config);
    let poor = thread::scope(|scope| {
        let alice = begin(scope, "alice", || {
            [add_tx(&ledger, "poor", &facts.poor), add_tx(&ledger, "its child", &facts.child)]
        });
        let carol = begin(scope, "carol", || add_tx(&ledger, "richest", &facts.rich[1]));
        let bob = add_tx(&ledger, "rich", &facts.rich[0]);
        let carol = carol.join().expect("Carol's thread returns");
        claim::holds(bob && carol, ROOM, "who pays well was refused", || format!("rich {bob}, richest {carol}"));
        alice.join().expect("Alice's thread returns")
    });
    let state = check_settled(&ledger);
    let waiting: Vec<_> = state.pool.entries.iter().map(|entry| entry.tx.id).collect();
    let kept = facts.rich.iter().all(|tx| waiting.contains(&tx.id)) && waiting.len() <= 3;
    claim::holds(kept, ROOM, "the wrong transactions wait", || format!("{waiting:?}"));
    // Who was pushed out after he had been let in.
    setup.tally.conflicts(u64::from(poor[0] && !waiting.contains(&facts.poor.id)));
}
