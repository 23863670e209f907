//! What an exploration by reads-from classes tells besides their number: failures, loops that wait, refusals, limits.

use std::collections::BTreeSet;
use std::sync::Mutex as Plain;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, RwLock};
use interleaf::{Equivalence, Explorer, FailureKind, Replay, Report, Strategy, replay, thread};

fn explorer<'a>() -> Explorer<'a> {
    Explorer::new()
        .strategy(Strategy::Exhaustive { preemptions: None })
        .equivalence(Equivalence::ReadsFrom)
        .seeds(0..10_000)
        .max_failures(usize::MAX)
}

/// Runs `others` in threads of their own and joins them.
fn threads(others: Vec<Box<dyn FnOnce() + Send>>) {
    let all: Vec<_> = others.into_iter().map(thread::spawn).collect();
    all.into_iter().for_each(|t| t.join().unwrap());
}

/// Writers that nobody reads, and a reader.
fn writers_and_a_reader(seen: &Plain<Vec<u32>>) {
    let x = Arc::new(AtomicU32::new(0));
    let mut bodies: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for id in 1..=5 {
        let x = Arc::clone(&x);
        bodies.push(Box::new(move || x.store(id, SeqCst)));
    }
    let all: Vec<_> = bodies.into_iter().map(thread::spawn).collect();
    seen.lock().unwrap().push(x.load(SeqCst));
    all.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn each_value_is_read_once_with_any_number_of_workers() {
    for workers in [1, 2, 4] {
        let seen = Plain::default();
        let report = explorer().workers(workers).run(|| writers_and_a_reader(&seen));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5], "{workers} workers");
        assert!(report.complete && report.executions == 6 && report.exhaustive.traces == 6);
    }
}

#[test]
fn workers_share_many_classes() {
    let count = |workers: usize| {
        let report = explorer().workers(workers).count_distinct(true).run(|| {
            let x = Arc::new(AtomicU32::new(0));
            let body = |id: u32| {
                let x = Arc::clone(&x);
                move || {
                    let _ = x.compare_exchange(0, 1, SeqCst, SeqCst);
                    x.store(id, SeqCst);
                }
            };
            let bodies = (3..7).map(|id| Box::new(body(id)) as Box<dyn FnOnce() + Send>).collect();
            threads(bodies);
        });
        assert!(report.complete && report.failures.is_empty());
        (report.executions, report.distinct)
    };
    assert_eq!([1, 2, 5].map(count), [(200, 200); 3]);
}

#[test]
fn an_exploration_that_reaches_its_limit_is_not_complete() {
    let seen = Plain::default();
    let report = explorer().seeds(7..10).run(|| writers_and_a_reader(&seen));
    assert!(!report.complete && report.executions == 3 && report.frontier.is_none());
}

fn lost_update() {
    let x = Arc::new(AtomicU32::new(0));
    let add = |x: &Arc<AtomicU32>| {
        let x = Arc::clone(x);
        Box::new(move || x.store(x.load(SeqCst) + 1, SeqCst))
    };
    threads(vec![add(&x), add(&x)]);
    assert_eq!(x.load(SeqCst), 2);
}

/// A class is run as a schedule of sequential consistency, so its token replays without the search.
#[test]
fn a_failure_is_explained_and_replays() {
    let report = explorer().name("lost").max_failures(1).run(lost_update);
    let failure = report.first_failure().expect("an update is lost");
    assert!(matches!(failure.kind, FailureKind::Panic { .. }));
    assert!(failure.reversal.is_some(), "the order that would have passed is told");
    let token = failure.token.parse().expect("a token");
    let Replay::Failed(again) = replay(&token, lost_update) else { panic!("it fails again") };
    assert_eq!(again.signature(), failure.signature());
    assert!(!report.complete, "a failure that cuts its run may hide others");
}

