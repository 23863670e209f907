//! A recorded run once more.
//!
//! `Raw` repeats the byte log of a run just made, step by step. [`Deviations`] repeats a run from the places where it
//! deviates from a run without preemptions: that is what a replay token holds.

use super::{Point, Scheduler};

/// The byte log of a run: a slot or a value per step, forced ones included.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    log: Vec<u8>,
    at: usize,
}

impl Raw {
    pub(crate) fn new(log: Vec<u8>) -> Self {
        Self { log, at: 0 }
    }

    /// The next entry, if it is one of `options`.
    pub(crate) fn next(&mut self, options: u64) -> Option<usize> {
        let value = usize::from(*self.log.get(self.at)?);
        self.at += 1;
        (value < 64 && options >> value & 1 == 1).then_some(value)
    }
}

/// Where a run differs from the run without preemptions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deviations {
    /// (number of the decision, option taken), ascending. Only decisions with more than one option count.
    pub list: Vec<(u32, u8)>,
}

/// Repeats a run from its deviations.
#[derive(Debug, Clone)]
pub struct Repeat {
    deviations: Deviations,
    next: usize,
    decision: u32,
}

impl Repeat {
    /// A scheduler that repeats the run.
    #[must_use]
    pub fn new(deviations: Deviations) -> Self {
        Self { deviations, next: 0, decision: 0 }
    }

    fn decide(&mut self, default: usize) -> usize {
        let decision = self.decision;
        self.decision += 1;
        match self.deviations.list.get(self.next) {
            Some(&(at, value)) if at == decision => {
                self.next += 1;
                usize::from(value)
            }
            _ => default,
        }
    }
}

impl Scheduler for Repeat {
    fn next_thread(&mut self, point: &Point<'_>) -> usize {
        self.decide(point.default)
    }

    fn choose(&mut self, options: u64) -> usize {
        self.decide(options.trailing_zeros() as usize)
    }

    fn is_spent(&self) -> bool {
        self.next == self.deviations.list.len()
    }
}
