//! How a run can fail.

use std::fmt::{self, Write as _};

use crate::monitor::OpKind;
use crate::runtime::panic_hook::Caught;
use crate::trace::choices::ChoiceLog;
use crate::trace::{Trace, table, verb};
use crate::violation::Violation;

use super::token::Token;

/// Somebody that a blocked thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    /// Name of the thread.
    pub thread: String,
    /// Where it took the lock; `None` if it is joined.
    pub since: Option<String>,
}

/// A thread of a run that does not get on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Name of the thread.
    pub thread: String,
    /// It could go on (only in a run that was cut by the step limit).
    pub runnable: bool,
    /// The operation that it is about to do.
    pub wants: OpKind,
    /// The object's name, or the place where it was made.
    pub object: String,
    /// `file:line:column` of the operation.
    pub location: String,
    /// Who has what it waits for.
    pub holders: Vec<Waited>,
    /// A reader that waits behind a waiting writer.
    pub behind_writer: bool,
    /// At a barrier: how many threads have arrived, and how many it takes.
    pub arrived: Option<(usize, usize)>,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A checker or the program itself raised a [`Violation`].
    Violation(Violation),
    /// A thread panicked and nobody took the panic from its `join`.
    Panic {
        /// Name of the thread.
        thread: String,
        /// Message and place.
        panic: Caught,
    },
    /// Some threads can never run again.
    Deadlock {
        /// Those threads.
        threads: Vec<Blocked>,
        /// No other thread was left that could run.
        all: bool,
    },
    /// The run was cut after the greatest number of steps. Inconclusive unless the program is known to be shorter.
    StepLimit {
        /// Steps made.
        steps: u32,
        /// What each thread was about to do.
        threads: Vec<Blocked>,
    },
    /// The same seed and choices gave another run.
    Nondeterminism {
        /// Number of the first event that differs.
        event: usize,
        /// That event in the first run.
        first: String,
        /// That event in the second run.
        second: String,
    },
    /// A replay came to a decision that the record does not fit.
    Diverged {
        /// Step at which it did.
        step: u32,
        /// The slot that the record named, if it named any.
        wanted: Option<u32>,
        /// Names of the threads that could run. Empty if the run had ended before the record did.
        can: Vec<String>,
    },
}

impl FailureKind {
    /// What code beside the run (`who`: a monitor, a strategy) has panicked with.
    pub(crate) fn of_payload(who: &str, payload: Box<dyn std::any::Any + Send>) -> Self {
        match payload.downcast::<Violation>() {
            Ok(violation) => Self::Violation(*violation),
            Err(payload) => Self::Panic { thread: who.to_owned(), panic: Caught::from_payload(&*payload) },
        }
    }

    /// Invariant, predicate and place in normal form: equal for failures with the same cause. Free of seeds, values,
    /// line numbers and addresses.
    #[must_use]
    pub fn signature(&self) -> String {
        match self {
            Self::Violation(v) => format!("{}/{}", v.invariant, slug(&v.predicate)),
            Self::Panic { panic, .. } => {
                format!("panic/{}/{}", slug(file_of(&panic.location)), slug(&without_values(&panic.message)))
            }
            Self::Deadlock { threads, .. } => {
                let mut classes: Vec<String> = threads.iter().map(|b| slug(&without_line(&b.object))).collect();
                rotate_to_least(&mut classes);
                format!("deadlock/{}", classes.join("+"))
            }
            Self::StepLimit { .. } => "step-limit".into(),
            Self::Nondeterminism { .. } => "nondeterminism".into(),
            Self::Diverged { .. } => "diverged".into(),
        }
    }

