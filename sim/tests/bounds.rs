//! Exhaustive exploration within a bound finds exactly the traces within it, and says how many schedules they stand for.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/known.rs"]
mod known;
#[allow(dead_code, reason = "other tests measure")]
#[path = "programs/language/mod.rs"]
mod language;

use std::fs;
use std::sync::Arc;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Condvar, Mutex, RwLock, mpsc};
use interleaf::{Explorer, Replay, Strategy, replay, thread};
use known::{Known, compare_with_published, directory, fixtures};
use language::run::exhaust_by;

/// What is found to be different.
fn differences(known: &Known, text: &str) -> Vec<String> {
    let program = known.program(text).expect("a program");
    let mut differences = Vec::new();
    let (_, all) = exhaust_by(Strategy::Exhaustive { preemptions: None }, &program, 300_000, true);
    let mut compare = |what: String, found: u128, expected: u64| {
        if found != expected.into() {
            differences.push(format!("{what}: {found}, not {expected}"));
        }
    };
    assert!(all.complete && all.exhaustive.schedules_are_exact && all.exhaustive.unjudged == 0, "{:?}", all.exhaustive);
    let schedules = all.exhaustive.schedules.expect("a number");
    compare("schedules".into(), schedules, known.complete + known.unfinished);
    compare("traces".into(), (all.exhaustive.traces + all.exhaustive.deadlocked).into(), known.distinct);
    for (bound, &expected) in known.within.iter().enumerate() {
        let strategy = Strategy::Exhaustive { preemptions: Some(bound as u32) };
        let (_, report) = exhaust_by(strategy, &program, 300_000, false);
        compare(format!("within {bound} preemptions"), report.executions.into(), expected);
        compare(format!("distinct within {bound} preemptions"), report.distinct.into(), expected);
        assert!(report.complete && report.exhaustive.unjudged == 0, "{:?}", report.exhaustive);
        if std::env::var_os("INTERLEAF_SHOW").is_some() {
            eprintln!(
                "{:?} {bound}: {} of {}, {:?}",
                known.parameters, report.executions, known.distinct, report.exhaustive
            );
        }
    }
    if let Some(most) = known.within.iter().position(|&n| n == known.distinct) {
        compare("most preemptions".into(), all.exhaustive.preemptions.into(), most as u64);
    }
    differences
}

