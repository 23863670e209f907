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

/// The loop sees the flag at once, after one round in vain, or after two: more rounds are more of the same. What it
/// would find later is a class of another run, so that run is blocked, not failed.
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
    unknown("is_finished", &|| {
        let other = thread::spawn(|| ());
        let _ = other.is_finished();
        other.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "reads-from classes are explored by the strategy `exhaustive` under the memory model sc")]
fn bounds_are_refused() {
    explorer().strategy(Strategy::Exhaustive { preemptions: Some(1) }).run(lost_update);
}
