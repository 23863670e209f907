//! Claims of single stories: rules that hold in their world and are no invariant of every ledger.

use std::fmt::Debug;

use interleaf::Violation;

/// Ends the run if `actual` is not `expected`. `invariant` and `predicate` are fixed words: they become the signature.
///
/// # Panics
/// With the violation, for the runtime to report.
pub fn equal<T: PartialEq + Debug>(invariant: &str, predicate: &str, expected: &T, actual: &T) {
    if expected != actual {
        Violation::new(invariant, predicate)
            .expected(format_args!("{expected:?}"))
            .actual(format_args!("{actual:?}"))
            .raise();
    }
}

/// Ends the run if `holds` is false.
///
/// # Panics
/// With the violation, for the runtime to report.
pub fn holds(holds: bool, invariant: &str, predicate: &str, seen: impl FnOnce() -> String) {
    if !holds {
        Violation::new(invariant, predicate).expected("the opposite").actual(seen()).raise();
    }
}
