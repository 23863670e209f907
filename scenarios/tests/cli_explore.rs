//! Every interleaving of a scenario: to the end, in sessions, in parts, until a failure.
#![allow(clippy::disallowed_methods, reason = "waits for a process")]

mod cli_fixture;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cli_fixture::Place;
use serde_json::Value;

const SMALL: &str = "ledger.clean_up_after_a_block";
const ALL: u64 = 516;

/// The last message of an exploration.
fn end(place: &Place, arguments: &[&str]) -> (i32, Value) {
    let call = place.call(&[&["explore"], arguments, &["--json"]].concat());
    let messages = call.messages();
    assert_eq!(messages[0]["type"], "explore", "{}{}", call.stdout, call.stderr);
    (call.exit, messages.last().unwrap().clone())
}

fn total(end: &Value, what: &str) -> u64 {
    end["totals"][what].as_u64().unwrap()
}

#[test]
fn all_interleavings_are_run_once_whatever_the_number_of_jobs() {
    let place = Place::new();
    let call = place.call(&["explore", SMALL, "--jobs", "1"]);
    assert_eq!(call.exit, 0, "{}", call.stderr);
    assert!(call.stdout.contains(&format!("{SMALL}: all {ALL} distinguishable interleavings hold")), "{}", call.stdout);
    assert!(
        call.stderr.contains("Estimate about ") && call.stderr.contains("every interleaving holds"),
        "{}",
        call.stderr
    );
    assert!(!place.latest().join("exploration.json").exists());
    let run: Value = serde_json::from_str(&fs::read_to_string(place.latest().join("run.json")).unwrap()).unwrap();
    assert_eq!((run["state"].as_str(), run["totals"]["interleavings"].as_u64()), (Some("finished"), Some(ALL)));
    let totals = |jobs| end(&place, &[SMALL, "--jobs", jobs]).1["totals"].clone();
    let (one, three) = (totals("1"), totals("3"));
    for what in ["interleavings", "steps", "redundant", "probes", "estimate", "sessions"] {
        assert_eq!(one[what], three[what], "{what}");
    }
}

#[test]
fn a_part_of_the_name_is_enough() {
    let place = Place::new();
    assert_eq!(end(&place, &["clean_up_after"]).0, 0);
    // The name of one that begins the name of another.
    let (exit, end) = end(&place, &["ledger.add_tx_against_add_block", "--max", "5", "--estimate", "0"]);
    assert_eq!((exit, total(&end, "interleavings"), end["totals"]["estimate"].is_null()), (8, 5, true));
}

// What one seed draws is not what another does: the claim says which.
#[test]
fn a_scenario_that_draws_is_explored_for_one_seed() {
    let place = Place::new();
    let name = "scheduler.successors_see_their_parents_outputs";
    let call = place.call(&["explore", name, "--seed", "7", "--max", "5", "--save", "left.json"]);
    assert!(call.stdout.contains(&format!("{name}, drawn from seed 7: 5 distinguishable")), "{}", call.stdout);
    let (exit, goes_on) = end(&place, &[name, "--resume", "left.json", "--max", "5"]);
    assert_eq!((exit, total(&goes_on, "interleavings")), (8, 10));
    // The seed is saved: without `--seed` it is that of the file.
    let resumed = place.call(&["explore", name, "--resume", "left.json", "--max", "5", "--json"]).messages();
    assert_eq!(resumed[0]["seed"].as_u64(), Some(7));
    let planted = ["explore", name, "--seed", "7", "--plant", "ready-before-publish", "--json"];
    let failure = place.call(&planted).messages().into_iter().find(|m| m["type"] == "failure").unwrap();
    assert_eq!(failure["seed"].as_u64(), Some(7));
    let found = place.call(&["explore", name, "--seed", "7", "--plant", "ready-before-publish"]);
    assert_eq!(found.exit, 1, "{}{}", found.stdout, found.stderr);
    let again = place.call(&["replay", found.field("replay").split(" replay ").nth(1).unwrap()]);
    assert!(again.exit == 1 && again.stderr.contains("byte-equal"), "{}", again.stderr);
}

