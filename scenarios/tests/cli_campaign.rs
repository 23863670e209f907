//! Campaigns end cleanly, leave whole files, and the self-test tests the tests.
#![allow(clippy::disallowed_methods, reason = "waits for a process")]

mod cli_fixture;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cli_fixture::Place;
use serde_json::Value;

fn run_json(place: &Place) -> Value {
    serde_json::from_str(&fs::read_to_string(place.latest().join("run.json")).unwrap()).unwrap()
}

#[test]
fn the_files_of_a_run() {
    let place = Place::new();
    let call = place.call(&["run", "fixture.canary", "fixture.passes", "--seeds", "3..60"]);
    assert_eq!(call.exit, 1, "{}", call.stderr);
    let run = run_json(&place);
    assert_eq!((run["state"].as_str(), run["exit"].as_u64()), (Some("finished"), Some(1)));
    assert_eq!(run["totals"]["scenarios"].as_u64(), Some(2));
    let seeds = fs::read_to_string(place.latest().join("seeds.jsonl")).unwrap();
    let lines: Vec<Value> = seeds.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|l| l["seeds"] == serde_json::json!([3, 60])).count(), 2);
    assert_eq!(lines.iter().filter(|l| l["signature"] == "fixture.sum/an-addition-is-lost").count(), 1);
    let summary = fs::read_to_string(place.latest().join("summary.md")).unwrap();
    assert!(summary.contains("| fixture.passes | 57 |") && summary.contains("interleaf replay il1:"), "{summary}");
    assert!(summary.contains("## Coverage") && summary.contains("| fixture.passes | urw | 19 |"), "{summary}");
    let passes = run["scenarios"].as_array().unwrap().iter().find(|s| s["scenario"] == "fixture.passes").unwrap();
    let coverage = passes["coverage"].as_array().unwrap();
    let runs: Vec<_> =
        coverage.iter().map(|c| (c["strategy"].as_str().unwrap(), c["runs"].as_u64().unwrap())).collect();
    assert_eq!(runs, [("pct:2", 19), ("pos", 19), ("urw", 19)]);
}

#[test]
fn coverage_is_shown_in_short_and_on_request_in_full() {
    let place = Place::new();
    let run = |more: &[&str]| place.call(&[&["run", "fixture.passes", "--seeds", "90"], more].concat()).stdout;
    let short = run(&[]);
    assert!(short.contains("next is new") && !short.contains("seen once"), "{short}");
    let full = run(&["--verbose"]);
    assert!(full.contains("seen once"), "{full}");
    let lines: Vec<&str> = full.lines().filter(|line| line.contains(" to ")).collect();
    assert_eq!(lines.len(), 3, "one for each strategy: {full}");
    assert!(lines.iter().zip(["pct:2", "pos", "urw"]).all(|(line, name)| line.contains(name)), "{full}");
    // A search is no sample.
    let search = run(&["--verbose", "--strategy", "dfs"]);
    assert!(search.contains("seen once") && !search.contains(" to "), "{search}");
}

#[test]
fn a_budget_ends_a_campaign() {
    let place = Place::new();
    let start = Instant::now();
    let call = place.call(&["run", "fixture.passes", "--budget", "300ms"]);
    assert_eq!(call.exit, 0, "{}", call.stderr);
    assert!(call.stderr.contains("the budget was spent"), "{}", call.stderr);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(run_json(&place)["totals"]["stopped"], "budget");
}

/// Starts a campaign that would last for days, sends an interrupt when it runs, and gives exit code and output.
#[cfg(unix)]
fn interrupted(place: &Place, signal: &str, filters: &[&str]) -> (i32, String) {
    let arguments = [&["run", "--seeds", "1000000000000"], filters].concat();
    let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !place.latest().join("run.json").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(child.kill());
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_campaign_with_its_summary() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::new();
        let (exit, text) = interrupted(&place, signal, &["fixture.passes"]);
        assert_eq!(exit, 8, "{signal}: {text}");
        assert!(text.contains("Interrupted") && text.contains("total of 1"), "{text}");
        let run = run_json(&place);
        assert_eq!((run["state"].as_str(), run["totals"]["stopped"].as_str()), (Some("finished"), Some("interrupted")));
        assert!(run["totals"]["interleavings"].as_u64() > Some(0));
    }
}

#[cfg(unix)]
#[test]
fn a_failure_outweighs_an_interrupt() {
    let place = Place::new();
    let (exit, text) = interrupted(&place, "-INT", &["fixture.canary", "fixture.passes"]);
    assert_eq!(exit, 1, "{text}");
    assert!(place.failure().join("failure.toml").exists());
}

#[test]
fn the_selftest_passes() {
    let call = Place::new().call(&["selftest", "--interleavings", "2000"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    assert!(call.stdout.contains("fixture.canary") && call.stdout.contains("+check-then-act"), "{}", call.stdout);
}

// A comparison that is interrupted says so, and says nothing of what it did not come to.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_comparison() {
    let place = Place::new();
    let arguments = ["equiv", "--generate", "random:40:50%", "--workers", "2", "--seeds", "1000000000"];
    let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(child.kill());
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(8), "{stdout}{stderr}");
    assert!(stderr.contains(" Interrupted ") && stdout.contains(": interrupted"), "{stdout}{stderr}");
    assert!(!stdout.contains(" =  ") && stdout.contains(" ?  "), "a part equals nothing: {stdout}");
}