#[test]
fn fixtures_have_the_known_traces_within_each_bound() {
    let mut wrong = Vec::new();
    for (path, text) in fixtures("fixtures") {
        for line in text.lines().filter_map(|line| line.strip_prefix("#:")) {
            for difference in differences(&Known::read(line), &text) {
                wrong.push(format!("{} {line}: {difference}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixtures_have_the_known_traces_within_each_number_of_delays() {
    let table = fs::read_to_string(directory().join("delays.txt")).expect("the table");
    let (mut wrong, mut instances) = (Vec::new(), 0);
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (line, delays) = line.split_once("delays=").expect("NAME PARAMETERS delays=…");
        let (name, parameters) = line.split_once(' ').expect("a name");
        let text = fs::read_to_string(directory().join(format!("fixtures/{name}.prog"))).expect(name);
        let program = Known::read(parameters).program(&text).expect("a program");
        for (delays, expected) in delays.split('/').enumerate() {
            let (_, report) = exhaust_by(Strategy::Delays { delays: delays as u32 }, &program, 300_000, false);
            instances += 1;
            if report.exhaustive.traces.to_string() != expected || !report.complete || report.exhaustive.unjudged > 0 {
                wrong.push(format!("{line} {delays} delays: {expected} expected, {:?}", report.exhaustive));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(instances > 300, "only {instances} instances");
}

#[test]
fn bounds_in_turn_count_each_trace_once() {
    let text = fs::read_to_string(directory().join("fixtures/reordered_stores.prog")).expect("a fixture");
    let known = Known { parameters: vec![("S".into(), 2)], ..Known::default() };
    let program = known.program(&text).expect("a program");
    for (last, expected) in [6, 24, 42, 44, 44].into_iter().enumerate() {
        let (_, report) = exhaust_by(Strategy::Iterative { preemptions: last as u32 }, &program, 300_000, false);
        let found = report.exhaustive;
        assert_eq!(
            (report.executions, report.distinct, report.complete),
            (expected, expected, true),
            "{last}: {found:?}"
        );
        assert_eq!(found.preemptions, last.min(3) as u32);
        assert!(last == 0 || found.again > 0);
    }
    let rounds =
        |last| exhaust_by(Strategy::Iterative { preemptions: last }, &program, 300_000, false).1.exhaustive.again;
    assert_eq!(rounds(3), rounds(9), "no further round is made once nothing was beyond the bound");
}

/// Two threads that each read a cell and store one more, as often as asked.
fn losing(rounds: usize) -> impl Fn() + Sync {
    move || {
        let cell = Arc::new(AtomicU32::new(0));
        let add = || {
            let cell = Arc::clone(&cell);
            thread::spawn(move || (0..rounds).for_each(|_| cell.store(cell.load(SeqCst) + 1, SeqCst)))
        };
        let threads = [add(), add()];
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(cell.load(SeqCst) as usize, 2 * rounds);
    }
}

#[test]
fn a_failure_beyond_the_bound_is_none() {
    let explorer = |preemptions| Explorer::new().strategy(Strategy::Exhaustive { preemptions }).max_failures(1_000);
    let report = explorer(Some(0)).run(losing(2));
    assert!(report.failures.is_empty() && report.complete, "{:?}", report.exhaustive);
    assert!(report.exhaustive.beyond > 0);
    let report = explorer(Some(1)).run(losing(2));
    assert_eq!((report.executions, report.failures.len()), (8, 4), "{:?}", report.exhaustive);
    let report = explorer(Some(1)).run(losing(3));
    for failure in report.failures.iter().take(8) {
        assert!(failure.trace.preemptions() <= 1, "{failure}");
    }
}

#[test]
fn the_first_failure_is_shown_with_the_fewest_preemptions() {
    // Each thread must be left between two of its operations, but for the last time.
    let program = || {
        let (a, b) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let thread = {
            let (a, b) = (Arc::clone(&a), Arc::clone(&b));
            thread::spawn(move || {
                a.store(1, SeqCst);
                let seen = b.load(SeqCst);
                a.store(2, SeqCst);
                (seen, b.load(SeqCst))
            })
        };
        let first = a.load(SeqCst);
        b.store(1, SeqCst);
        let second = a.load(SeqCst);
        b.store(2, SeqCst);
        assert_ne!((first, second, thread.join().unwrap()), (1, 2, (1, 2)));
    };
    for strategy in [Strategy::Iterative { preemptions: 9 }, Strategy::Exhaustive { preemptions: None }] {
        let report = Explorer::new().strategy(strategy.clone()).run(program);
        let failure = report.first_failure().expect("a failure");
        assert_eq!(failure.trace.preemptions(), 3, "{strategy}: {failure}");
        assert!(matches!(replay(&failure.token.parse().expect("a token"), program), Replay::Failed(_)));
    }
    for (bound, fails) in [(2, false), (3, true)] {
        let report = Explorer::new().strategy(Strategy::Exhaustive { preemptions: Some(bound) }).run(program);
        assert_eq!(report.failures.len(), usize::from(fails));
    }
}

#[test]
fn a_run_that_a_failure_cuts_is_judged_by_what_the_others_could_have_done() {
    // Main fails at once, which it can only after the other thread's first store: that one is left in the middle.
    let program = || {
        let cell = Arc::new(AtomicU32::new(0));
        let thread = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                cell.store(1, SeqCst);
                cell.store(2, SeqCst);
            })
        };
        assert_ne!(cell.load(SeqCst), 1);
        thread.join().unwrap();
    };
    for (bound, failures) in [(0, 0), (1, 1)] {
        let strategy = Strategy::Exhaustive { preemptions: Some(bound) };
        let report = Explorer::new().strategy(strategy).max_failures(100).run(program);
        assert_eq!(report.failures.len(), failures, "{:?}", report.exhaustive);
    }
}

#[test]
fn whoever_waits_for_a_message_or_a_token_cannot_be_preempted() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        let reader = thread::spawn(move || receiver.recv().unwrap() + receiver.recv().unwrap());
        let parked = thread::spawn(thread::park);
        sender.send(1).unwrap();
        parked.thread().unpark();
        sender.send(2).unwrap();
        reader.join().unwrap();
        parked.join().unwrap();
    };
    let report =
        Explorer::new().strategy(Strategy::Exhaustive { preemptions: None }).count_schedules(true).run(program);
    let by_search = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).seeds(0..100_000).run(program);
    assert!(by_search.complete && by_search.failures.is_empty());
    assert_eq!(report.exhaustive.schedules, Some(by_search.executions.into()), "{:?}", report.exhaustive);
    for bound in 0..4 {
        let strategy = |s: Strategy| Explorer::new().strategy(s).count_distinct(true).seeds(0..100_000);
        let found = strategy(Strategy::Exhaustive { preemptions: Some(bound) }).run(program);
        let expected = strategy(Strategy::Dfs { preemptions: Some(bound) }).run(program);
        assert_eq!(found.executions, expected.distinct, "{bound}");
    }
}

#[test]
fn published_programs_have_the_known_traces_within_each_bound() {
    compare_with_published("published.txt", |text, known| differences(&Known::read(known), text));
}

/// A few operations of a thread of a random program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize),
    Store(usize),
    Add(usize),
    Claim(usize),
    Locked(usize),
    Try,
    Read,
    Write(usize),
    Wait,
    Notify(bool),
}

