//! Equal seeds give equal output in different processes and with different numbers of jobs.

mod cli_fixture;

use cli_fixture::Place;
use serde_json::Value;

/// Fields that depend on the clock, the machine or earlier runs: see docs/src/file-formats.md.
const VOLATILE: [&str; 5] = ["seconds", "steps_per_second", "run", "folder", "known"];

fn steady(mut messages: Vec<Value>) -> Vec<Value> {
    for message in &mut messages {
        let object = message.as_object_mut().unwrap();
        object.retain(|key, _| !VOLATILE.contains(&key.as_str()));
    }
    messages
}

/// Messages and trace of a campaign.
fn run(more: &[&str]) -> (Vec<Value>, String) {
    let place = Place::new();
    let arguments = [&["run", "--seeds", "0..200", "--message-format", "json"], more].concat();
    let call = place.call(&arguments);
    assert!(call.stderr.is_empty(), "{}", call.stderr);
    let failures = place.latest().join("failures");
    let trace = match failures.is_dir() {
        true => std::fs::read_to_string(place.failure().join("trace.jsonl")).unwrap(),
        false => String::new(),
    };
    (steady(call.messages()), trace)
}

#[test]
fn two_processes_give_the_same() {
    for filter in [&["ledger.", "fixture.passes"][..], &["fixture.canary", "--max-failures", "3"]] {
        let (first, trace) = run(filter);
        assert!(first.len() > 2);
        assert_eq!((first, trace), run(filter));
    }
}

#[test]
fn the_number_of_jobs_does_not_matter() {
    for filter in [&["ledger.add_tx", "fixture.passes"][..], &["fixture.canary", "--max-failures", "3"]] {
        let jobs = |n| {
            let (mut messages, trace) = run(&[filter, &["--jobs", n]].concat());
            assert_eq!(messages[0]["jobs"].take().to_string(), n);
            (messages, trace)
        };
        assert_eq!(jobs("1"), jobs("2"));
    }
}

#[test]
fn list_is_json_too() {
    let messages = Place::new().call(&["list", "--message-format", "json"]).messages();
    let scenarios = messages[0]["scenarios"].as_array().unwrap();
    assert!(!scenarios.is_empty());
    let named = |s: &Value| s["name"].is_string() && !s["name"].as_str().unwrap().starts_with("fixture");
    assert!(scenarios.iter().all(named));
}
