//! Exploring a program and counting.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use interleaf::{Equivalence, Explorer, FailureKind, Report, Strategy};

use crate::known::Known;
use crate::language::program::Program;
use crate::language::run::outcome;

/// What an exploration counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Runs, one for each distinguishable interleaving.
    pub executions: u64,
    /// Runs that had none of their own.
    pub redundant: u64,
    /// Beginnings of runs that were given up.
    pub probes: u64,
    /// Runs, one for each reads-from class; `None` if the program does what the search for those does not know, has more
    /// than 500 interleavings, or an exploration was stopped.
    pub classes: Option<u64>,
    /// Nothing was left.
    pub complete: bool,
    /// A run ended in something else than its end or a deadlock.
    pub stray: Option<String>,
}

impl Measured {
    /// What is not as it is known, if anything: each interleaving takes one run and there is no other.
    #[must_use]
    pub fn difference(&self, known: &Known) -> Option<String> {
        if let Some(stray) = &self.stray {
            return Some(stray.clone());
        }
        if !self.complete {
            return Some(format!("more than {} runs", self.executions));
        }
        if self.executions != known.distinct {
            return Some(format!("{} runs, not {}", self.executions, known.distinct));
        }
        if let Some(classes) = self.classes.filter(|&classes| classes > known.distinct) {
            return Some(format!(
                "{classes} runs or more by reads-from classes, which are never more than interleavings"
            ));
        }
        (self.redundant > 0).then(|| format!("{} runs too many", self.redundant))
    }
}

/// Classes are counted of programs with so many interleavings at most: whether a class has an order is a search of its own.
const CLASSES_OF_MOST: u64 = 500;

/// Explores a program with the parameters of `known`, until `stop` is set. More than a thousand runs beyond twice the
/// known number are not made.
///
/// # Errors
/// If the text is no program.
pub fn measure(text: &str, known: &Known, jobs: usize, stop: &AtomicBool) -> Result<Measured, String> {
    let parameters: Vec<_> = known.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let program = Arc::new(Program::read(text, &parameters)?);
    let limit = known.distinct.saturating_mul(2).saturating_add(1_000);
    let explorer = Explorer::new()
        .name("program")
        .strategy(Strategy::Exhaustive { preemptions: None })
        .seeds(0..limit)
        .workers(jobs)
        .max_failures(usize::MAX)
        .stop_when(stop);
    let report = explorer.run(|| drop(outcome(&program)));
    let by_class = explorer.seeds(0..known.distinct.saturating_add(1)).equivalence(Equivalence::ReadsFrom);
    let is_small = known.distinct <= CLASSES_OF_MOST;
    let classes = is_small.then(|| classes(&by_class.run(|| drop(outcome(&program))), known)).flatten();
    let stray = report.failures.iter().find(|f| !matches!(f.kind, FailureKind::Deadlock { .. }));
    Ok(Measured {
        executions: report.executions,
        redundant: report.exhaustive.redundant,
        probes: report.exhaustive.probes,
        classes,
        complete: report.complete,
        stray: stray.map(|f| f.kind.headline()),
    })
}

/// How many classes there are, or that they are too many.
fn classes(report: &Report, known: &Known) -> Option<u64> {
    let is_known = report.failures.iter().all(|f| matches!(f.kind, FailureKind::Deadlock { .. }));
    (is_known && (report.complete || report.executions > known.distinct)).then_some(report.executions)
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);
    const STORE_BUFFERING: &str = "shared x y\nthread a\nstore x, 1\nr = load y\nthread b\nstore y, 1\nr = load x\n";

    fn difference(text: &str, distinct: u64) -> Option<String> {
        let known = Known { parameters: Vec::new(), distinct };
        measure(text, &known, 1, &NEVER).unwrap().difference(&known)
    }

    #[test]
    fn classes_are_counted_where_that_is_possible() {
        let classes = |text: &str, distinct| {
            let known = Known { parameters: Vec::new(), distinct };
            measure(text, &known, 1, &NEVER).unwrap().classes
        };
        assert_eq!(classes("shared x\nthread w[j=1..3]\nstore x, {j}\n", 6), Some(1));
        assert_eq!(classes("rwlock l\nthread r[j=1..2]\nrlock l\nrunlock l\n", 1), None);
    }

    #[test]
    fn differences_are_told() {
        assert_eq!(difference(STORE_BUFFERING, 3), None);
        assert_eq!(difference(STORE_BUFFERING, 4), Some("3 runs, not 4".into()));
        let many = "shared x\nthread w[j=1..7]\nstore x, {j}\n";
        assert_eq!(difference(many, 10), Some("more than 1020 runs".into()));
        assert!(difference("shared x[2]\nthread a\nr = load x[2]\n", 1).unwrap().contains("panicked"));
        assert!(measure("thread a\nfly", &Known::default(), 1, &NEVER).unwrap_err().contains("`fly` is not supported"));
    }
}