#[test]
fn bounds_leave_interleavings_out_and_can_be_gone_on_with() {
    let place = Place::new();
    let runs = |arguments: &[&str]| {
        let (exit, end) = end(&place, &[&[SMALL], arguments].concat());
        (exit, total(&end, "interleavings"))
    };
    let none = runs(&["--preemptions", "0"]);
    let one = runs(&["--preemptions", "1"]);
    assert!(none.0 == 0 && one.0 == 0 && 0 < none.1 && none.1 < one.1 && one.1 < ALL, "{none:?} {one:?}");
    assert_eq!(runs(&["--preemptions", "1", "--iterative"]), one);
    assert_eq!(runs(&["--preemptions", "20", "--iterative"]), (0, ALL));
    let call = place.call(&["explore", SMALL, "--preemptions", "1", "--max", "9", "--save", "left.json"]);
    assert!(
        call.stdout.contains(" distinguishable interleavings with at most 1 preemption hold, but they are not all"),
        "{}",
        call.stdout
    );
    assert_eq!(runs(&["--resume", "left.json"]), one);
    let arguments = ["--preemptions", "1", "--iterative", "--max", "9", "--save", "turn.json"];
    assert_eq!(runs(&arguments).0, 8);
    assert_eq!(runs(&["--resume", "turn.json"]), one);
    assert_eq!(runs(&["--resume", "turn.json", "--preemptions", "1", "--iterative"]), one);
}

#[test]
fn sessions_add_up() {
    let place = Place::new();
    let whole = end(&place, &[SMALL]).1;
    let call = place.call(&["explore", SMALL, "--max", "200", "--save", "left.json"]);
    assert_eq!(call.exit, 8, "{}", call.stderr);
    assert!(call.stdout.contains("200 distinguishable interleavings hold, but they are not all: --max was reached"));
    assert!(call.stderr.contains("Unfinished 200 interleavings"), "{}", call.stderr);
    // The printed line goes on.
    let line = call.field("go on").split(" explore ").nth(1).unwrap().to_owned();
    let mut arguments: Vec<&str> = line.split(' ').collect();
    assert_eq!(arguments, [SMALL, "--resume", "left.json", "--save", "left.json"]);
    arguments.extend(["--max", "150", "--jobs", "2"]);
    let mut sessions = 1;
    let last = loop {
        let (exit, end) = end(&place, &arguments);
        sessions += 1;
        assert!(sessions < 10 && total(&end, "sessions") == sessions);
        if exit != 8 {
            assert_eq!(exit, 0, "{end}");
            break end;
        }
    };
    assert_eq!((sessions, last["complete"].as_bool(), last["interleavings"].as_u64()), (4, Some(true), Some(16)));
    for what in ["interleavings", "steps", "redundant"] {
        assert_eq!(total(&last, what), total(&whole, what), "{what}");
    }
    assert_eq!(last["totals"]["estimate"], whole["totals"]["estimate"], "that of the first session");
}

#[test]
fn parts_add_up() {
    let place = Place::new();
    let whole = end(&place, &[SMALL]).1;
    let call = place.call(&["explore", SMALL, "--max", "100", "--save", "left.json", "--split", "3"]);
    assert_eq!(call.exit, 8, "{}", call.stderr);
    assert!(call.stdout.contains("--resume left.3-of-3.json --save left.3-of-3.json"), "{}", call.stdout);
    assert!(!place.path().join("left.json").exists());
    let (mut interleavings, mut steps) = (0, 0);
    for part in ["left.1-of-3.json", "left.2-of-3.json", "left.3-of-3.json"] {
        let (exit, end) = end(&place, &[SMALL, "--resume", part]);
        assert_eq!((exit, end["part"]["of"].as_u64()), (0, Some(3)), "{part}: {end}");
        interleavings += total(&end, "interleavings");
        steps += total(&end, "steps");
    }
    assert_eq!((interleavings, steps), (ALL, total(&whole, "steps")));
    // Dividing alone explores nothing.
    let call = place.call(&["explore", SMALL, "--resume", "left.2-of-3.json", "--max", "0", "--split", "2"]);
    assert_eq!(call.exit, 8, "{}", call.stderr);
    assert!(call.stderr.contains("Unfinished 0 interleavings"), "{}", call.stderr);
    assert!(place.latest().join("exploration.2-of-2.json").exists());
}

