//! Data races on plain cells are found in both memory models, and nothing else is.

use interleaf::cell::RaceCell;
use interleaf::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use interleaf::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, fence};
use interleaf::sync::{Arc, Mutex, RwLock, mpsc};
use interleaf::{Explorer, Failure, FailureKind, MemoryModel, Replay, Strategy, replay, thread};

const MODELS: [MemoryModel; 2] = [MemoryModel::Sc, MemoryModel::Rc11];

fn first_failure(model: MemoryModel, strategy: Strategy, f: &(dyn Fn() + Sync)) -> Option<Failure> {
    let report = Explorer::new().memory_model(model).strategy(strategy).seeds(0..100_000).run(f);
    assert!(!report.failures.is_empty() || report.complete);
    report.failures.into_iter().next()
}

#[track_caller]
fn racy(f: impl Fn() + Sync) {
    for model in MODELS {
        let failure = first_failure(model, Strategy::Dfs { preemptions: None }, &f).expect("a data race");
        assert_eq!(failure.signature().split('/').next(), Some("memory.data_race"), "{model}: {failure}");
        let Replay::Failed(again) = replay(&failure.token.parse().unwrap(), &f) else { panic!("the replay passes") };
        assert_eq!(again.kind, failure.kind);
    }
    let found = Explorer::new().strategy(Strategy::Random).run(&f);
    assert!(!found.failures.is_empty(), "random search finds it, too");
}

#[track_caller]
fn ordered(f: impl Fn() + Sync) {
    for model in MODELS {
        if let Some(failure) = first_failure(model, Strategy::Dfs { preemptions: None }, &f) {
            panic!("{model}: {failure}");
        }
    }
}

/// A message with plain data: the flag is stored and loaded with these orders.
fn message(store: Ordering, load: Ordering, fences: bool) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new((RaceCell::new(0), AtomicBool::new(false)));
        let writer = Arc::clone(&shared);
        let writer = thread::spawn(move || {
            writer.0.set(1);
            if fences {
                fence(Release);
            }
            writer.1.store(true, store);
        });
        if shared.1.load(load) {
            if fences {
                fence(Acquire);
            }
            assert_eq!(shared.0.get(), 1);
        }
        writer.join().unwrap();
    }
}

#[test]
fn a_flag_orders_plain_data_if_its_orderings_do() {
    ordered(message(Release, Acquire, false));
    ordered(message(SeqCst, SeqCst, false));
    ordered(message(Relaxed, Relaxed, true));
    racy(message(Relaxed, Acquire, false));
    racy(message(Release, Relaxed, false));
    racy(message(Relaxed, Relaxed, false));
}

/// Two owners; the last one frees.
fn counted(decrement: Ordering, acquire: bool) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new((AtomicUsize::new(2), RaceCell::new(0)));
        let give_up = move |shared: &(AtomicUsize, RaceCell<i32>)| {
            shared.1.get();
            if shared.0.fetch_sub(1, decrement) == 1 {
                if acquire {
                    fence(Acquire);
                }
                shared.1.set(-1);
            }
        };
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || give_up(&other));
        give_up(&shared);
        other.join().unwrap();
    }
}

#[test]
fn the_last_owner_must_see_what_the_others_did() {
    ordered(counted(Release, true));
    ordered(counted(AcqRel, false));
    racy(counted(Release, false));
    racy(counted(Relaxed, true));
    racy(counted(Relaxed, false));
}

/// Each thread fills its own slot and claims the key; the loser reads the winner's slot.
fn claimed(success: Ordering, failure: Ordering) -> impl Fn() + Sync {
    move || {
        let shared = Arc::new((AtomicU32::new(9), [const { RaceCell::new(0) }; 2]));
        let claim = move |me: usize, shared: &(AtomicU32, [RaceCell<u32>; 2])| {
            shared.1[me].set(40 + me as u32);
            if let Err(winner) = shared.0.compare_exchange(9, me as u32, success, failure) {
                assert_eq!(shared.1[winner as usize].get(), 40 + winner);
            }
        };
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || claim(1, &other));
        claim(0, &shared);
        other.join().unwrap();
    }
}

#[test]
fn a_failed_compare_and_swap_orders_as_it_says() {
    ordered(claimed(Release, Acquire));
    ordered(claimed(AcqRel, Acquire));
    racy(claimed(AcqRel, Relaxed));
    racy(claimed(Relaxed, Acquire));
}

#[test]
fn a_release_sequence_goes_on_through_read_modify_writes_only() {
    let through = |own_store: bool| {
        move || {
            let shared = Arc::new((RaceCell::new(0), AtomicU32::new(0)));
            let (writer, adder) = (Arc::clone(&shared), Arc::clone(&shared));
            let writer = thread::spawn(move || {
                writer.0.set(1);
                writer.1.store(1, Release);
                if own_store {
                    writer.1.store(2, Relaxed);
                }
            });
            let adder = thread::spawn(move || {
                if !own_store {
                    let _ = adder.1.compare_exchange(1, 2, Relaxed, Relaxed);
                }
            });
            if shared.1.load(Acquire) == 2 {
                shared.0.get();
            }
            writer.join().unwrap();
            adder.join().unwrap();
        }
    };
    ordered(through(false));
    racy(through(true));
}

