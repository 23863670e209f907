//! A failure is found, stored, and replayed byte for byte.

mod cli_fixture;

use std::fs;

use cli_fixture::{Call, Place};

fn planted(place: &Place) -> Call {
    place.call(&["run", "ledger.add_tx_against_add_block", "--plant", "check-then-act", "--seeds", "1000"])
}

// U12: found by `run`, its printed line pasted.
#[test]
fn the_printed_line_replays_byte_equal() {
    let place = Place::new();
    let found = planted(&place);
    assert_eq!(found.exit, 1, "{}{}", found.stdout, found.stderr);
    let line = found.field("replay");
    assert!(line.contains(" replay il1:ledger.") && line.contains("+check-then-act:"), "{line}");
    let token = line.split(" replay ").nth(1).unwrap();
    let again = place.call(&["replay", token, "--trace", "again.jsonl"]);
    assert_eq!(again.exit, 1, "{}{}", again.stdout, again.stderr);
    assert!(again.stderr.contains("byte-equal") && again.stderr.contains("Reproduced"), "{}", again.stderr);
    let stored = fs::read(place.path().join(found.field("files")).join("trace.jsonl")).unwrap();
    assert_eq!(fs::read(place.path().join("again.jsonl")).unwrap(), stored);
    // A column per thread.
    let header = again.stdout.lines().next().unwrap();
    assert!(header.trim_start().starts_with("step  main") && header.split_whitespace().count() >= 3, "{header}");
}

#[test]
fn a_failure_is_replayed_from_its_files() {
    let place = Place::new();
    assert_eq!(place.call(&["run", "fixture.canary", "--seeds", "50"]).exit, 1);
    let folder = place.failure();
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let file: toml::Table = toml::from_str(&text("failure.toml")).unwrap();
    assert_eq!(file["format"].as_integer(), Some(1));
    assert_eq!(file["signature"].as_str(), Some("fixture.sum/an-addition-is-lost"));
    let choices = text("choices.log");
    assert!(choices.starts_with("# interleaf-choices 1 ") && choices.contains("\tlock\tSum\t"), "{choices}");
    fs::write(place.path().join("token"), file["token"].as_str().unwrap()).unwrap();
    for what in [folder.to_str().unwrap(), folder.join("failure.toml").to_str().unwrap(), "token"] {
        let call = place.call(&["replay", what]);
        assert_eq!((call.exit, call.stderr.contains("Reproduced")), (1, true), "{}", call.stderr);
    }
    fs::write(folder.join("trace.jsonl"), format!("{}\n", text("trace.jsonl").lines().next().unwrap())).unwrap();
    let differs = place.call(&["replay", folder.to_str().unwrap()]);
    assert!(differs.stderr.contains("first in line 2"), "{}", differs.stderr);
    assert!(differs.stderr.contains("Reproduced, but the trace differs: fixture.sum/"), "{}", differs.stderr);
    assert!(differs.stderr.contains("stored (the end)") && differs.exit == 1, "{}", differs.stderr);
}

#[test]
fn a_folder_that_contradicts_itself_is_bad_input() {
    let place = Place::new();
    assert_eq!(place.call(&["run", "fixture.canary", "--seeds", "50"]).exit, 1);
    let folder = place.failure();
    let path = folder.join("failure.toml");
    let intact: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let refused = |expected: &str| {
        let call = place.call(&["replay", folder.to_str().unwrap()]);
        assert_eq!(call.exit, 2, "{expected}: {}", call.stderr);
        assert!(call.stderr.contains(expected) && !call.stderr.contains("Replaying"), "{expected}: {}", call.stderr);
    };
    for (field, other) in [
        ("scenario", toml::Value::from("fixture.passes")),
        ("planted", "check-then-act".into()),
        ("seed", 49_999.into()),
    ] {
        let mut file = intact.clone();
        file.insert(field.into(), other);
        fs::write(&path, toml::to_string(&file).unwrap()).unwrap();
        refused(&format!("failure.toml: {field}: found `"));
    }
    fs::write(&path, toml::to_string(&intact).unwrap()).unwrap();
    fs::write(folder.join("trace.jsonl"), b"\xff").unwrap();
    refused("trace.jsonl: the stored trace cannot be read: is not UTF-8");
    fs::remove_file(folder.join("trace.jsonl")).unwrap();
    fs::create_dir(folder.join("trace.jsonl")).unwrap();
    refused("trace.jsonl: the stored trace cannot be read: ");
}

#[test]
fn what_does_not_fail_any_more_is_0() {
    let place = Place::new();
    let found = planted(&place);
    let token = found.field("replay").split(" replay ").nth(1).unwrap().to_owned();
    // The same decisions without the bug. The name is part of the checksum, so the token is made again.
    let explorer = interleaf::Explorer::new().name("fixture.passes").seeds(0..1);
    let report = explorer.run(|| panic!("at once"));
    let call = place.call(&["replay", &report.failures[0].token]);
    assert_eq!(call.exit, 0, "{}", call.stderr);
    assert!(call.stderr.contains("does not fail any more"), "{}", call.stderr);
    assert_eq!(place.call(&["replay", &token.replace("+check-then-act", "")]).exit, 2);
}

// A token whose decisions do not fit any more: the labelled choices beside it still find the failure.
#[test]
fn labelled_choices_outlive_the_token() {
    let place = Place::new();
    assert_eq!(place.call(&["run", "fixture.canary", "--seeds", "50"]).exit, 1);
    let path = place.failure().join("failure.toml");
    let without_deviations = interleaf::Explorer::new().name("fixture.canary").seeds(0..1).run(|| panic!("at once"));
    let mut file: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    file.insert("token".into(), without_deviations.failures[0].token.clone().into());
    file.insert("seed".into(), 0.into());
    fs::write(&path, toml::to_string(&file).unwrap()).unwrap();
    let call = place.call(&["replay", path.to_str().unwrap()]);
    assert_eq!(call.exit, 1, "{}", call.stderr);
    assert!(call.stderr.contains("following the labelled choices"), "{}", call.stderr);
    assert!(call.stderr.contains("Reproduced fixture.sum/an-addition-is-lost"), "{}", call.stderr);
}

#[test]
fn a_failure_is_known_the_second_time() {
    let place = Place::new();
    let arguments = ["run", "fixture.canary", "--seeds", "50"];
    assert!(place.call(&arguments).field("known").starts_with("no:"));
    assert!(place.call(&arguments).field("known").starts_with("yes: target/interleaf/000001/failures/"));
}

// N8: a scheduler that differs is found, and its token says which block, policy and workers.
#[test]
fn a_difference_between_schedulers_replays() {
    let place = Place::new();
    let equiv = ["equiv", "--generate", "random:8:60%", "--workers", "2..3", "--seeds", "200"];
    let policies = ["--policies", "ready-queue:fifo:per-tx,wave"];
    let clean = place.call(&[&equiv[..], &policies].concat());
    assert_eq!(clean.exit, 0, "{}{}", clean.stdout, clean.stderr);
    assert!(clean.stdout.contains("conflicts met: "), "{}", clean.stdout);
    let found = place.call(&[&equiv[..], &policies, &["--plant", "ready-before-publish"]].concat());
    assert_eq!(found.exit, 1, "{}{}", found.stdout, found.stderr);
    let again = place.call(&["replay", found.field("replay").split(" replay ").nth(1).unwrap()]);
    assert_eq!(again.exit, 1, "{}", again.stderr);
    assert!(again.stderr.contains("byte-equal"), "{}", again.stderr);
}
