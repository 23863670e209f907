//! `interleaf list`: the scenarios.

use serde_json::json;

use crate::campaign::Exit;
use crate::registry;
use crate::report::json::{VERSION, scenario};
use crate::report::table::{Align, Table, grouped};
use crate::report::terminal::Terminal;

/// Shows the scenarios.
#[must_use]
pub fn list(terminal: &Terminal) -> Exit {
    let scenarios: Vec<_> = registry::all().iter().map(scenario).collect();
    terminal.message(&json!({ "type": "list", "version": VERSION, "scenarios": scenarios }));
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("weight", Align::Right),
        ("interleavings", Align::Right),
        ("outcome", Align::Left),
        ("finds", Align::Left),
    ]);
    for s in registry::all() {
        let outcome = s.expected.to_string();
        let all = s.exhaustive.map_or_else(String::new, |all| format!("all {}", grouped(all)));
        let finds: Vec<_> = s.finds.iter().map(|(bug, _)| bug.name()).collect();
        table.row([s.name.to_owned(), s.weight.to_string(), all, outcome, finds.join(", ")]);
    }
    terminal.print(&table.plain());
    terminal.print("");
    for s in registry::all() {
        terminal.print(&format!("{}\n  {}\n  checks: {}", s.name, s.claim, s.invariants.join(", ")));
    }
    Exit::Passed
}