#[test]
fn locks_channels_joins_and_tokens_order_plain_data() {
    ordered(|| {
        let shared = Arc::new((Mutex::new(()), RaceCell::new(0)));
        let add = |shared: &(Mutex<()>, RaceCell<i32>)| {
            let _guard = shared.0.lock().unwrap();
            shared.1.set(shared.1.get() + 1);
        };
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || add(&other));
        add(&shared);
        other.join().unwrap();
        assert_eq!(shared.1.get(), 2);
    });
    ordered(|| {
        let shared = Arc::new((RwLock::new(()), RaceCell::new(0)));
        let readers: Vec<_> = (0..2)
            .map(|_| Arc::clone(&shared))
            .map(|shared| {
                thread::spawn(move || {
                    let _guard = shared.0.read().unwrap();
                    shared.1.get()
                })
            })
            .collect();
        {
            let _guard = shared.0.write().unwrap();
            shared.1.set(1);
        }
        assert!(readers.into_iter().all(|t| t.join().unwrap() < 2));
    });
    ordered(|| {
        let (sender, receiver) = mpsc::channel();
        let cell = Arc::new(RaceCell::new(0));
        let there = Arc::clone(&cell);
        thread::spawn(move || {
            there.set(1);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        cell.set(2);
    });
    ordered(|| {
        let cell = Arc::new(RaceCell::new(0));
        let (there, main) = (Arc::clone(&cell), thread::current());
        thread::spawn(move || {
            there.set(1);
            main.unpark();
        });
        thread::park();
        cell.set(2);
    });
}

#[test]
fn what_orders_less_does_not_order_plain_data() {
    // Readers of a lock do not order each other.
    racy(|| {
        let shared = Arc::new((RwLock::new(()), RaceCell::new(0)));
        let set = |shared: &(RwLock<()>, RaceCell<i32>)| {
            let _guard = shared.0.read().unwrap();
            shared.1.set(1);
        };
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || set(&other));
        set(&shared);
        other.join().unwrap();
    });
    // A message orders what came before it, not what came after.
    racy(|| {
        let (sender, receiver) = mpsc::channel();
        let cell = Arc::new(RaceCell::new(0));
        let there = Arc::clone(&cell);
        let t = thread::spawn(move || {
            sender.send(()).unwrap();
            there.set(1);
        });
        receiver.recv().unwrap();
        cell.get();
        t.join().unwrap();
    });
    // Nor does the start of a thread order what its parent does next.
    racy(|| {
        let cell = Arc::new(RaceCell::new(0));
        let there = Arc::clone(&cell);
        let t = thread::spawn(move || there.get());
        cell.set(1);
        t.join().unwrap();
    });
}

#[test]
fn reads_do_not_race() {
    ordered(|| {
        let cell = Arc::new(RaceCell::new(7));
        let readers: Vec<_> = (0..3).map(|_| Arc::clone(&cell)).map(|cell| thread::spawn(move || cell.get())).collect();
        assert_eq!(cell.get() + readers.into_iter().map(|t| t.join().unwrap()).sum::<i32>(), 28);
        cell.set(1);
    });
    // A write races with any of the reads, not only the last.
    racy(|| {
        let cell = Arc::new(RaceCell::new(7));
        let (a, b) = (Arc::clone(&cell), Arc::clone(&cell));
        let a = thread::spawn(move || a.get());
        let b = thread::spawn(move || b.get());
        b.join().unwrap();
        cell.set(1);
        a.join().unwrap();
    });
}

#[test]
fn a_race_is_found_under_every_schedule_and_names_both_accesses() {
    let f = || {
        let cell = Arc::new(RaceCell::new(0));
        interleaf::name(&*cell, "balance");
        let there = Arc::clone(&cell);
        let t = thread::spawn(move || there.set(1));
        cell.with(|value| assert!(!value.is_null()));
        t.join().unwrap();
    };
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).max_failures(100).run(f);
    assert_eq!(report.failures.len() as u64, report.executions);
    let failure = &report.failures[0];
    let FailureKind::Violation(violation) = &failure.kind else { panic!("{failure}") };
    assert_eq!(violation.predicate, "a write and a read of a plain cell are not ordered");
    assert!(violation.actual.contains("of balance"), "{violation}");
    let lines = violation.events.join("\n");
    assert!(lines.contains("write by main/0 at ") && lines.contains("read by main at "), "{lines}");
    assert_eq!(lines.matches("races.rs:").count(), 2, "{lines}");
}

#[test]
fn outside_a_run_a_cell_is_a_plain_value() {
    let mut cell = RaceCell::new(1);
    cell.set(2);
    assert_eq!(cell.replace(3), 2);
    *cell.get_mut() += 1;
    assert_eq!((cell.get(), cell.with_mut(|p| p.is_null())), (4, false));
    let shared = RaceCell::new(0u64);
    std::thread::scope(|s| {
        for i in 1..=4 {
            let shared = &shared;
            s.spawn(move || shared.set(i));
        }
    });
    assert!((1..=4).contains(&shared.into_inner()));
}

#[test]
fn exhaustive_search_finds_races() {
    let f = counted(Relaxed, true);
    let report =
        Explorer::new().memory_model(MemoryModel::Rc11).strategy(Strategy::Exhaustive { preemptions: None }).run(f);
    let failure = report.first_failure().expect("a data race");
    assert_eq!(failure.signature().split('/').next(), Some("memory.data_race"), "{failure}");
    let report = Explorer::new()
        .memory_model(MemoryModel::Rc11)
        .strategy(Strategy::Exhaustive { preemptions: None })
        .run(counted(Release, true));
    assert!(report.failures.is_empty() && report.complete);
    assert_eq!(report.executions, 2);
}
