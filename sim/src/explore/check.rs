//! The entry points for tests.

use crate::strategy::Strategy;

use super::explorer::{Explorer, Report};
use super::replay::{Replay, replay_with};
use super::token::{Token, plain_name};

/// Environment variable with a replay token: tests run that schedule only.
pub const REPLAY_VARIABLE: &str = "INTERLEAF_REPLAY";

/// Environment variable with the number of executions of each test, in place of the test's own.
pub const EXECUTIONS_VARIABLE: &str = "INTERLEAF_EXECUTIONS";

/// Runs `f` under a thousand schedules.
///
/// ```
/// interleaf::check(|| {
///     let (sender, receiver) = interleaf::sync::mpsc::channel();
///     interleaf::thread::spawn(move || sender.send(1).unwrap());
///     assert_eq!(receiver.recv(), Ok(1));
/// });
/// ```
///
/// # Panics
/// With the failure block if a run fails.
#[track_caller]
pub fn check<F: Fn() + Sync>(f: F) {
    run_test(&Explorer::new(), f);
}

/// Runs a test as `explorer` says, or, if `INTERLEAF_REPLAY` holds a token with the test's name, that run alone.
///
/// # Panics
/// With the failure block if a run fails; if an environment variable is malformed; if an exhaustive exploration was
/// stopped before its end.
#[track_caller]
pub fn run_test<F: Fn() + Sync>(explorer: &Explorer<'_>, f: F) {
    if let Some(token) = token_for(&explorer.name) {
        let monitor = explorer.monitor.as_ref().map(|make| make());
        match replay_with(&token, monitor, &f) {
            Replay::Failed(failure) => panic!("{failure}"),
            Replay::Diverged(failure) => panic!("replay diverged: the program has changed since\n{failure}"),
            Replay::Passed(_) => eprintln!("interleaf: the replay of {} does not fail any more", token.name),
        }
        return;
    }
    let mut explorer = explorer.clone();
    if let Ok(text) = std::env::var(EXECUTIONS_VARIABLE) {
        match text.parse::<u64>() {
            Ok(n) if n > 0 => {
                explorer.seeds.end = explorer.seeds.start.saturating_add(n);
                explorer.limited = true;
            }
            _ => panic!("{EXECUTIONS_VARIABLE}: expected a positive number, got `{text}`"),
        }
    }
    let exhaustive =
        matches!(explorer.strategy, Strategy::Exhaustive { .. } | Strategy::Iterative { .. } | Strategy::Delays { .. });
    if exhaustive && !explorer.limited {
        explorer.seeds.end = 1 << 63;
    }
    let report = explorer.run(f);
    fail_on_failure(&explorer.name, &report);
    assert!(
        !exhaustive || report.complete,
        "interleaf: {} was to be explored exhaustively, but there are more than the {} executions that were made",
        explorer.name,
        report.executions
    );
}

fn token_for(name: &str) -> Option<Token> {
    let text = std::env::var(REPLAY_VARIABLE).ok()?;
    match text.parse::<Token>() {
        Ok(token) => (token.name == plain_name(name)).then_some(token),
        Err(error) => panic!("{REPLAY_VARIABLE}: {error}"),
    }
}

#[track_caller]
fn fail_on_failure(name: &str, report: &Report) {
    let Some(failure) = report.first_failure() else { return };
    // The path of a test within its crate is what the test runner knows it by.
    match name.split_once("::") {
        Some((_, test)) => {
            panic!("{failure}\n  paste:  {REPLAY_VARIABLE}='{}' cargo test {test} -- --exact", failure.token)
        }
        None => panic!("{failure}\n  paste:  {REPLAY_VARIABLE}='{}' cargo test", failure.token),
    }
}

/// What a simulated test may return: nothing, or a `Result` whose error fails the run.
pub trait TestResult {
    /// # Panics
    /// If the result is an error.
    fn finish(self);
}

impl TestResult for () {
    fn finish(self) {}
}

impl<T, E: std::fmt::Debug> TestResult for Result<T, E> {
    #[track_caller]
    fn finish(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}
