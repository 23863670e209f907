//! One test per row of the table of exit codes.

mod cli_fixture;

use cli_fixture::Place;

/// Runs a fixture over a few seeds; exit code, standard output and error.
fn run(fixture: &str, more: &[&str]) -> (i32, String, String) {
    let arguments = [&["run", fixture, "--seeds", "50"], more].concat();
    let call = Place::new().call(&arguments);
    (call.exit, call.stdout, call.stderr)
}

#[test]
fn exit_0_all_passed() {
    let (exit, stdout, stderr) = run("fixture.passes", &[]);
    assert_eq!(exit, 0, "{stdout}{stderr}");
    assert!(stdout.contains("holds") && stderr.contains("    Finished 50 interleavings"), "{stdout}{stderr}");
}

#[test]
fn exit_1_violated() {
    let (exit, stdout, stderr) = run("fixture.canary", &[]);
    assert_eq!(exit, 1, "{stdout}{stderr}");
    assert!(
        stdout.contains("FAIL fixture.sum/an-addition-is-lost") && stdout.contains("expected 2, got 1"),
        "{stdout}"
    );
    assert!(stdout.contains("[read 0]") && stdout.contains("main/0"), "a column per thread: {stdout}");
}

#[test]
fn exit_2_bad_input_says_what_was_expected() {
    let place = Place::new();
    std::fs::write(place.path().join("p.toml"), "runs = 5\nspeed = 9\n").unwrap();
    std::fs::write(place.path().join("junk"), "junk").unwrap();
    std::fs::write(place.path().join("failure.toml"), "format = 99\n").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["rum"], "unrecognized subcommand"),
        (&["run", "--seeds", "7..3"], "A below B"),
        (&["run", "--seed", "1", "--seeds", "2"], "cannot be used with"),
        (&["run", "--budget", "30"], "such as `30s`"),
        (&["run", "--strategy", "best"], "unknown strategy `best`"),
        (&["run", "--jobs", "0"], "from 1 to 1024"),
        (&["run", "--plant", "no-bug"], "no planted bug is called `no-bug`"),
        (&["run", "--profile", "no.toml"], "no.toml: cannot be read"),
        (&["run", "--profile", "p.toml"], "line 2"),
        (&["replay", "il1:hello"], "expected `il1:<name>:<payload>`"),
        (&["replay", "il1:ledger.x:AAAA"], "replay token"),
        (&["replay", "nowhere"], "expected a replay token, a failure folder"),
        (&["replay", "junk"], "junk: not a replay token"),
        (&["replay", "failure.toml"], "failure.toml: "),
        (&["equiv", "--block", "junk"], "junk: "),
        (&["equiv", "--block", "nowhere"], "nowhere: cannot be read"),
        (&["equiv", "--generate", "chain:8:5"], "share: expected a whole number"),
        (&["equiv", "--policies", "wafe"], "wafe"),
        (&["equiv", "--workers", "0"], "each from 1 to 64"),
        (&["equiv", "--plant", "check-then-act"], "none of the schedulers'"),
    ];
    for (arguments, expected) in cases {
        let call = place.call(arguments);
        assert_eq!(call.exit, 2, "{arguments:?}: {}", call.stderr);
        assert!(call.stderr.contains(expected), "{arguments:?}: {}", call.stderr);
        assert!(!call.stderr.contains("panicked"), "{arguments:?}: {}", call.stderr);
    }
}

#[test]
fn exit_3_deadlock() {
    let (exit, stdout, stderr) = run("fixture.deadlocks", &[]);
    assert_eq!(exit, 3, "{stdout}{stderr}");
    assert!(stdout.contains("deadlock/first+second") && stdout.contains("held by"), "{stdout}");
}

#[test]
fn exit_4_nothing_ran() {
    let (exit, _, stderr) = run("no-such-scenario", &[]);
    assert_eq!(exit, 4);
    assert!(stderr.contains("`no-such-scenario` selects no scenario"), "{stderr}");
}

