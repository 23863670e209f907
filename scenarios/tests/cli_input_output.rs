//! Input without an end, output that cannot be written, and comparisons that show nothing.

mod cli_fixture;

use std::fs;

use cli_fixture::{Call, Place};

/// Calls the program with its standard output in `/dev/full`; exit code and standard error.
#[cfg(target_os = "linux")]
fn into_full(place: &Place, arguments: &[&str]) -> (i32, String) {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.command(arguments).stdout(full).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn equiv(place: &Place, more: &[&str]) -> Call {
    place.call(&[&["equiv", "--generate", "random:8:60%", "--real-runs", "1"], more].concat())
}

#[cfg(target_os = "linux")]
#[test]
fn what_has_no_end_is_bad_input() {
    let place = Place::new();
    for (arguments, limit) in [
        (["run", "--profile", "/dev/zero"], "1048576"),
        (["run", "--profile", "/dev/urandom"], "1048576"),
        (["replay", "--", "/dev/zero"], "16777216"),
    ] {
        let call = place.call(&arguments);
        assert_eq!(call.exit, 2, "{}", call.stderr);
        assert!(call.stderr.contains(&format!("has more than {limit} bytes")), "{}", call.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_told() {
    let place = Place::new();
    assert_eq!(place.call(&["run", "fixture.canary", "--seeds", "50"]).exit, 1);
    let folder = place.failure();
    for arguments in [
        &["list"][..],
        &["--help"],
        &["list", "--message-format", "json"],
        &["run", "fixture.canary", "--seeds", "50"],
        &["equiv", "--generate", "random:8:60%", "--workers", "2", "--seeds", "2"],
        &["replay", folder.to_str().unwrap()],
    ] {
        let (exit, stderr) = into_full(&place, arguments);
        assert_eq!(exit, 2, "{arguments:?}: {stderr}");
        assert_eq!(stderr.matches("standard output: cannot be written").count(), 1, "{arguments:?}: {stderr}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let mut child = place.command(&["list"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = child.stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn equiv_looks_at_its_folder_first() {
    let place = Place::new();
    fs::write(place.path().join("file"), "").unwrap();
    let call = equiv(&place, &["--out", "file"]);
    assert_eq!(call.exit, 2, "{}", call.stderr);
    assert!(call.stderr.contains("file: cannot be written") && !call.stderr.contains("Running"), "{}", call.stderr);
    fs::create_dir_all(place.path().join("out/latest")).unwrap();
    for arguments in [&["equiv", "--out", "out"][..], &["run", "fixture.passes", "--seeds", "5", "--out", "out"]] {
        let call = place.call(arguments);
        assert_eq!(call.exit, 2, "{}", call.stderr);
        assert!(call.stderr.contains("latest: cannot be written: is a folder"), "{}", call.stderr);
    }
}

// N8: without concurrency equal outcomes show nothing.
#[test]
fn equiv_of_what_cannot_run_concurrently_shows_nothing() {
    let place = Place::new();
    for more in [&["--policies", "sequential"][..], &["--workers", "1"]] {
        let call = equiv(&place, &[more, &["--seeds", "20"]].concat());
        assert_eq!(call.exit, 7, "{}{}", call.stdout, call.stderr);
        assert!(call.stdout.contains("conflicts met: 0 in"), "{}", call.stdout);
        assert!(call.stdout.contains("more than one worker"), "{}", call.stdout);
    }
    let call = equiv(&place, &["--workers", "2", "--seeds", "200", "--plant", "ready-before-publish"]);
    assert_eq!(call.exit, 1, "{}{}", call.stdout, call.stderr);
    assert!(call.stdout.contains(": not equivalent") && !call.stdout.contains("): ok"), "{}", call.stdout);
}

// The line that is printed leads to the stored trace, wherever it is.
#[test]
fn the_printed_line_names_another_folder() {
    let place = Place::new();
    let found = place.call(&["run", "fixture.canary", "--seeds", "50", "--out", "o"]);
    assert!(found.stderr.contains("Failed after "), "{}", found.stderr);
    assert!(found.stderr.contains("interleavings (1 failure) in ") && found.stderr.contains("1 scenario, "));
    let line = found.field("replay").split(" replay ").nth(1).unwrap();
    let arguments: Vec<&str> = ["replay"].into_iter().chain(line.split(' ')).collect();
    assert_eq!(arguments[2..], ["--out", "o"]);
    let again = place.call(&arguments);
    assert!(again.exit == 1 && again.stderr.contains("byte-equal"), "{}", again.stderr);
}
