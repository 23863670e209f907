//! A run that uses everything at once is replayed event by event: from its token, and from its labelled choices.

use std::cell::RefCell;
use std::time::Duration;

use interleaf::sync::{Arc, Barrier, LazyLock, Mutex, Once, OnceLock, mpsc};
use interleaf::time::{SystemTime, Time, UNIX_EPOCH};
use interleaf::trace::TraceEvent;
use interleaf::{Explorer, Failure, Replay, Strategy, replay, replay_choices, thread};

static LOG: LazyLock<Mutex<Vec<String>>> = LazyLock::new(Mutex::default);
static FIRST: OnceLock<String> = OnceLock::new();

/// Logs its name when it is dropped.
struct AtEnd(String);

impl Drop for AtEnd {
    fn drop(&mut self) {
        log(&format!("end of {}", self.0));
    }
}

interleaf::thread_local! {
    static END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

fn log(text: &str) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    LOG.lock().unwrap().push(format!("{text} at {seconds}"));
}

/// Fails with what happened, unless that is the one order in which nobody is ever slow.
fn everything() {
    let gate = Arc::new((Barrier::new(3), Once::new()));
    let (sender, receiver) = mpsc::sync_channel(0);
    let worker = |name: &'static str, sender: mpsc::SyncSender<&'static str>| {
        let gate = Arc::clone(&gate);
        thread::spawn(move || {
            END.set(Some(AtEnd(name.to_owned())));
            FIRST.get_or_init(|| name.to_owned());
            if gate.0.wait().is_leader() {
                log(&format!("{name} leads"));
            }
            gate.1.call_once(|| log(&format!("{name} calls")));
            if sender.try_send(name).is_err() {
                thread::park_timeout(Duration::from_secs(2));
                let _ = sender.send(name);
            }
        })
    };
    let workers = [worker("a", sender.clone()), worker("b", sender)];
    gate.0.wait();
    log(&format!("first was {}", FIRST.wait()));
    loop {
        match receiver.recv_timeout(Duration::from_secs(3)) {
            Ok(name) => log(&format!("{name} comes")),
            Err(mpsc::RecvTimeoutError::Timeout) => log("nobody comes"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    workers.into_iter().for_each(|w| w.join().unwrap());
    let log = LOG.lock().unwrap();
    assert!(log.is_empty(), "{log:?}");
}

/// What happened. Objects are numbered by the first look at them, and following choices looks at them earlier.
fn events(failure: &Failure) -> Vec<TraceEvent> {
    failure.trace.events.iter().map(|event| TraceEvent { object: None, ..event.clone() }).collect()
}

#[test]
fn runs_with_every_object_replay_event_by_event() {
    let mut stories = std::collections::BTreeSet::new();
    for (time, strategy) in [
        (Time::AnyMoment, Strategy::Random),
        (Time::AnyMoment, Strategy::Pct { depth: 3 }),
        (Time::WhenIdle, Strategy::Random),
        (Time::WhenIdle, Strategy::Dfs { preemptions: Some(2) }),
    ] {
        let report = Explorer::new().time(time).strategy(strategy).seeds(0..25).max_failures(25).run(everything);
        assert_eq!(report.failures.len(), 25);
        for failure in &report.failures {
            let Replay::Failed(again) = replay(&failure.token.parse().unwrap(), everything) else {
                panic!("it does not fail again: {failure}")
            };
            assert_eq!((&again.kind, &again.trace), (&failure.kind, &failure.trace));
            let Replay::Failed(again) = replay_choices("", &failure.choices(), None, everything) else {
                panic!("it does not fail again: {failure}")
            };
            assert_eq!((&again.kind, events(&again)), (&failure.kind, events(failure)));
            stories.insert(failure.kind.headline());
        }
    }
    assert!(stories.len() > 30, "the runs are all the same: {}", stories.len());
}