#[test]
fn exit_5_nondeterminism() {
    let (exit, stdout, stderr) = run("fixture.nondeterministic", &[]);
    assert_eq!(exit, 5, "{stdout}{stderr}");
    assert!(stdout.contains("the same seed gave another run: event"), "{stdout}");
}

#[test]
fn exit_6_engine_panicked() {
    let (exit, stdout, stderr) = run("fixture.panics", &[]);
    assert_eq!(exit, 6, "{stdout}{stderr}");
    assert!(stdout.contains("the fixture panics") && stdout.contains("fixtures.rs"), "{stdout}");
}

#[test]
fn exit_7_gates() {
    for (fixture, why) in [
        ("fixture.no-conflicts", "no conflict met in 50 runs"),
        ("fixture.silent-fault", "spurious wake-ups were armed but never fired"),
        ("fixture.tame", "must break fixture.sum, but did not"),
    ] {
        let (exit, stdout, stderr) = run(fixture, &[]);
        assert_eq!(exit, 7, "{stdout}{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
    let (exit, _, stderr) = run("fixture.passes", &["--plant", "check-then-act"]);
    assert_eq!(exit, 7, "{stderr}");
    assert!(stderr.contains("planted bug check-then-act was not found in 50 runs"), "{stderr}");
    // One seed shows nothing and is not asked to.
    assert_eq!(Place::new().call(&["run", "fixture.tame", "--seed", "3"]).exit, 0);
}

#[test]
fn exit_7_equivalence_without_conflicts() {
    let call = Place::new().call(&["equiv", "--generate", "independent:6", "--workers", "2", "--seeds", "5"]);
    assert_eq!(call.exit, 7, "{}{}", call.stdout, call.stderr);
    assert!(call.stdout.contains("conflicts met: 0 in") && call.stdout.contains("shows nothing"), "{}", call.stdout);
}

#[test]
fn exit_8_inconclusive() {
    let (exit, stdout, stderr) = run("fixture.endless", &[]);
    assert_eq!(exit, 8, "{stdout}{stderr}");
    assert!(stdout.contains("not finished after 1000 steps"), "{stdout}");
}

#[test]
fn exit_9_replay_diverged() {
    let call = Place::new().call(&["replay", &diverging_token()]);
    assert_eq!(call.exit, 9, "{}{}", call.stdout, call.stderr);
    assert!(call.stderr.contains("Diverged"), "{}", call.stderr);
}

/// A run of another program under the name of a fixture: three threads where the fixture has one.
fn diverging_token() -> String {
    let explorer = interleaf::Explorer::new().name("fixture.passes").seeds(0..1_000);
    let report = explorer.run(|| {
        let wins = interleaf::sync::Mutex::new(Vec::new());
        interleaf::thread::scope(|scope| {
            for n in 0..6 {
                let wins = &wins;
                scope.spawn(move || wins.lock().unwrap().push(n));
            }
        });
        assert_eq!(wins.into_inner().unwrap()[0], 0, "another thread was first");
    });
    let mut tokens = report.failures.iter().map(|f| f.token.clone());
    tokens.next().unwrap()
}

#[test]
fn the_worst_decides() {
    for (fixtures, exit) in [
        (&["fixture.passes", "fixture.endless"][..], 8),
        (&["fixture.endless", "fixture.no-conflicts"], 7),
        (&["fixture.no-conflicts", "fixture.deadlocks"], 3),
        (&["fixture.deadlocks", "fixture.panics"], 6),
        (&["fixture.panics", "fixture.canary"], 1),
        (&["fixture.canary", "fixture.nondeterministic"], 5),
    ] {
        let arguments = [&["run", "--seeds", "50"], fixtures].concat();
        assert_eq!(Place::new().call(&arguments).exit, exit, "{fixtures:?}");
    }
}
