//! All scenarios, by name.

use crate::scenario::Scenario;

/// All scenarios in the order in which they are listed and run.
#[must_use]
pub fn all() -> &'static [Scenario] {
    &[]
}

/// The scenario called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Scenario> {
    all().iter().find(|s| s.name == name)
}
