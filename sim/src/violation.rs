//! What a broken invariant says of itself.

use std::fmt;

/// A broken rule, raised inside a run: the run fails and its report shows these parts.
///
/// The failure's signature is built from `invariant` and `predicate` only, so neither may contain seeds, values or
/// addresses; those belong into `expected`, `actual` and `events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule's name, e.g. `ledger.no_double_spend`.
    pub invariant: String,
    /// Which part of the rule broke, in fixed words, e.g. `outpoint confirmed twice`.
    pub predicate: String,
    /// What should have been seen.
    pub expected: String,
    /// What was seen.
    pub actual: String,
    /// The few events that show it, one line each, oldest first.
    pub events: Vec<String>,
}

impl Violation {
    /// A violation of `invariant`, in the part named by `predicate`.
    #[must_use]
    pub fn new(invariant: &str, predicate: &str) -> Self {
        Self {
            invariant: invariant.to_owned(),
            predicate: predicate.to_owned(),
            expected: String::new(),
            actual: String::new(),
            events: Vec::new(),
        }
    }

    /// Sets what should have been seen.
    #[must_use]
    pub fn expected(mut self, expected: impl fmt::Display) -> Self {
        self.expected = expected.to_string();
        self
    }

    /// Sets what was seen.
    #[must_use]
    pub fn actual(mut self, actual: impl fmt::Display) -> Self {
        self.actual = actual.to_string();
        self
    }

    /// Adds one line of evidence.
    #[must_use]
    pub fn event(mut self, event: impl fmt::Display) -> Self {
        self.events.push(event.to_string());
        self
    }

    /// Ends the run with this violation: unwinds the calling thread with the violation as payload.
    ///
    /// # Panics
    /// Always; inside a simulation the runtime catches it and reports the violation by name.
    pub fn raise(self) -> ! {
        std::panic::panic_any(self)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.predicate)?;
        if !self.expected.is_empty() || !self.actual.is_empty() {
            write!(f, " (expected {}, got {})", self.expected, self.actual)?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}