struct Shared {
    cells: [AtomicU32; 2],
    mutex: Mutex<()>,
    lock: RwLock<()>,
    bell: Condvar,
}

impl Step {
    fn draw(draw: &mut impl FnMut(usize) -> usize, theme: usize) -> Self {
        let cell = draw(2);
        match (draw(6), theme) {
            (0 | 1, 0) => Self::Claim(cell),
            (0, 1) => Self::Locked(cell),
            (1, 1) => Self::Try,
            (0, 2) => Self::Read,
            (1, 2) => Self::Write(cell),
            (0 | 1, 3) => Self::Wait,
            (2 | 3, 3) => Self::Notify(cell == 0),
            (2 | 3, _) => Self::Load(cell),
            (4, _) => Self::Store(cell),
            _ => Self::Add(cell),
        }
    }

    fn run(self, shared: &Shared, own: u32) {
        match self {
            Self::Load(c) => drop(shared.cells[c].load(SeqCst)),
            Self::Store(c) => shared.cells[c].store(own, SeqCst),
            Self::Add(c) => drop(shared.cells[c].fetch_add(1, SeqCst)),
            Self::Claim(c) => drop(shared.cells[c].compare_exchange_weak(0, own, SeqCst, SeqCst)),
            Self::Locked(c) => {
                let _guard = shared.mutex.lock().unwrap();
                shared.cells[c].fetch_add(1, SeqCst);
            }
            Self::Try => drop(shared.mutex.try_lock()),
            Self::Read => drop(shared.lock.read().unwrap()),
            Self::Write(c) => {
                let _guard = shared.lock.write().unwrap();
                shared.cells[c].store(own, SeqCst);
            }
            Self::Wait => drop(shared.bell.wait(shared.mutex.lock().unwrap()).unwrap()),
            Self::Notify(all) => {
                let _guard = shared.mutex.lock().unwrap();
                if all { shared.bell.notify_all() } else { shared.bell.notify_one() }
            }
        }
    }
}

#[test]
fn random_programs_have_the_same_traces_within_a_bound_as_a_bounded_search_finds() {
    let mut state = 7u64;
    let mut draw = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (mut compared, mut pruned) = (0, 0);
    for round in 0..160 {
        let threads = 2 + draw(2);
        let mut program: Vec<Vec<Step>> = (0..threads)
            .map(|_| (0..2 + draw(3 - threads / 3)).map(|_| Step::draw(&mut draw, round % 4)).collect())
            .collect();
        if round == 0 {
            // An event that is displaced after another one that is displaced.
            program = vec![
                vec![Step::Store(0), Step::Locked(1), Step::Locked(0)],
                vec![Step::Store(0), Step::Try, Step::Store(0)],
                vec![Step::Try, Step::Locked(1), Step::Try],
            ];
        }
        let limit = if round == 0 { 20_000 } else { 6_000 };
        let run = || {
            let shared = Arc::new(Shared {
                cells: [AtomicU32::new(0), AtomicU32::new(0)],
                mutex: Mutex::new(()),
                lock: RwLock::new(()),
                bell: Condvar::new(),
            });
            let threads: Vec<_> = (1..)
                .zip(program.clone())
                .map(|(own, steps)| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || steps.into_iter().for_each(|s| s.run(&shared, own)))
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
        };
        let explorer = |strategy, queues| {
            let explorer = Explorer::new().strategy(strategy).seeds(0..limit).max_failures(usize::MAX);
            explorer.every_operation(true).whole_deadlocks(true).readers_queue(queues).count_distinct(true)
        };
        for bound in 0..3 {
            let found = explorer(Strategy::Exhaustive { preemptions: Some(bound) }, true).run(run);
            let expected = explorer(Strategy::Dfs { preemptions: Some(bound) }, found.exhaustive.queues).run(run);
            if !expected.complete {
                continue;
            }
            compared += 1;
            pruned += u64::from(found.exhaustive.beyond > 0);
            let told = format!("{program:?} within {bound}: {:?}", found.exhaustive);
            assert_eq!((found.executions, found.distinct), (expected.distinct, expected.distinct), "{told}");
            assert_eq!(found.exhaustive.unjudged, 0);
        }
    }
    assert!(compared > 200 && pruned > 60, "{compared} {pruned}");
}
