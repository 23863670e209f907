//! The façade behaves as std: the same bodies run against std on real threads, against the façade on real threads
//! (outside a simulation), and against the façade inside a simulation under many schedules.
//!
//! A body returns what it saw as text. Bodies whose result does not depend on the schedule must agree exactly. A body may
//! run more than once in a process, so what it returns must not depend on what its statics hold.

/// Two modules with the same items: `real`, in which `w` is `std`, and `facade`, in which it is `interleaf`.
macro_rules! worlds {
    ($($item:tt)*) => {
        #[allow(unused_imports, reason = "one list for all files")]
        pub(crate) mod real {
            use ::arc_swap;
            use std as w;
            crate::prelude! {}
            $($item)*
        }
        #[allow(unused_imports, reason = "one list for all files")]
        pub(crate) mod facade {
            use interleaf as w;
            use interleaf::arc_swap;
            crate::prelude! {}
            $($item)*
        }
    };
}

macro_rules! prelude {
    () => {
        use std::cell::{Cell, RefCell};
        use std::panic::{AssertUnwindSafe, catch_unwind};

        use w::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering::SeqCst};
        use w::sync::{
            Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, OnceState, PoisonError, RwLock, TryLockError, Weak,
            mpsc,
        };
        use w::{hint, thread, time};

        use crate::message;
    };
}
use prelude;

macro_rules! all {
    ($($name:ident),* $(,)?) => {
        pub(crate) const ALL: &[(&str, fn() -> String)] = &[$((stringify!($name), $name)),*];
    };
}

mod barriers;
mod cells;
mod channels;
mod locals;
mod locks;
mod once;
mod rendezvous;
mod threads;
mod time;
mod updates;

use std::any::Any;
use std::sync::{Arc, Mutex as StdMutex};

use interleaf::monitor::{Event, Monitor};
use interleaf::{Explorer, Strategy, Violation};

/// The text of a panic.
fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or_else(|_| "no text".to_owned(), |text| (*text).to_owned()),
    }
}

type Body = (&'static str, fn() -> String);

/// A body's name, and it against std and against the façade.
type Both = (&'static str, fn() -> String, fn() -> String);

fn all() -> Vec<Both> {
    let both = [
        (barriers::real::ALL, barriers::facade::ALL),
        (cells::real::ALL, cells::facade::ALL),
        (channels::real::ALL, channels::facade::ALL),
        (locals::real::ALL, locals::facade::ALL),
        (locks::real::ALL, locks::facade::ALL),
        (once::real::ALL, once::facade::ALL),
        (rendezvous::real::ALL, rendezvous::facade::ALL),
        (threads::real::ALL, threads::facade::ALL),
        (time::real::ALL, time::facade::ALL),
        (updates::real::ALL, updates::facade::ALL),
    ];
    let pair = |(real, facade): (&'static [Body], &'static [Body])| {
        real.iter().zip(facade).map(|(real, facade)| (real.0, real.1, facade.1))
    };
    both.into_iter().flat_map(pair).collect()
}

#[test]
fn outside_a_simulation_the_facade_is_std() {
    let differ = |(name, std, ours): Both| {
        let (std, ours) = (std(), ours());
        (std != ours).then(|| format!("\n{name}\n  std    {std}\n  facade {ours}"))
    };
    let differences: String = all().into_iter().filter_map(differ).collect();
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn inside_a_simulation_it_gives_stds_results_under_every_strategy() {
    let mut differences = String::new();
    for (name, std, ours) in all() {
        let expected = std();
        for strategy in [Strategy::Random, Strategy::Pct { depth: 3 }, Strategy::Dfs { preemptions: Some(1) }] {
            let seen = StdMutex::new(std::collections::BTreeSet::new());
            let report = Explorer::new().strategy(strategy.clone()).seeds(0..200).run(|| {
                let text = ours();
                seen.lock().unwrap().insert(text);
            });
            let seen: Vec<String> = seen.into_inner().unwrap().into_iter().collect();
            let failure = report.first_failure().map(ToString::to_string);
            if failure.is_some() || seen != std::slice::from_ref(&expected) {
                let failure = failure.unwrap_or_default();
                differences += &format!("\n{name}, {strategy}\n  std    {expected}\n  facade {seen:?}\n{failure}");
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Keeps every event of all runs as text.
struct Keeps(Arc<StdMutex<Vec<String>>>);

impl Monitor for Keeps {
    fn step(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        self.0.lock().unwrap().push(format!("{event:?}"));
        Ok(())
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_with_every_body() {
    for (name, _, ours) in all() {
        for strategy in [Strategy::Random, Strategy::Pct { depth: 3 }] {
            let run = || {
                let events = Arc::new(StdMutex::new(Vec::new()));
                let monitor = || Box::new(Keeps(Arc::clone(&events))) as Box<dyn Monitor>;
                let explorer = Explorer::new().strategy(strategy.clone()).seeds(0..20).count_distinct(true);
                let report = explorer.monitor(monitor).run(|| drop(ours()));
                let events = std::mem::take(&mut *events.lock().unwrap());
                (report.steps, report.distinct, events)
            };
            assert_eq!(run(), run(), "{name}, {strategy}");
        }
    }
}