#[test]
fn the_first_failure_is_shown_stored_and_replayed() {
    let place = Place::new();
    let found = place.call(&["explore", "ledger.add_tx_against_add_block", "--plant", "check-then-act", "--jobs", "1"]);
    assert_eq!(found.exit, 1, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("FAIL ledger.no_double_spend/"), "{}", found.stdout);
    assert!(found.field("found").contains("(exhaustive)") && !found.stdout.contains("seed 0"), "{}", found.stdout);
    let token = found.field("replay").split(" replay ").nth(1).unwrap();
    let again = place.call(&["replay", token]);
    assert_eq!(again.exit, 1, "{}", again.stderr);
    assert!(again.stderr.contains("byte-equal") && again.stderr.contains("Reproduced"), "{}", again.stderr);
    // One can go on behind it, and what failed stays failed.
    let left = place.path().join("target/interleaf/000001/exploration.json");
    let arguments =
        ["ledger.add_tx_against_add_block", "--plant", "check-then-act", "--resume", left.to_str().unwrap()];
    let (exit, end) = end(&place, &[&arguments[..], &["--max", "1"]].concat());
    assert_eq!(exit, 1, "{end}");
    assert!(total(&end, "failures") >= 1 && total(&end, "sessions") == 2, "{end}");
}

#[test]
fn all_failures_of_one_cause_are_one() {
    let place = Place::new();
    let call = place.call(&["explore", "fixture.canary", "--max-failures", "100"]);
    assert_eq!(call.exit, 1, "{}", call.stderr);
    assert!(call.field("found").ends_with("4 failing interleavings in all"), "{}", call.stdout);
    assert!(
        call.stdout.contains("4 failures in 6 distinguishable interleavings; a run that fails ends there"),
        "{}",
        call.stdout
    );
    assert!(place.failure().join("failure.toml").exists());
}

#[test]
fn exit_codes_are_those_of_run() {
    let place = Place::new();
    for (arguments, exit, text) in [
        (&["fixture.passes"][..], 0, "all 2 distinguishable interleavings hold"),
        (&["negative.check_then_act_in_user_code"], 0, "breaks, as it must"),
        (&["fixture.deadlocks"], 3, "FAIL deadlock/first+second"),
        (&["no-such-scenario"], 4, "selects no scenario"),
        (&["fixture.nondeterministic"], 5, "no count means anything"),
        (&["fixture.panics"], 6, "the fixture panics"),
        (&["fixture.no-conflicts"], 7, "no conflict met"),
        (&["fixture.tame"], 7, "must break fixture.sum"),
        (&["fixture.silent-fault"], 7, "never fired"),
        (&["fixture.passes", "--plant", "check-then-act"], 7, "check-then-act was not found"),
        (&["fixture.endless"], 8, "not finished after 1000 steps"),
        (&["ledger.two_addresses_want_one_output", "--budget", "200ms"], 8, "not all: the budget was spent"),
    ] {
        let call = place.call(&[&["explore"], arguments].concat());
        assert_eq!(call.exit, exit, "{arguments:?}: {}{}", call.stdout, call.stderr);
        assert!(
            call.stdout.contains(text) || call.stderr.contains(text),
            "{arguments:?}: {}{}",
            call.stdout,
            call.stderr
        );
    }
}

