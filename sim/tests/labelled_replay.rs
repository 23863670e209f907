//! A labelled choice log is worth more than a seed: it survives changes of the program.
//!
//! The ring of locks deadlocks in some schedules. Failures of the original are replayed on variants that have an extra
//! lock somewhere; all of them must deadlock again. The same seeds do so only now and then.

use interleaf::sync::{Arc, Mutex};
use interleaf::trace::choices::ChoiceLog;
use interleaf::{Explorer, FailureKind, Replay, Strategy, replay_choices, thread};

type Locks = Arc<Vec<Mutex<u32>>>;

fn locks(n: usize) -> Locks {
    Arc::new((0..=n).map(|_| Mutex::new(0)).collect())
}

const N: usize = 3;

fn original() {
    let locks = locks(N);
    let tasks: Vec<_> = (0..N)
        .map(|i| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let mut left = locks[i].lock().unwrap();
                let mut right = locks[(i + 1) % N].lock().unwrap();
                *left += 1;
                *right += 1;
            })
        })
        .collect();
    tasks.into_iter().for_each(|t| t.join().unwrap());
}

/// An unrelated lock in every task, before the locks of the ring.
fn extra_lock_in_every_task() {
    let locks = locks(N);
    let tasks: Vec<_> = (0..N)
        .map(|i| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                *locks[N].lock().unwrap() += 1;
                let mut left = locks[i].lock().unwrap();
                let mut right = locks[(i + 1) % N].lock().unwrap();
                *left += 1;
                *right += 1;
            })
        })
        .collect();
    tasks.into_iter().for_each(|t| t.join().unwrap());
}

/// An unrelated lock in one task, between the locks of the ring.
fn extra_lock_in_one_task() {
    let locks = locks(N);
    let tasks: Vec<_> = (0..N)
        .map(|i| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let mut left = locks[i].lock().unwrap();
                if i == 1 {
                    *locks[N].lock().unwrap() += 1;
                }
                let mut right = locks[(i + 1) % N].lock().unwrap();
                *left += 1;
                *right += 1;
            })
        })
        .collect();
    tasks.into_iter().for_each(|t| t.join().unwrap());
}

/// The main thread takes an unrelated lock before it starts the tasks, and another while they run.
fn extra_locks_in_main() {
    let locks = locks(N);
    *locks[N].lock().unwrap() += 1;
    let tasks: Vec<_> = (0..N)
        .map(|i| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let mut left = locks[i].lock().unwrap();
                let mut right = locks[(i + 1) % N].lock().unwrap();
                *left += 1;
                *right += 1;
            })
        })
        .collect();
    *locks[N].lock().unwrap() += 1;
    tasks.into_iter().for_each(|t| t.join().unwrap());
}

/// The bug fixed: every task takes the lock with the lower number first.
fn fixed() {
    let locks = locks(N);
    let tasks: Vec<_> = (0..N)
        .map(|i| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let mut left = locks[i.min((i + 1) % N)].lock().unwrap();
                let mut right = locks[i.max((i + 1) % N)].lock().unwrap();
                *left += 1;
                *right += 1;
            })
        })
        .collect();
    tasks.into_iter().for_each(|t| t.join().unwrap());
}

fn deadlocks(variant: fn(), log: &ChoiceLog) -> bool {
    match replay_choices("ring", log, None, variant) {
        Replay::Failed(failure) => matches!(failure.kind, FailureKind::Deadlock { .. }),
        Replay::Passed(_) | Replay::Diverged(_) => false,
    }
}

#[test]
fn a_labelled_log_survives_unrelated_changes() {
    let report = Explorer::new().seeds(0..2_000).strategy(Strategy::Random).max_failures(50).run(original);
    assert_eq!(report.failures.len(), 50);
    let variants: [(&str, fn()); 4] = [
        ("original", original),
        ("extra lock in every task", extra_lock_in_every_task),
        ("extra lock in one task", extra_lock_in_one_task),
        ("extra locks in main", extra_locks_in_main),
    ];
    let mut by_seed = 0;
    for (name, variant) in variants {
        let again = report.failures.iter().filter(|f| deadlocks(variant, &f.choices())).count();
        assert_eq!(again, 50, "{name}");
        let explorer = Explorer::new().strategy(Strategy::Random);
        let same_seed = |seed: u64| !explorer.clone().seeds(seed..seed + 1).run(variant).failures.is_empty();
        by_seed += report.failures.iter().filter(|f| same_seed(f.seed)).count();
    }
    assert!((50..190).contains(&by_seed), "same seed: {by_seed} of 200, the original's 50 included");
    assert!(!report.failures.iter().any(|f| deadlocks(fixed, &f.choices())), "the fixed program cannot deadlock");
}

#[test]
fn the_log_is_text_that_round_trips() {
    let report = Explorer::new().strategy(Strategy::Random).run(original);
    let log = report.failures[0].choices();
    let text = log.render();
    assert_eq!(ChoiceLog::parse(&text), Ok(log));
    let error = ChoiceLog::parse("# something else").unwrap_err();
    assert_eq!((error.line, error.expected), (1, "a header of version 1"));
    let error = ChoiceLog::parse(&format!("{}main/0 lock\n", text)).unwrap_err();
    assert_eq!(error.line, text.lines().count() + 1);
    assert!(error.to_string().contains("main/0 lock"), "{error}");
}
