//! The labelled choice log: a failing run in text, one scheduling step a line.
//!
//! Seeds and slot numbers die when the code changes; *who does what next* mostly does not. A line names the thread by
//! its place in the tree of threads (or its own name) and the operation by kind, object name and place (the columns are
//! separated by tabs, drawn as bars here):
//!
//! ```text
//! # interleaf-choices 1 seed=17 max_steps=200000 every_operation=0 spurious=0 weak=0 idle=0
//! main/0 | lock | Chain | src/chain.rs:52:31
//! main/1 | choose | 1 | src/pool.rs:9:14
//! ```
//!
//! [`crate::replay_choices`] follows such a log also after unrelated changes of the program.

use std::fmt::Write as _;

use crate::memory::MemoryModel;
use crate::runtime::rt::{Apart, Settings};

use super::{Trace, verb};

const MAGIC: &str = "# interleaf-choices 1";

/// One step: which thread did what, where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Name of the thread.
    pub thread: String,
    /// The operation, in the words of the trace; `choose` for the choice of a value.
    pub operation: String,
    /// Name of the object, empty if it has none; the value, for `choose`.
    pub object: String,
    /// Source file.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// Column in that.
    pub column: u32,
}

/// A labelled choice log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceLog {
    /// Seed of the run, for its other streams of chance.
    pub seed: u64,
    pub(crate) settings: Settings,
    /// The steps, in order.
    pub choices: Vec<Choice>,
}

/// A text that is no choice log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("choice log, line {line}: expected {expected}, got `{got}`")]
pub struct ChoiceLogError {
    /// Line number, from 1.
    pub line: usize,
    /// What should have been there.
    pub expected: &'static str,
    /// The start of what was there.
    pub got: String,
}

impl ChoiceLog {
    pub(crate) fn of(seed: u64, settings: Settings, trace: &Trace) -> Self {
        let choices = trace
            .decisions
            .iter()
            .map(|d| Choice {
                thread: trace.thread_label(d.thread).to_owned(),
                operation: verb(d.kind).to_owned(),
                object: if d.data {
                    d.chosen.to_string()
                } else {
                    d.object.and_then(|o| trace.objects.get(o as usize)).map_or_else(String::new, |o| o.name.to_owned())
                },
                file: d.location.file().to_owned(),
                line: d.location.line(),
                column: d.location.column(),
            })
            .collect();
        Self { seed, settings, choices }
    }

    /// The log as text.
    #[must_use]
    pub fn render(&self) -> String {
        let s = &self.settings;
        let mut out = format!(
            "{MAGIC} seed={} max_steps={} every_operation={} spurious={} weak={} idle={}{}{}{}{}{}\n",
            self.seed,
            s.max_steps,
            u8::from(s.every_operation),
            s.spurious_wakeups,
            s.weak_cas_failures,
            u8::from(s.time_when_idle),
            if s.whole_deadlocks { " whole=1" } else { "" },
            if s.queues { "" } else { " queues=0" },
            if s.steps_apart.ends { " ends=1" } else { "" },
            if s.steps_apart.queues { " writers=1" } else { "" },
            if s.memory_model == MemoryModel::Sc { String::new() } else { format!(" memory={}", s.memory_model) }
        );
        for c in &self.choices {
            let _ = writeln!(out, "{}\t{}\t{}\t{}:{}:{}", c.thread, c.operation, c.object, c.file, c.line, c.column);
        }
        out
    }

    /// Reads a log.
    ///
    /// # Errors
    /// The first line that is malformed, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, ChoiceLogError> {
        let mut lines = text.lines().zip(1..);
        let (head, _) = lines.next().unwrap_or(("", 1));
        let (seed, settings) = header(head).ok_or_else(|| error(1, "a header of version 1", head))?;
        let choices = lines
            .filter(|(line, _)| !line.is_empty())
            .map(|(line, number)| {
                choice(line).ok_or_else(|| error(number, "thread, operation, object and file:line:column", line))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { seed, settings, choices })
    }
}

fn error(line: usize, expected: &'static str, got: &str) -> ChoiceLogError {
    ChoiceLogError { line, expected, got: got.chars().take(60).collect() }
}

fn header(line: &str) -> Option<(u64, Settings)> {
    let mut fields = line.strip_prefix(MAGIC)?.split_whitespace();
    let mut field = |name: &str| fields.next()?.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok();
    let seed = field("seed")?;
    let mut settings = Settings {
        max_steps: u32::try_from(field("max_steps")?).ok()?,
        every_operation: field("every_operation")? == 1,
        spurious_wakeups: u32::try_from(field("spurious")?).ok()?,
        weak_cas_failures: u32::try_from(field("weak")?).ok()?,
        time_when_idle: field("idle")? == 1,
        whole_deadlocks: false,
        queues: true,
        steps_apart: Apart::default(),
        memory_model: MemoryModel::Sc,
    };
    // What follows is there only if it is not as usual.
    for field in fields {
        match field.split_once('=')? {
            ("whole", "1") => settings.whole_deadlocks = true,
            ("queues", "0") => settings.queues = false,
            ("ends", "1") => settings.steps_apart.ends = true,
            ("writers", "1") => settings.steps_apart.queues = true,
            ("memory", model) => settings.memory_model = model.parse().ok()?,
            _ => return None,
        }
    }
    Some((seed, settings))
}

fn choice(line: &str) -> Option<Choice> {
    let mut fields = line.split('\t');
    let (thread, operation, object, place) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let mut place = place.rsplitn(3, ':');
    let (column, line, file) = (place.next()?.parse().ok()?, place.next()?.parse().ok()?, place.next()?.to_owned());
    let (thread, operation, object) = (thread.to_owned(), operation.to_owned(), object.to_owned());
    fields.next().is_none().then_some(Choice { thread, operation, object, file, line, column })
}
