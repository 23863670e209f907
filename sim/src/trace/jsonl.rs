//! The trace as JSON Lines: a header line, then one event a line. Equal runs give equal bytes.

use serde::Serialize;

use super::{Trace, verb};

/// Version of the format, in the header line.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    version: u32,
    threads: &'a [String],
    objects: Vec<Object<'a>>,
}

#[derive(Serialize)]
struct Object<'a> {
    id: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    created: String,
}

#[derive(Serialize)]
struct Line<'a> {
    step: u64,
    time_ns: u128,
    thread: &'a str,
    op: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<&'a str>,
    at: String,
}

/// Renders a trace. The last line ends with a line feed.
#[must_use]
pub fn render(trace: &Trace) -> String {
    let head = Head {
        format: "interleaf-trace",
        version: VERSION,
        threads: &trace.threads,
        objects: trace
            .objects
            .iter()
            .enumerate()
            .map(|(id, o)| Object { id, name: o.name, created: o.created.to_string() })
            .collect(),
    };
    let mut out = line(&head);
    for (i, e) in trace.events.iter().enumerate() {
        out.push_str(&line(&Line {
            step: e.step,
            time_ns: e.time.as_nanos(),
            thread: trace.thread_label(e.thread),
            op: if e.note.is_some() { "note" } else { verb(e.kind) },
            object: e.object,
            ok: (!e.success).then_some(false),
            note: e.note.as_deref(),
            stale: trace.stale.iter().find(|s| s.event == i).map(|s| s.why.as_str()),
            at: e.location.to_string(),
        }));
    }
    out
}

fn line(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    text.push('\n');
    text
}
