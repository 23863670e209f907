//! `interleaf bench ledger`: a ledger on disk is filled, asked, opened again and the same; bad input leaves nothing behind.

#![allow(clippy::disallowed_methods, reason = "waits for another process")]

mod cli_fixture;

use cli_fixture::{Call, Place};
use serde_json::Value;

fn bench(place: &Place, more: &[&str]) -> Call {
    let small = ["bench", "ledger", "--transactions", "2500", "--block-size", "100", "--queries", "50"];
    place.call(&[&small, more].concat())
}

fn message<'a>(messages: &'a [Value], kind: &str) -> &'a Value {
    messages.iter().find(|message| message["type"] == kind).unwrap_or_else(|| panic!("no {kind} in {messages:?}"))
}

#[test]
fn a_ledger_on_disk_is_filled_asked_and_opened_again() {
    // U29, U31, U33–U38: 26 blocks, one of them real; two batches are in the database, the rest in the journal.
    let place = Place::new();
    let call = bench(&place, &["--folder", "ledger", "--json"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    let messages = call.messages();
    let import = message(&messages, "import");
    assert_eq!(import["add_tx"]["transactions"], 2_500);
    assert_eq!(import["add_block"]["transactions"], 2_500 + 2_499, "the real block without its coinbase");
    assert_eq!(import["block_latency"]["count"], 26);
    assert_eq!(import["commit_latency"]["count"], 1, "of blocks 1 to 10");
    let reopened = message(&messages, "reopened");
    assert_eq!((&reopened["same"], &reopened["height"]), (&Value::Bool(true), &26.into()));
    assert_eq!((&reopened["stored_blocks"], &reopened["journalled_blocks"]), (&11.into(), &16.into()));
    let questions: Vec<&Value> = messages.iter().filter(|message| message["type"] == "question").collect();
    assert_eq!(questions.len(), 9);
    for question in questions {
        assert_eq!(question["latency"]["count"], 50, "{question}");
        // U35, U34, U33: at most one look-up in the database for each question; U37, U38: none.
        let calls = question["database_calls"].as_u64().unwrap();
        let name = question["question"].as_str().unwrap();
        assert!(calls <= if matches!(name, "referral" | "nodes") { 0 } else { 50 }, "{question}");
        let found = question["found"].as_u64().unwrap();
        assert_eq!(found == 0, name.contains("unknown"), "{question}");
    }
    let files = message(&messages, "files")["bytes"].as_object().unwrap();
    assert!(files.keys().eq(["journal.a", "journal.b", "ledger.redb"]), "{files:?}");
    for (name, bytes) in files {
        assert_eq!(std::fs::metadata(place.path().join("ledger").join(name)).unwrap().len(), bytes.as_u64().unwrap());
    }
}

#[test]
fn the_state_depends_on_the_seed_alone() {
    let place = Place::new();
    let digest = |seed: &str| {
        let call = bench(&place, &["--seed", seed, "--json"]);
        message(&call.messages(), "reopened")["digest"].as_str().unwrap().to_owned()
    };
    let first = digest("1");
    assert_eq!(first, digest("1"));
    assert_ne!(first, digest("2"));
}

#[test]
fn people_see_tables() {
    let call = bench(&Place::new(), &["--memory"]);
    assert_eq!(call.exit, 0, "{}{}", call.stdout, call.stderr);
    for text in ["a CPU second", "batch of the database", "TxCurrent", "process (peak)", "transaction exists?"] {
        assert!(call.stdout.contains(text), "{text} in {}", call.stdout);
    }
    assert!(call.stderr.contains("Importing 1 real block and 2,500 generated transactions"), "{}", call.stderr);
    assert!(!call.stderr.contains("Reopened"), "a ledger in memory is gone when it is closed");
}

#[test]
fn a_folder_in_use_and_a_bad_block_are_refused_and_nothing_is_left() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("mine")).unwrap();
    std::fs::write(place.path().join("mine/notes"), "mine").unwrap();
    std::fs::write(place.path().join("junk"), "junk").unwrap();
    let block = bitcoin_test_data::blocks::mainnet_702861();
    std::fs::write(place.path().join("block"), block).unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["--folder", "mine"], "--folder mine: holds something already; expected a folder that is empty"),
        (&["--folder", "junk"], "--folder junk: cannot be read"),
        (&["--folder", "new", "--blocks", "junk"], "junk: "),
        (&["--folder", "new", "--blocks", "block", "block"], "block: block "),
        (&["--block-size", "0"], "--block-size"),
        (&["--folder", "new", "--memory"], "cannot be used with"),
    ];
    for (arguments, expected) in cases {
        let call = bench(&place, arguments);
        assert_eq!(call.exit, 2, "{arguments:?}: {}{}", call.stdout, call.stderr);
        assert!(call.stderr.contains(expected), "{arguments:?}: {}", call.stderr);
        assert!(!place.path().join("new").exists(), "{arguments:?} has left something");
    }
    assert_eq!(std::fs::read_dir(place.path().join("mine")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_leaves_a_whole_ledger() {
    use std::process::Stdio;
    let place = Place::new();
    let arguments =
        ["bench", "ledger", "--transactions", "100000000", "--block-size", "100", "--folder", "l", "--json"];
    let child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Once the second file of the journal is in use, a batch is in the database and blocks are in the journal.
    let journal = place.path().join("l/journal.a");
    while std::fs::metadata(&journal).map_or(0, |file| file.len()) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(8), "{stdout}");
    let messages: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(message(&messages, "reopened")["same"], true, "opened again after the interruption: {stdout}");
    assert!(messages.iter().all(|message| message["type"] != "question"), "{stdout}");
}
