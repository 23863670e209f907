//! Hidden scenarios that end in each of the ways a run can end, for the tests of the command line and for the canary of
//! the self-test. They are in no list and in no campaign; only a filter that begins with `fixture` selects them.

use std::sync::atomic::{AtomicU64, Ordering};

use interleaf::sync::{Arc, Mutex, PoisonError};
use interleaf::{Faults, Violation, thread};

use crate::scenario::{Expected, Scenario, Setup};

/// What the names of all fixtures begin with.
pub const GROUP: &str = "fixture";

/// The fixture that fails on purpose: if it passes, the machinery is broken and every other pass means nothing.
pub const CANARY: &str = "fixture.canary";

const PASSES: Scenario = Scenario {
    name: "fixture.passes",
    claim: "Two threads add one each under a lock; the sum is two.",
    invariants: &["fixture.sum"],
    expected: Expected::Holds,
    finds: &[],
    weight: 0,
    max_steps: 1_000,
    faults: Faults { spurious_wakeups: 0, weak_cas_failures: 0 },
    strategy: None,
    draws: false,
    exhaustive: None,
    monitor: None,
    world: passes,
};

static FIXTURES: [Scenario; 11] = [
    PASSES,
    Scenario {
        name: CANARY,
        claim: "Two threads read, then write: one addition is lost. Fails on purpose.",
        world: loses_an_update,
        ..PASSES
    },
    Scenario { name: "fixture.panics", claim: "The engine panics.", world: panics, ..PASSES },
    Scenario { name: "fixture.deadlocks", claim: "Two locks in opposite order.", world: deadlocks, ..PASSES },
    Scenario { name: "fixture.endless", claim: "Spins for ever.", world: endless, ..PASSES },
    Scenario {
        name: "fixture.nondeterministic",
        claim: "What it does depends on how often it was done before.",
        world: nondeterministic,
        ..PASSES
    },
    Scenario { name: "fixture.no-conflicts", claim: "Meets no conflict.", world: no_conflicts, ..PASSES },
    Scenario {
        name: "fixture.silent-fault",
        claim: "Arms spurious wake-ups, but nobody ever waits.",
        faults: Faults { spurious_wakeups: 1, weak_cas_failures: 0 },
        ..PASSES
    },
    Scenario {
        name: "fixture.overcounted",
        claim: "Says that it has three distinguishable interleavings, and has two.",
        exhaustive: Some(3),
        ..PASSES
    },
    Scenario {
        name: "fixture.undercounted",
        claim: "Says that it has two distinguishable interleavings, and has six.",
        exhaustive: Some(2),
        world: in_turn,
        ..PASSES
    },
    Scenario {
        name: "fixture.tame",
        claim: "Claims to break a rule, and does not.",
        expected: Expected::Breaks(&["fixture.sum"]),
        ..PASSES
    },
];

/// All fixtures.
#[must_use]
pub fn all() -> &'static [Scenario] {
    &FIXTURES
}

fn passes(setup: &Setup<'_>) {
    let sum = Mutex::new(0);
    let add = || *sum.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    check_sum(sum.into_inner().unwrap_or_else(PoisonError::into_inner));
    setup.tally.conflicts(1);
}

fn in_turn(setup: &Setup<'_>) {
    let turn = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| drop(turn.lock()));
        }
    });
    setup.tally.conflicts(1);
}

fn loses_an_update(setup: &Setup<'_>) {
    let sum = Mutex::new(0);
    interleaf::name(&sum, "Sum");
    let read = || *sum.lock().unwrap_or_else(PoisonError::into_inner);
    let add = || {
        let before: u32 = read();
        interleaf::note(|| format!("read {before}"));
        *sum.lock().unwrap_or_else(PoisonError::into_inner) = before + 1;
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    check_sum(read());
    setup.tally.conflicts(1);
}

fn check_sum(sum: u32) {
    if sum != 2 {
        Violation::new("fixture.sum", "an addition is lost").expected(2).actual(sum).raise();
    }
}

fn panics(_: &Setup<'_>) {
    panic!("the fixture panics");
}

fn deadlocks(setup: &Setup<'_>) {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    interleaf::name(&locks.0, "First");
    interleaf::name(&locks.1, "Second");
    let other = {
        let locks = Arc::clone(&locks);
        thread::spawn(move || {
            let _second = locks.1.lock();
            let _first = locks.0.lock();
        })
    };
    {
        let _first = locks.0.lock();
        let _second = locks.1.lock();
    }
    drop(other.join());
    setup.tally.conflicts(1);
}

fn endless(_: &Setup<'_>) {
    loop {
        thread::yield_now();
    }
}

/// Influences the fixture that is nondeterministic on purpose.
static RUNS: AtomicU64 = AtomicU64::new(0);

fn nondeterministic(setup: &Setup<'_>) {
    if RUNS.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
        drop(Mutex::new(()).lock());
    }
    passes(setup);
}

fn no_conflicts(_: &Setup<'_>) {
    thread::scope(|scope| {
        scope.spawn(|| drop(Mutex::new(()).lock()));
        scope.spawn(|| drop(Mutex::new(()).lock()));
    });
}