    /// What broke, in one line with its numbers.
    #[must_use]
    pub fn headline(&self) -> String {
        match self {
            Self::Violation(v) => v.to_string(),
            Self::Panic { thread, panic } => {
                format!("thread {thread} panicked at {}: {}", panic.location, panic.message)
            }
            Self::Deadlock { threads, all } => {
                let names: Vec<&str> = threads.iter().map(|b| b.thread.as_str()).collect();
                let rest = if *all { "nobody else is left to wake them" } else { "they wait for each other" };
                format!("deadlock: {} can never run again; {rest}", names.join(", "))
            }
            Self::StepLimit { steps, .. } => {
                format!("not finished after {steps} steps (livelock, or the limit is too low)")
            }
            Self::Nondeterminism { event, first, second } => {
                format!("the same seed gave another run: event {event} was `{first}`, then `{second}`")
            }
            Self::Diverged { step, can, .. } if can.is_empty() => {
                format!("replay diverged: the run ended at step {step} with decisions of the record left over")
            }
            Self::Diverged { step, wanted, can } => format!(
                "replay diverged at step {step}: the record names {}, but only {} can run",
                wanted.map_or_else(|| "nothing more".into(), |w| format!("slot {w}")),
                can.join(", ")
            ),
        }
    }

    /// Takes the stack of the panic out: two runs that fail in the same way need not have equal stacks.
    pub(crate) fn take_backtrace(&mut self) -> Option<String> {
        match self {
            Self::Panic { panic, .. } => panic.backtrace.take(),
            _ => None,
        }
    }

    /// Further lines: who waits for whom, expected and actual, evidence.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Violation(v) => v.events.clone(),
            Self::Deadlock { threads, .. } | Self::StepLimit { threads, .. } => {
                threads.iter().map(Blocked::line).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Blocked {
    fn line(&self) -> String {
        let mut line = format!("{} wants {} {} at {}", self.thread, verb(self.wants), self.object, self.location);
        for h in &self.holders {
            match &h.since {
                Some(since) => {
                    let _ = write!(line, ", held by {} since {since}", h.thread);
                }
                None => {
                    let _ = write!(line, ", waits for the end of {}", h.thread);
                }
            }
        }
        if self.behind_writer {
            line.push_str(", behind a writer that waits");
        }
        if let Some((arrived, of)) = self.arrived {
            let _ = write!(line, ", where {arrived} of {of} have arrived");
        }
        line
    }
}

fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
        if out.len() >= 60 {
            break;
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// The text up to the first digit, quote or line break: what follows are values.
fn without_values(text: &str) -> String {
    text.split(|c: char| c.is_ascii_digit() || matches!(c, '"' | '`' | '\'' | '\n' | '('))
        .next()
        .unwrap_or("")
        .trim()
        .to_owned()
}

fn without_line(object: &str) -> String {
    object.split(':').next().unwrap_or(object).to_owned()
}

fn file_of(location: &str) -> &str {
    crate::trace::file_name(location.split(':').next().unwrap_or(location))
}

/// A cycle has no first element: start at the least rotation.
fn rotate_to_least(cycle: &mut [String]) {
    if let Some(best) = (0..cycle.len()).min_by_key(|&i| {
        let (head, tail) = cycle.split_at(i);
        [tail, head].concat()
    }) {
        cycle.rotate_left(best);
    }
}

/// What stands for the thread of a panic in a strategy of the user's own.
pub(crate) const STRATEGY_PANIC: &str = "the strategy";

/// Most operations on atomics that a failure explains.
const STALE_MAX: usize = 8;

/// What stands for the strategy of a run that was replayed.
pub(crate) const REPLAY: &str = "replay";

/// An operation of a thread, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The thread's name.
    pub thread: String,
    /// What it does.
    pub kind: OpKind,
    /// The object's name, or the place where it was made; empty for operations without one.
    pub object: String,
    /// `file:line:column` of the operation.
    pub location: String,
}

/// The nearest run that passes: it orders these two operations in the other way, and follows the failed run otherwise
/// as far as it can. Found by exhaustive exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversal {
    /// What comes first in the failed run.
    pub earlier: Operation,
    /// What comes first in the run that passes. In a deadlock this may be an operation that was waited for in vain.
    pub later: Operation,
    /// The token of the run that passes.
    pub token: String,
}

/// A failed run, with everything that is needed to see it again.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Why it failed.
    pub kind: FailureKind,
    /// Seed of the run.
    pub seed: u64,
    /// The strategy that found it.
    pub strategy: String,
    /// Number of runs before it in this exploration (by this worker).
    pub found_after: u64,
    /// The line that replays it: see [`crate::replay`].
    pub token: String,
    /// The full record of the run.
    pub trace: Trace,
    /// Stack of the panic, if the run failed by one.
    pub backtrace: Option<String>,
    /// What it hangs on. Only exhaustive exploration looks for that, at its first eight failures, and there need not be
    /// a single such order.
    pub reversal: Option<Reversal>,
}

