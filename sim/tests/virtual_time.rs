//! Virtual time: it stands still while threads run, and moves where the strategy lets it or nothing else can run.

use std::time::Duration;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, mpsc};
use interleaf::{Explorer, FailureKind, Strategy, thread};

#[test]
fn time_jumps_when_nothing_else_can_run_and_sleeps_are_no_synchronisation() {
    let sleepy = || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let handle = thread::spawn(move || other.store(1, SeqCst));
        let start = interleaf::time::Instant::now();
        thread::sleep(Duration::from_secs(3_600));
        assert!(start.elapsed() >= Duration::from_secs(3_600));
        assert_eq!(x.load(SeqCst), 1, "an hour should do");
        handle.join().unwrap();
    };
    assert!(Explorer::new().run(sleepy).first_failure().is_some(), "the other thread may be slower than an hour");
    let patient = Explorer::new().time(interleaf::time::Time::WhenIdle).run(sleepy);
    assert!(patient.failures.is_empty(), "with infinitely fast threads an hour does");
}

#[test]
fn a_timeout_may_come_before_the_notification_or_after() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let waits = |time| {
        seen.lock().unwrap().clear();
        let report = Explorer::new().time(time).count_distinct(true).run(|| {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = Arc::clone(&pair);
            let setter = thread::spawn(move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            });
            let start = interleaf::time::Instant::now();
            let guard = pair.0.lock().unwrap();
            let (guard, result) = pair.1.wait_timeout_while(guard, Duration::from_secs(5), |ready| !*ready).unwrap();
            let waited = start.elapsed();
            assert!(waited == Duration::ZERO || waited == Duration::from_secs(5), "{waited:?}");
            // Timed out without the flag, or with it: the setter may have come while the mutex was wanted again.
            seen.lock().unwrap().insert((result.timed_out(), *guard, waited.as_secs()));
            drop(guard);
            setter.join().unwrap();
        });
        assert!(report.failures.is_empty(), "{}", report.failures[0]);
        seen.lock().unwrap().iter().copied().collect::<Vec<_>>()
    };
    let any = waits(interleaf::time::Time::AnyMoment);
    assert_eq!(any, [(false, true, 0), (false, true, 5), (true, false, 5)]);
    assert_eq!(waits(interleaf::time::Time::WhenIdle), [(false, true, 0)], "the setter is infinitely fast");
}

#[test]
fn a_lost_wakeup_with_a_timeout_is_no_deadlock() {
    let report = Explorer::new().run(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&pair);
        let setter = thread::spawn(move || other.1.notify_one());
        let waited = pair.1.wait_timeout(pair.0.lock().unwrap(), Duration::from_secs(1)).unwrap();
        drop(waited);
        setter.join().unwrap();
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn a_wait_that_times_out_gets_the_mutex_to_itself() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = Explorer::new().run(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let inside = Arc::new(AtomicU32::new(0));
        let (other, busy) = (Arc::clone(&pair), Arc::clone(&inside));
        let holder = thread::spawn(move || {
            let mut held = other.0.lock().unwrap();
            busy.store(1, SeqCst);
            thread::yield_now();
            *held += 1;
            busy.store(0, SeqCst);
            other.1.notify_one();
        });
        let (held, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), Duration::from_secs(1)).unwrap();
        assert_eq!(inside.load(SeqCst), 0, "two threads hold one mutex");
        seen.lock().unwrap().insert((result.timed_out(), *held));
        drop(held);
        holder.join().unwrap();
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    let seen: Vec<_> = seen.into_inner().unwrap().into_iter().collect();
    // Notified after the holder; timed out before it, or while it held the mutex.
    assert_eq!(seen, [(false, 1), (true, 0), (true, 1)]);
}

#[test]
fn a_moment_beyond_all_time_never_comes() {
    let report = Explorer::new().seeds(0..50).run(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_secs(1));
            sender.send(1).unwrap();
        });
        assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(1));
        other.join().unwrap();
        assert_eq!(interleaf::time::Instant::now().checked_add(Duration::MAX), None);
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    let report = Explorer::new().seeds(0..1).run(|| thread::sleep(Duration::MAX));
    assert!(matches!(report.failures[0].kind, FailureKind::Deadlock { .. }), "{}", report.failures[0]);
}

#[test]
fn a_timeout_and_what_it_waits_for_come_in_either_order() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let explorer = Explorer::new().strategy(Strategy::Dfs { preemptions: None });
    for bound in [Some(0), Some(1), None] {
        let report = explorer.run(|| {
            let start = interleaf::time::SystemTime::now();
            let got = match bound {
                Some(bound) => {
                    let (sender, receiver) = mpsc::sync_channel(bound);
                    let other = thread::spawn(move || sender.send(1).is_ok());
                    let got = receiver.recv_timeout(Duration::from_secs(5));
                    drop(receiver);
                    other.join().unwrap();
                    got
                }
                None => {
                    let (sender, receiver) = mpsc::channel();
                    let other = thread::spawn(move || sender.send(1).is_ok());
                    let got = receiver.recv_timeout(Duration::from_secs(5));
                    other.join().unwrap();
                    got
                }
            };
            // The clock has forgotten that this thread waited for it.
            thread::yield_now();
            let waited = start.elapsed().unwrap().as_secs();
            seen.lock().unwrap().insert((bound, got.is_ok(), waited));
        });
        assert!(report.complete && report.failures.is_empty());
        let seen: Vec<_> = std::mem::take(&mut *seen.lock().unwrap()).into_iter().collect();
        assert_eq!(seen, [(bound, false, 5), (bound, true, 0)]);
    }
    // Infinitely fast threads never let a time-out pass that something comes before.
    let report = explorer.time(interleaf::time::Time::WhenIdle).run(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = thread::spawn(move || sender.send(1));
        assert_eq!(receiver.recv_timeout(Duration::from_secs(5)), Ok(1));
        other.join().unwrap().unwrap();
        let parked = thread::current();
        let other = thread::spawn(move || parked.unpark());
        thread::park_timeout(Duration::from_secs(5));
        assert_eq!(
            interleaf::time::SystemTime::now(),
            interleaf::time::UNIX_EPOCH + Duration::from_secs(1_577_836_800)
        );
        other.join().unwrap();
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn without_buffer_senders_are_served_in_the_order_of_arrival() {
    let report = Explorer::new().time(interleaf::time::Time::WhenIdle).run(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let sends: Vec<_> = (0..3)
            .map(|i| {
                let sender = sender.clone();
                thread::spawn(move || {
                    thread::sleep(Duration::from_secs(3 - i));
                    sender.send(i).unwrap();
                })
            })
            .collect();
        drop(sender);
        thread::sleep(Duration::from_secs(4));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [2, 1, 0]);
        sends.into_iter().for_each(|t| t.join().unwrap());
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}
