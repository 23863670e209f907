//! Which operations conflict, as seen from outside: under POS two threads that make two operations each come in another
//! order if the operations conflict.
//!
//! Without conflicts the thread that goes first draws a new priority and the other keeps the one that has just lost: the
//! first is first again with probability 2/3 (the lesser of two uniform numbers is 1/3 on average). With conflicts both
//! draw, and it is 1/2.

use std::sync::Mutex as Plain;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Mutex, RwLock, mpsc};
use interleaf::{Explorer, Strategy, thread};

/// What both threads use.
struct Shared {
    atomic: AtomicU32,
    other: AtomicU32,
    free: Mutex<()>,
    held: Mutex<()>,
    rwlock: RwLock<()>,
    main: thread::Thread,
}

type Operation = fn(&Shared, who: usize);

/// How often the thread that goes first is first again.
fn first_again(operation: Operation) -> f64 {
    const RUNS: u64 = 6_000;
    let again = Plain::new(0u64);
    let report = Explorer::new().strategy(Strategy::Pos).seeds(0..RUNS).check_determinism(false).run(|| {
        let order = std::sync::Arc::new(Plain::new(Vec::new()));
        let shared = Arc::new(Shared {
            atomic: AtomicU32::new(0),
            other: AtomicU32::new(0),
            free: Mutex::new(()),
            held: Mutex::new(()),
            rwlock: RwLock::new(()),
            main: thread::current(),
        });
        let guard = shared.held.lock().unwrap();
        let threads: Vec<_> = (0..2)
            .map(|who| {
                let (shared, order) = (Arc::clone(&shared), std::sync::Arc::clone(&order));
                thread::spawn(move || {
                    for _ in 0..2 {
                        operation(&shared, who);
                        order.lock().unwrap().push(who);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        drop(guard);
        // Not the profile runs.
        if interleaf::seed().is_some_and(|seed| seed < RUNS) {
            let order = order.lock().unwrap();
            *again.lock().unwrap() += u64::from(order[0] == order[1]);
        }
    });
    assert!(report.failures.is_empty() && report.executions == RUNS, "{}", report.failures[0]);
    let again = *again.lock().unwrap();
    again as f64 / RUNS as f64
}

#[test]
fn what_commutes_and_what_conflicts() {
    let commute: [(&str, Operation); 5] = [
        ("loads", |s, _| _ = s.atomic.load(SeqCst)),
        ("stores to two atomics", |s, who| [&s.atomic, &s.other][who].store(1, SeqCst)),
        ("a load and a load of something else", |s, who| _ = [&s.atomic, &s.other][who].load(SeqCst)),
        ("read locks", |s, _| drop(s.rwlock.read().unwrap())),
        ("tries of a lock that is held", |s, _| assert!(s.held.try_lock().is_err())),
    ];
    let conflict: [(&str, Operation); 9] = [
        ("stores", |s, _| s.atomic.store(1, SeqCst)),
        ("a load and a store", |s, who| match who {
            0 => s.atomic.store(1, SeqCst),
            _ => _ = s.atomic.load(SeqCst),
        }),
        ("additions", |s, _| _ = s.atomic.fetch_add(1, SeqCst)),
        ("compare-and-swaps", |s, _| _ = s.atomic.compare_exchange(5, 6, SeqCst, SeqCst)),
        ("locks", |s, _| drop(s.free.lock().unwrap())),
        ("write locks", |s, _| drop(s.rwlock.write().unwrap())),
        ("a read lock and a write lock", |s, who| match who {
            0 => drop(s.rwlock.read().unwrap()),
            _ => drop(s.rwlock.write().unwrap()),
        }),
        ("unparks of one thread", |s, _| s.main.unpark()),
        ("yields", |_, _| thread::yield_now()),
    ];
    let mut wrong = Vec::new();
    let expected = commute.iter().map(|c| (c, 2.0 / 3.0)).chain(conflict.iter().map(|c| (c, 0.5)));
    for ((name, operation), expected) in expected {
        let found = first_again(*operation);
        // Five standard deviations of 6,000 runs are 0.032.
        if (found - expected).abs() > 0.032 {
            wrong.push(format!("{name}: {found:.3}, not {expected:.3}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sends_on_one_channel_conflict() {
    const RUNS: u64 = 6_000;
    let again = Plain::new(0u64);
    Explorer::new().strategy(Strategy::Pos).seeds(0..RUNS).check_determinism(false).run(|| {
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..2)
            .map(|who| {
                let sender = sender.clone();
                thread::spawn(move || (0..2).for_each(|_| sender.send(who).unwrap()))
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        let order: Vec<i32> = (0..4).map(|_| receiver.recv().unwrap()).collect();
        if interleaf::seed().is_some_and(|seed| seed < RUNS) {
            *again.lock().unwrap() += u64::from(order[0] == order[1]);
        }
    });
    let again = *again.lock().unwrap() as f64 / RUNS as f64;
    assert!((again - 0.5).abs() < 0.032, "{again}");
}