/// A thread fails in the middle of what an item repeats: the run ends there, and the search goes on with the others.
#[test]
fn a_failure_in_the_middle_of_an_item_ends_only_that_run() {
    let report = explorer().run(|| {
        let cells = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let (a, b) = (Arc::clone(&cells), cells);
        threads(vec![
            Box::new(move || {
                for _ in 0..2 {
                    let seen = a.0.load(SeqCst);
                    assert_ne!(seen, 1, "the middle one");
                    a.1.store(seen, SeqCst);
                }
            }),
            Box::new(move || {
                (1..4).for_each(|n| b.0.store(n, SeqCst));
                let _ = b.1.load(SeqCst);
            }),
        ]);
    });
    let panics = report.failures.iter().filter(|f| f.kind.headline().contains("the middle one")).count();
    assert_eq!(panics, report.failures.len());
    assert!(panics > 1 && report.exhaustive.traces > panics as u64 && !report.complete, "{:?}", report.exhaustive);
}

/// What the façade does not see is not repeated.
#[test]
fn a_program_that_does_something_else_again_is_told() {
    let runs = Plain::new(0);
    let report = explorer().run(|| {
        *runs.lock().unwrap() += 1;
        let odd = *runs.lock().unwrap() % 2 == 1;
        let x = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let theirs = Arc::clone(&x);
        let other = thread::spawn(move || if odd { &theirs.0 } else { &theirs.1 }.store(1, SeqCst));
        let _ = (x.0.load(SeqCst), x.1.load(SeqCst));
        other.join().unwrap();
    });
    let all: String = report.failures.iter().map(|f| f.kind.headline()).collect();
    assert!(all.contains("not deterministic") && !report.complete, "{all}");
}

#[test]
fn deadlocks_are_classes_of_their_own() {
    let run = |report: &Report| {
        let deadlocked = report.failures.iter().all(|f| matches!(f.kind, FailureKind::Deadlock { .. }));
        (report.executions, report.exhaustive.traces, report.exhaustive.deadlocked, deadlocked, report.complete)
    };
    let report = explorer().run(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let (a, b) = (Arc::clone(&locks), locks);
        threads(vec![
            Box::new(move || {
                let first = a.0.lock().unwrap();
                *a.1.lock().unwrap() += *first;
            }),
            Box::new(move || {
                let first = b.1.lock().unwrap();
                *b.0.lock().unwrap() += *first;
            }),
        ]);
    });
    assert_eq!(run(&report), (3, 2, 1, true, true));
}

/// The loop sees the flag at once, or after one round in vain: more rounds are more of the same. What it would find after
/// two is what it finds after one in another class, so that run is blocked, not failed.
#[test]
fn a_loop_that_waits_is_cut_after_rounds_that_find_the_same() {
    let outcomes = Plain::new(BTreeSet::new());
    let report = explorer().run(|| {
        let (flag, rounds) = (Arc::new(AtomicU32::new(0)), Plain::new(0));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || theirs.store(1, SeqCst));
        while flag.load(SeqCst) == 0 {
            *rounds.lock().unwrap() += 1;
            thread::yield_now();
        }
        other.join().unwrap();
        outcomes.lock().unwrap().insert(*rounds.lock().unwrap());
    });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(outcomes.into_inner().unwrap(), BTreeSet::from([0, 1]));
    assert_eq!((report.exhaustive.traces, report.blocked, report.executions), (2, 1, 3));
    assert!(report.exhaustive.probes < 5, "{}", report.exhaustive.probes);
}

/// In a round that finds nothing new the flag may have been set before the other value was read. Whether the thread is
/// taken out must not hang on that.
#[test]
fn a_loop_that_reads_something_besides_its_flag_comes_to_an_end() {
    let outcomes = Plain::new(BTreeSet::new());
    let report = explorer().run(|| {
        let (cells, rounds) = (Arc::new((AtomicU32::new(0), AtomicU32::new(0))), Plain::new(0));
        let theirs = Arc::clone(&cells);
        let other = thread::spawn(move || theirs.0.store(1, SeqCst));
        while cells.0.load(SeqCst) + cells.1.load(SeqCst) == 0 {
            *rounds.lock().unwrap() += 1;
            thread::yield_now();
        }
        other.join().unwrap();
        outcomes.lock().unwrap().insert(*rounds.lock().unwrap());
    });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(outcomes.into_inner().unwrap(), BTreeSet::from([0, 1]));
    assert!(report.executions < 6, "{} runs", report.executions);
}

