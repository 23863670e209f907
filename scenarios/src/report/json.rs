//! Messages for programs: one JSON object a line, each with a `type`. Fields that depend on the machine, the clock or
//! earlier runs are `seconds`, `steps_per_second`, `depth`, `run`, `folder` and `known`; all others are equal for equal runs.

use std::path::Path;

use serde_json::{Value, json};

use super::coverage;
use super::failure_file::{Found, steps};
use crate::campaign::Exit;
use crate::campaign::runner::Row;
use crate::scenario::Scenario;

/// Version of the messages, in the first of each command.
pub const VERSION: u32 = 1;

/// A scenario in the list.
#[must_use]
pub fn scenario(s: &Scenario) -> Value {
    let finds: Vec<Value> =
        s.finds.iter().map(|(bug, runs)| json!({ "planted": bug.name(), "budget": runs })).collect();
    json!({
        "name": s.name,
        "claim": s.claim,
        "invariants": s.invariants,
        "expected": s.expected.to_string(),
        "finds": finds,
        "weight": s.weight,
        "draws": s.draws,
        "exhaustive": s.exhaustive,
        "max_steps": s.max_steps,
        "faults": { "spurious_wakeups": s.faults.spurious_wakeups, "weak_cas_failures": s.faults.weak_cas_failures },
    })
}

/// What a campaign showed of one scenario.
#[must_use]
pub fn row(row: &Row) -> Value {
    let report = &row.report;
    json!({
        "type": "scenario",
        "scenario": row.subject.scenario.name,
        "planted": row.subject.planted.map(|bug| bug.name()),
        "strategy": row.strategy.to_string(),
        "interleavings": report.executions,
        "steps": report.steps,
        "distinct": report.distinct,
        "distinct_is_exact": report.distinct_is_exact,
        "coverage": coverage::json(&report.coverage),
        "complete": report.complete,
        "conflicts": row.conflicts,
        "fired": report.fired,
        "failures": report.failures.len(),
        "verdict": row.verdict.word(),
        "reasons": row.verdict.reasons(),
        "exit": row.verdict.exit().code(),
        "seconds": row.elapsed.as_secs_f64(),
        "steps_per_second": row.steps_per_second(),
    })
}

/// A failure.
#[must_use]
pub fn failure(found: &Found<'_>, folder: Option<&Path>, known: Option<&Path>) -> Value {
    let f = found.failure;
    json!({
        "type": "failure",
        "scenario": found.scenario,
        "planted": found.planted.map(|bug| bug.name()),
        "signature": f.signature(),
        "headline": f.kind.headline(),
        "details": f.kind.details(),
        "seed": f.seed,
        "times": found.times,
        "searched": found.searched,
        "strategy": f.strategy,
        "preemptions": f.trace.preemptions(),
        "steps": steps(&f.trace),
        "token": f.token,
        "exit": Exit::of(&f.kind).code(),
        "folder": folder,
        "known": known,
    })
}