impl Failure {
    /// The labelled choice log of the run, which can be followed also after changes of the program.
    ///
    /// # Panics
    /// If `token` was overwritten with something that is no token.
    #[must_use]
    pub fn choices(&self) -> ChoiceLog {
        match self.token.parse::<Token>() {
            Ok(token) => ChoiceLog::of(self.seed, token.settings, &self.trace),
            Err(error) => panic!("the failure's own token: {error}"),
        }
    }

    /// See [`FailureKind::signature`].
    #[must_use]
    pub fn signature(&self) -> String {
        self.kind.signature()
    }
}

impl fmt::Display for Failure {
    /// The failure block: what broke, under which interleaving, how to replay it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.kind.headline())?;
        for line in self.kind.details() {
            writeln!(f, "  {line}")?;
        }
        write!(f, "  seed {}, strategy {}, {} preemptions", self.seed, self.strategy, self.trace.preemptions())?;
        if self.strategy != REPLAY {
            write!(f, ", found in run {}", self.found_after + 1)?;
        }
        writeln!(f)?;
        writeln!(f)?;
        for line in table::render(&self.trace, table::Style::default()).lines() {
            writeln!(f, "  {line}")?;
        }
        let stale: Vec<String> = self.trace.stale_lines().collect();
        if !stale.is_empty() {
            writeln!(f)?;
            writeln!(f, "  not the latest, and why that is allowed (the last {}):", stale.len().min(STALE_MAX))?;
            for line in &stale[stale.len().saturating_sub(STALE_MAX)..] {
                writeln!(f, "    {line}")?;
            }
        }
        writeln!(f)?;
        if let Some(reversal) = &self.reversal {
            writeln!(f, "  {reversal}")?;
            writeln!(f, "  replay of that: {}", reversal.token)?;
        }
        write!(f, "  replay: {}", self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadlock(objects: &[&str]) -> FailureKind {
        let blocked = |o: &&str| Blocked {
            thread: "main/0".into(),
            runnable: false,
            wants: OpKind::Lock,
            object: (*o).into(),
            location: "a.rs:1:1".into(),
            holders: Vec::new(),
            behind_writer: false,
            arrived: None,
        };
        FailureKind::Deadlock { threads: objects.iter().map(blocked).collect(), all: true }
    }

    #[test]
    fn a_cycle_has_one_signature_wherever_it_is_entered() {
        assert_eq!(deadlock(&["B:7", "C:9", "A:3"]).signature(), deadlock(&["A:4", "B:1", "C:2"]).signature());
        assert_ne!(deadlock(&["A", "B", "C"]).signature(), deadlock(&["A", "C", "B"]).signature());
    }

    #[test]
    fn a_panic_signature_has_no_values_and_no_lines() {
        let at = |line: u32, value: u32| FailureKind::Panic {
            thread: "main".into(),
            panic: Caught {
                message: format!("total {value} is wrong"),
                location: format!("src/x.rs:{line}:5"),
                backtrace: None,
            },
        };
        assert_eq!(at(3, 10).signature(), at(9, 77).signature());
        assert_eq!(at(3, 10).signature(), "panic/x.rs/total");
    }
}
