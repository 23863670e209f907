//! A stored run once more.

use crate::choice::stream_seed;
use crate::monitor::Monitor;
use crate::runtime::execution::{Detail, Machine};
use crate::strategy::labelled::{Labelled, Places};
use crate::strategy::replay::{Deviations, Repeat};
use crate::strategy::{Active, Plan, Scheduler};
use crate::trace::Trace;
use crate::trace::choices::ChoiceLog;

use super::failure::{Failure, FailureKind, REPLAY};
use super::token::Token;

/// How a replay ended.
#[derive(Clone, Debug)]
pub enum Replay {
    /// It failed; compare [`Failure::signature`] with the stored one.
    Failed(Box<Failure>),
    /// It ran to its end: the failure is gone.
    Passed(Box<Trace>),
    /// It came to a point that the record does not fit: the program has changed.
    Diverged(Box<Failure>),
}

/// Runs `f` along the choices in `token`.
///
/// ```
/// use interleaf::{Explorer, Replay, replay, thread};
/// use interleaf::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
///
/// let lost_update = || {
///     let x = Arc::new(AtomicU32::new(0));
///     let add = |x: Arc<AtomicU32>| move || x.store(x.load(SeqCst) + 1, SeqCst);
///     let other = thread::spawn(add(Arc::clone(&x)));
///     add(Arc::clone(&x))();
///     other.join().unwrap();
///     assert_eq!(x.load(SeqCst), 2);
/// };
/// let report = Explorer::new().run(lost_update);
/// let failure = report.first_failure().unwrap();
/// let Replay::Failed(again) = replay(&failure.token.parse().unwrap(), lost_update) else { panic!() };
/// assert_eq!(again.trace, failure.trace);
/// ```
pub fn replay<F: Fn()>(token: &Token, f: F) -> Replay {
    replay_with(token, None, f)
}

/// As [`replay`], watched by a monitor.
pub fn replay_with<F: Fn()>(token: &Token, monitor: Option<Box<dyn Monitor>>, f: F) -> Replay {
    let mut machine = Machine::new(token.settings);
    run(&mut machine, token, Box::new(Repeat::new(token.deviations.clone())), monitor, &f)
}

/// Runs of the present program that are made to learn which operations it has.
const LEARNING_RUNS: u64 = 16;

/// Runs `f` along a labelled choice log, also if the program has changed since the log was written. It never diverges:
/// what does not fit is caught up with or dropped, and when the log ends the run goes on at random.
///
/// The failure's token is that of the run made now.
pub fn replay_choices<F: Fn()>(name: &str, log: &ChoiceLog, monitor: Option<Box<dyn Monitor>>, f: F) -> Replay {
    let mut machine = Machine::new(log.settings);
    let mut places = Places::default();
    for i in 0..LEARNING_RUNS {
        machine.run(&f, stream_seed(i, "profile"), Plan::Random, Detail::Full, None);
        places.add_trace(&machine.trace());
    }
    let token =
        Token { name: name.to_owned(), seed: log.seed, deviations: Deviations::default(), settings: log.settings };
    let labelled = Box::new(Labelled::new(log, &places));
    let mut replay = run(&mut machine, &token, labelled, monitor, &f);
    if let Replay::Failed(failure) = &mut replay {
        failure.token = Token::of(name, log.seed, log.settings, &failure.trace).to_string();
    }
    replay
}

fn run<F: Fn()>(
    machine: &mut Machine,
    token: &Token,
    scheduler: Box<dyn Scheduler>,
    monitor: Option<Box<dyn Monitor>>,
    f: &F,
) -> Replay {
    let plan = Plan::Asked(Active::Asked(scheduler));
    let outcome = machine.run(f, token.seed, plan, Detail::Full, monitor);
    let trace = machine.trace();
    let spent = !matches!(machine.take_active(), Active::Asked(scheduler) if !scheduler.is_spent());
    let kind = if spent {
        outcome.failure.map(|f| *f)
    } else {
        Some(FailureKind::Diverged { step: outcome.steps, wanted: None, can: Vec::new() })
    };
    let Some(mut kind) = kind else { return Replay::Passed(Box::new(trace)) };
    let backtrace = kind.take_backtrace();
    let diverged = matches!(kind, FailureKind::Diverged { .. });
    let failure = Box::new(Failure {
        kind,
        seed: token.seed,
        strategy: REPLAY.into(),
        found_after: 0,
        token: token.to_string(),
        trace,
        backtrace,
        reversal: None,
    });
    if diverged { Replay::Diverged(failure) } else { Replay::Failed(failure) }
}