/// What two flags were when the loop ended, and what can be in between, is found; rounds that repeat are not piled up.
#[test]
fn a_loop_that_reads_two_flags_comes_to_an_end() {
    let outcomes = Plain::new(BTreeSet::new());
    let report = explorer().run(|| {
        let flags = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let (a, b) = (Arc::clone(&flags), Arc::clone(&flags));
        let setter = thread::spawn(move || a.0.store(1, SeqCst));
        let other = thread::spawn(move || b.1.store(1, SeqCst));
        let mut seen = BTreeSet::new();
        loop {
            let now = (flags.0.load(SeqCst), flags.1.load(SeqCst));
            seen.insert(now);
            if now == (1, 1) {
                break;
            }
            thread::yield_now();
        }
        setter.join().unwrap();
        other.join().unwrap();
        outcomes.lock().unwrap().insert(seen);
    });
    assert!(report.complete && report.failures.is_empty());
    let (none, left, right, both) = ((0, 0), (1, 0), (0, 1), (1, 1));
    let all = [&[both][..], &[left, both], &[right, both], &[none, both], &[none, left, both], &[none, right, both]];
    assert_eq!(outcomes.into_inner().unwrap(), all.iter().map(|seen| seen.iter().copied().collect()).collect());
    assert!(report.executions < 40, "{} runs", report.executions);
}

#[test]
fn a_loop_that_waits_for_what_never_comes_is_a_livelock() {
    let report = explorer().run(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || theirs.store(1, SeqCst));
        while flag.load(SeqCst) != 2 {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    assert!(report.failures.iter().any(|f| matches!(f.kind, FailureKind::StepLimit { .. })), "{:?}", report.exhaustive);
}

/// Why an exploration was given up.
fn refusal(body: impl Fn() + Sync) -> String {
    let report = explorer().run(body);
    assert!(!report.complete);
    report.failures.iter().map(|f| f.kind.headline()).collect()
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let unknown = |what: &str, body: &(dyn Fn() + Sync)| {
        let refusal = refusal(body);
        assert!(refusal.contains(&format!("the program does `{what}`")), "{what}: {refusal}");
    };
    unknown("read", &|| drop(RwLock::new(0).read().unwrap()));
    unknown("notify_one", &|| Condvar::new().notify_one());
    unknown("unpark", &|| thread::current().unpark());
    unknown("sleep", &|| thread::sleep(std::time::Duration::from_millis(1)));
    unknown("get_mut", &|| {
        let mut x = Arc::new(AtomicU32::new(0));
        let add = |x: &Arc<AtomicU32>| {
            let x = Arc::clone(x);
            thread::spawn(move || x.fetch_add(1, SeqCst)).join().unwrap();
        };
        add(&x);
        *Arc::get_mut(&mut x).unwrap().get_mut() = 7;
        add(&x);
    });
    unknown("is_finished", &|| {
        let other = thread::spawn(|| ());
        let _ = other.is_finished();
        other.join().unwrap();
    });
}

/// Who tries what others were promised, and cannot be told apart from a second one who does, is refused, not guessed.
#[test]
fn two_that_try_what_is_promised_to_others_are_refused() {
    let refusal = refusal(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(()), AtomicU32::new(0)));
        let all = [(); 4].map(|()| Arc::clone(&locks));
        let [a, b, c, d] = all;
        threads(vec![
            Box::new(move || {
                let _m = a.0.lock().unwrap();
                a.2.fetch_add(1, SeqCst);
            }),
            Box::new(move || {
                if let Ok(_m) = b.0.try_lock() {
                    drop(b.1.lock().unwrap());
                }
            }),
            Box::new(move || {
                if let Ok(_m) = c.0.try_lock() {
                    drop(c.1.try_lock());
                }
            }),
            Box::new(move || {
                if let Ok(_n) = d.1.try_lock() {
                    drop(d.0.try_lock());
                }
            }),
        ]);
    });
    assert!(refusal.contains("try_lock of mutexes that others wait for, by two threads at once"), "{refusal}");
}

#[test]
#[should_panic(expected = "reads-from classes are explored by the strategy `exhaustive` under the memory model sc")]
fn bounds_are_refused() {
    explorer().strategy(Strategy::Exhaustive { preemptions: Some(1) }).run(lost_update);
}
