//! The attribute `#[interleaf::test]`, and what the environment can change.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use interleaf::sync::{Arc, Mutex};
use interleaf::{Explorer, Failure, Strategy, thread};

fn count_to_two() {
    let m = Arc::new(Mutex::new(0));
    let n = Arc::clone(&m);
    let other = thread::spawn(move || *n.lock().unwrap() += 1);
    *m.lock().unwrap() += 1;
    other.join().unwrap();
    assert_eq!(*m.lock().unwrap(), 2);
}

#[interleaf::test]
fn without_options() {
    count_to_two();
}

#[interleaf::test(executions = 50, seed = 7, strategy = "pct:2", max_steps = 1_000, budget = "20s")]
fn with_options() -> Result<(), std::num::ParseIntError> {
    count_to_two();
    "7".parse::<u64>().map(drop)
}

#[interleaf::test(strategy = "dfs", spurious_wakeups = 1, weak_cas_failures = 1)]
#[should_panic(expected = "two is not three")]
fn a_failing_run_fails_the_test() {
    count_to_two();
    assert_eq!(2, 3, "two is not three");
}

#[interleaf::test]
#[should_panic(expected = "the test returned an error")]
fn an_error_fails_the_run() -> Result<(), std::num::ParseIntError> {
    "seven".parse::<u64>().map(drop)
}

static RUNS: AtomicU64 = AtomicU64::new(0);

fn loses_an_update() {
    RUNS.fetch_add(1, SeqCst);
    let x = Arc::new(interleaf::sync::atomic::AtomicU32::new(0));
    let y = Arc::clone(&x);
    let add = |x: &interleaf::sync::atomic::AtomicU32| x.store(x.load(SeqCst) + 1, SeqCst);
    let other = thread::spawn(move || add(&y));
    add(&x);
    other.join().unwrap();
    assert_eq!(x.load(SeqCst), 2);
}

/// Run in a process of its own by the tests below.
#[interleaf::test]
#[should_panic(expected = "assertion `left == right` failed")]
fn child() {
    loses_an_update();
    if std::env::var("INTERLEAF_CHILD").is_ok() {
        println!("runs {}", RUNS.load(SeqCst));
    }
}

fn run_child(variable: &str, value: &str) -> String {
    let output = Command::new(std::env::current_exe().expect("a path"))
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env("INTERLEAF_CHILD", "1")
        .env(variable, value)
        .output()
        .expect("the test binary runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn failure() -> Failure {
    let name = concat!(module_path!(), "::child");
    Explorer::new().name(name).run(loses_an_update).failures.remove(0)
}

#[test]
fn a_token_in_the_environment_runs_that_schedule_alone() {
    let output = run_child(interleaf::REPLAY_VARIABLE, &failure().token);
    assert!(output.contains("strategy replay"), "{output}");
    let profile_and_more = run_child("NOTHING", "");
    assert!(profile_and_more.contains(&format!("strategy {}", failure().strategy)), "{profile_and_more}");
    assert!(profile_and_more.contains("cargo test child -- --exact"), "{profile_and_more}");
}

#[test]
fn malformed_variables_are_named() {
    let output = run_child(interleaf::REPLAY_VARIABLE, "il1:nonsense");
    assert!(output.contains("INTERLEAF_REPLAY: not a replay token"), "{output}");
    let output = run_child(interleaf::EXECUTIONS_VARIABLE, "many");
    assert!(output.contains("INTERLEAF_EXECUTIONS: expected a positive number, got `many`"), "{output}");
}

#[test]
fn a_budget_ends_an_exploration_that_has_too_many_seeds() {
    let start = Instant::now();
    for strategy in [Strategy::Portfolio, Strategy::Dfs { preemptions: None }] {
        let report = Explorer::new()
            .strategy(strategy)
            .seeds(0..1 << 40)
            .budget(Duration::from_millis(50))
            .run(|| (0..2).for_each(|_| many_schedules()));
        assert!(report.executions > 0 && !report.complete);
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

fn many_schedules() {
    let m = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let m = Arc::clone(&m);
            thread::spawn(move || (0..5).for_each(|_| *m.lock().unwrap() += 1))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}