#[test]
fn bad_input_says_what_was_expected() {
    let place = Place::new();
    assert_eq!(place.call(&["explore", SMALL, "--max", "9", "--save", "left.json"]).exit, 8);
    let text = fs::read_to_string(place.path().join("left.json")).unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("cut.json", &text[..text.len() - 9]);
    write("damaged.json", &text.replacen("\"interleavings\":9", "\"interleavings\":8", 1));
    write("newer.json", &text.replacen("\"version\":1", "\"version\":2", 1));
    write("other.json", "{\"format\":\"interleaf-trace\",\"version\":1}");
    let cases: &[(&[&str], &str)] = &[
        (&["ledger"], "expected the name of one, found `ledger`, which is in 17 names"),
        (&[SMALL, "--max", "many"], "invalid value 'many' for '--max <N>'"),
        (&[SMALL, "--preemptions", "few"], "invalid value 'few' for '--preemptions <K>'"),
        (&[SMALL, "--iterative"], "--preemptions <K>"),
        (
            &[SMALL, "--preemptions", "2", "--resume", "left.json"],
            "bound: expected `exhaustive:2`, found an exploration by `exhaustive`",
        ),
        (&[SMALL, "--split", "1"], "1 is not in 2..=4096"),
        (&[SMALL, "--budget", "30"], "such as `30s`"),
        (&[SMALL, "--resume", "nowhere.json"], "nowhere.json: cannot be read"),
        (&[SMALL, "--resume", "cut.json"], "cut.json: EOF while parsing"),
        (&[SMALL, "--resume", "damaged.json"], "damaged.json: checksum: expected"),
        (&[SMALL, "--resume", "newer.json"], "newer.json: version 2: expected 1"),
        (&[SMALL, "--resume", "other.json"], "other.json: format: expected `interleaf-exploration`"),
        (&["fixture.passes", "--resume", "left.json"], "found an exploration of `ledger.clean_up_after_a_block`"),
        (&[SMALL, "--plant", "cleanup-order", "--resume", "left.json"], "expected `ledger.clean_up_after_a_block+"),
        (
            &[SMALL, "--seed", "7", "--resume", "left.json"],
            "left.json: seed: expected 7, found an exploration of seed 0",
        ),
        (&[SMALL, "--save", "no/such/folder.json"], "no/such/folder.json: cannot be written"),
    ];
    for (arguments, expected) in cases {
        let call = place.call(&[&["explore"], *arguments].concat());
        assert_eq!(call.exit, 2, "{arguments:?}: {}", call.stderr);
        assert!(call.stderr.contains(expected), "{arguments:?}: {}", call.stderr);
        assert!(!call.stderr.contains("panicked"), "{arguments:?}: {}", call.stderr);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_saves_what_is_left() {
    let place = Place::new();
    let name = "ledger.two_addresses_want_one_output";
    for signal in ["-INT", "-TERM"] {
        let arguments = ["explore", name, "--save", "left.json", "--estimate", "3"];
        let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        assert!(std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let deadline = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(child.kill());
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(8), "{stdout}{stderr}");
        assert!(stdout.contains("not all: interrupted") && stderr.contains(" Interrupted "), "{stdout}{stderr}");
        assert!(!place.path().join("left.json.unfinished").exists());
        let (exit, end) = end(&place, &[name, "--resume", "left.json", "--max", "10"]);
        assert_eq!((exit, total(&end, "sessions")), (8, 2), "{end}");
        assert!(total(&end, "interleavings") > 10, "{end}");
    }
}

#[test]
fn a_campaign_runs_all_interleavings_of_small_scenarios() {
    let place = Place::new();
    let call = place.call(&["run", SMALL]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    assert!(call.stdout.contains("  all 516  ") && call.stderr.contains("up to 516 interleavings"), "{}", call.stdout);
    let row = |arguments: &[&str]| {
        let messages = place.call(&[arguments, &["--json"]].concat()).messages();
        messages.into_iter().find(|m| m["type"] == "scenario").unwrap()
    };
    let one = row(&["run", SMALL, "--jobs", "1"]);
    let [strategy, complete, runs, distinct] =
        ["strategy", "complete", "interleavings", "distinct"].map(|k| one[k].clone());
    assert_eq!((strategy.as_str(), complete.as_bool()), (Some("exhaustive"), Some(true)));
    assert_eq!((runs.as_u64(), distinct.as_u64()), (Some(ALL), Some(ALL)));
    assert_eq!(one["conflicts"], row(&["run", SMALL, "--jobs", "3"])["conflicts"]);
    let lines = fs::read_to_string(place.latest().join("seeds.jsonl")).unwrap();
    assert!(lines.contains("\"exhaustive\":true") && lines.contains("\"seeds\":null"), "{lines}");
    // Who gives seeds, a strategy or a bug wants those.
    assert_eq!(row(&["run", SMALL, "--seeds", "30"])["interleavings"].as_u64(), Some(30));
    assert_eq!(row(&["run", SMALL, "--strategy", "random", "--budget", "50ms"])["strategy"], "random");
    assert_eq!(row(&["run", SMALL, "--plant", "cleanup-order"])["strategy"], "portfolio");
}

#[test]
fn another_number_of_interleavings_is_a_failed_gate() {
    let place = Place::new();
    for (fixture, why) in [
        ("fixture.overcounted", "expected 3 distinguishable interleavings, found 2"),
        ("fixture.undercounted", "expected 2 distinguishable interleavings, found more"),
    ] {
        let call = place.call(&["run", fixture]);
        assert_eq!(call.exit, 7, "{}", call.stderr);
        assert!(call.stderr.contains(why), "{}", call.stderr);
    }
    let call = place.call(&["run", "ledger.add_tx_against_add_block_and_roll_back", "--budget", "100ms"]);
    assert_eq!(call.exit, 8, "{}", call.stderr);
    assert!(call.stderr.contains("not all interleavings: the budget was spent"), "{}", call.stderr);
}

#[test]
fn programs_have_the_known_numbers_of_interleavings() {
    let place = Place::new();
    let call = place.call(&["selftest", "--programs"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    assert!(call.stdout.contains("store_buffering") && call.stderr.contains("each interleaving took one run"));
}

#[test]
fn a_program_with_another_number_is_a_failed_gate() {
    let place = Place::new();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    let body = "shared x y\nthread a\nstore x, 1\nr = load y\nthread b\nstore y, 1\nr = load x\n";
    write("sb.prog", &format!("#: distinct=3\n{body}"));
    assert_eq!(place.call(&["selftest", "--programs", "--dir", "."]).exit, 0);
    write("table", "# head\nsb distinct=4\n");
    let call = place.call(&["selftest", "--programs", "--dir", ".", "--table", "table"]);
    assert_eq!(call.exit, 7, "{}", call.stderr);
    assert!(
        call.stderr.contains("sb 3 runs, not 4") && call.stdout.contains("DIFFERS"),
        "{}{}",
        call.stdout,
        call.stderr
    );
    // A table in the folder is used without being named.
    write("published.txt", "sb distinct=4\n");
    assert_eq!(place.call(&["selftest", "--programs", "--dir", "."]).exit, 7);
    for (name, text, expected) in [
        ("published.txt", "sb distinct=4\nno distinct=1\n", "no.prog: cannot be read"),
        ("published.txt", "sb\n", "line 1: ``: expected `distinct=N`"),
        ("published.txt", "sb distinct=3 N=x\n", "N: expected a number, found `x`"),
        ("sb.prog", "#: distinct=1\nthread a\nfly\n", "program sb: fly: `fly` is not supported"),
    ] {
        write("published.txt", "sb distinct=3\n");
        write(name, text);
        let call = place.call(&["selftest", "--programs", "--dir", "."]);
        assert_eq!(call.exit, 2, "{text}: {}", call.stderr);
        assert!(call.stderr.contains(expected), "{text}: {}", call.stderr);
    }
    assert_eq!(place.call(&["selftest", "--programs", "--dir", "nowhere"]).exit, 2);
    assert_eq!(place.call(&["selftest", "--dir", "."]).exit, 2);
}

#[test]
fn under_rc11_what_cannot_be_done_is_refused() {
    let place = Place::new();
    for option in [&["--preemptions", "1"][..], &["--save", "left.json"], &["--estimate", "5"]] {
        let call = place.call(&[&["explore", SMALL, "--memory-model", "rc11"], option].concat());
        assert_eq!(call.exit, 2, "{option:?}: {}", call.stderr);
        assert!(
            call.stderr.contains("expected with --memory-model sc only, found --memory-model rc11"),
            "{}",
            call.stderr
        );
    }
    let call = place.call(&["explore", SMALL, "--memory-model", "tso"]);
    assert_eq!(call.exit, 2);
    assert!(call.stderr.contains("unknown memory model `tso`: expected sc or rc11"), "{}", call.stderr);
    // A scenario of objects that the search over graphs does not know says which.
    let call = place.call(&["explore", SMALL, "--memory-model", "rc11"]);
    assert_ne!(call.exit, 0, "{}", call.stdout);
    assert!(call.stdout.contains("rc11") || call.stderr.contains("rc11"), "{}{}", call.stdout, call.stderr);
}

#[test]
fn under_rc11_a_lost_update_is_found_and_replayed() {
    let place = Place::new();
    let call = place.call(&["explore", "negative.check_then_act_in_user_code", "--memory-model", "rc11"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    let call =
        place.call(&["run", "negative.check_then_act_in_user_code", "--seeds", "0..200", "--memory-model", "rc11"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
}

#[test]
fn a_failure_says_which_order_would_have_passed() {
    let place = Place::new();
    let call = place.call(&["explore", "fixture.deadlocks"]);
    assert_eq!(call.exit, 3, "{}{}", call.stdout, call.stderr);
    let line =
        call.stdout.lines().find(|line| line.starts_with("  passes  if ")).unwrap_or_else(|| panic!("{}", call.stdout));
    assert!(line.contains(" comes before "), "{line}");
}

#[test]
fn by_reads_from_classes_what_cannot_be_done_is_refused() {
    let place = Place::new();
    for option in [&["--preemptions", "1"][..], &["--save", "left.json"], &["--estimate", "5"]] {
        let call = place.call(&[&["explore", SMALL, "--equivalence", "reads-from"], option].concat());
        assert_eq!(call.exit, 2, "{option:?}: {}", call.stderr);
        let expected =
            format!("{}: expected with --equivalence traces only, found --equivalence reads-from", option[0]);
        assert!(call.stderr.contains(&expected), "{}", call.stderr);
    }
    let call = place.call(&["explore", SMALL, "--equivalence", "reads-from", "--memory-model", "rc11"]);
    assert_eq!(call.exit, 2);
    assert!(call.stderr.contains("--memory-model: expected sc with --equivalence reads-from"), "{}", call.stderr);
    let call = place.call(&["explore", SMALL, "--equivalence", "observers"]);
    assert_eq!(call.exit, 2);
    assert!(call.stderr.contains("expected traces or reads-from"), "{}", call.stderr);
    // A scenario of objects that this search does not know says which.
    let call = place.call(&["explore", SMALL, "--equivalence", "reads-from"]);
    assert_ne!(call.exit, 0, "{}", call.stdout);
    assert!(call.stdout.contains("reads-from equivalence knows"), "{}{}", call.stdout, call.stderr);
}

#[test]
fn by_reads_from_classes_a_lost_update_is_found() {
    let place = Place::new();
    let call = place.call(&["explore", "negative.check_then_act_in_user_code", "--equivalence", "reads-from"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    assert!(call.stderr.contains("all reads-from classes of negative.check_then_act_in_user_code"), "{}", call.stderr);
}
