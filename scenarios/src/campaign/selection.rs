//! Which scenarios a campaign runs.

use interleaf_engine::planted::Planted;
use thiserror::Error;

use super::{Subject, fixtures};
use crate::registry;
use crate::scenario::Scenario;

/// A selection of nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NothingSelected {
    /// A filter matches no name.
    #[error("the filter `{filter}` selects no scenario; `interleaf list` shows all {scenarios}")]
    Filter {
        /// The filter.
        filter: String,
        /// How many scenarios there are.
        scenarios: usize,
    },
    /// There is nothing to select from.
    #[error("there is no scenario in the default campaign")]
    Empty,
    /// No scenario says that it can find the bug.
    #[error("no scenario says that it can find `{0}`; name the scenarios to run with this bug")]
    Planted(Planted),
}

/// Selects scenarios whose name contains one of `filters`. Without filters: those of the default campaign or, if a bug
/// is switched on, those that can find it.
///
/// # Errors
/// If a filter, or all together, select nothing: a misspelt filter must not pass for a pass.
pub fn select(filters: &[String], planted: Option<Planted>) -> Result<Vec<Subject>, NothingSelected> {
    if filters.is_empty() {
        return without_filters(planted);
    }
    let matches = |filter: &str, s: &Scenario| {
        let hidden = s.name.starts_with(fixtures::GROUP) && !filter.starts_with(fixtures::GROUP);
        s.name.contains(filter) && !hidden
    };
    let everything = || registry::all().iter().chain(fixtures::all());
    if let Some(filter) = filters.iter().find(|f| !everything().any(|s| matches(f, s))) {
        return Err(NothingSelected::Filter { filter: filter.clone(), scenarios: registry::all().len() });
    }
    let chosen = everything().filter(|s| filters.iter().any(|f| matches(f, s)));
    Ok(chosen.map(|scenario| Subject { scenario, planted }).collect())
}

fn without_filters(planted: Option<Planted>) -> Result<Vec<Subject>, NothingSelected> {
    let wanted = |s: &&Scenario| match planted {
        Some(bug) => s.finds.iter().any(|(found, _)| *found == bug),
        None => s.weight > 0,
    };
    let chosen: Vec<Subject> =
        registry::all().iter().filter(wanted).map(|scenario| Subject { scenario, planted }).collect();
    if chosen.is_empty() {
        return Err(planted.map_or(NothingSelected::Empty, NothingSelected::Planted));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(filters: &[&str]) -> Result<Vec<&'static str>, NothingSelected> {
        let filters: Vec<String> = filters.iter().map(|f| (*f).to_owned()).collect();
        select(&filters, None).map(|list| list.iter().map(|s| s.scenario.name).collect())
    }

    #[test]
    fn fixtures_are_selected_by_their_group_only() {
        assert_eq!(names(&["fixture.pa"]), Ok(vec!["fixture.passes", "fixture.panics"]));
        assert!(names(&["canary"]).is_err());
    }

    #[test]
    fn each_filter_must_select_something() {
        let error = names(&["fixture.passes", "no-such-thing"]).unwrap_err();
        assert!(error.to_string().contains("`no-such-thing` selects no scenario"), "{error}");
    }
}
