//! Which operations commute: two schedules that differ only in the order of such operations count as one interleaving.

use interleaf::sync::{Arc, Barrier, Once, OnceLock, mpsc};
use interleaf::{Explorer, Strategy, thread};

/// The schedules of a program, and its interleavings.
fn count(f: impl Fn() + Sync) -> (u64, u64) {
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).count_distinct(true).run(f);
    assert!(report.complete && report.failures.is_empty() && report.distinct_is_exact);
    (report.executions, report.distinct)
}

/// Two threads that each do something with one object.
fn two<T: Send + Sync + 'static>(object: T, a: fn(&T), b: fn(&T)) {
    let object = Arc::new(object);
    let theirs = Arc::clone(&object);
    let other = thread::spawn(move || a(&theirs));
    b(&object);
    other.join().unwrap();
}

#[test]
fn looks_commute_and_an_initialised_object_needs_no_order() {
    let look = |once: &Once| {
        once.is_completed();
    };
    assert_eq!(count(|| two(Once::new(), look, look)), (2, 1), "nobody initialises");
    let call = |once: &Once| once.call_once(|| ());
    assert_eq!(count(|| two(Once::new(), call, look)), (3, 3), "before, between begin and end, after");
    let done = || {
        let once = Once::new();
        once.call_once(|| ());
        once
    };
    assert_eq!(count(|| two(done(), call, look)), (1, 1));
    let full = || {
        let cell = OnceLock::new();
        assert_eq!(cell.set(1), Ok(()));
        cell
    };
    let get = |cell: &OnceLock<u8>| assert_eq!(cell.get(), Some(&1));
    assert_eq!(count(|| two(full(), get, get)), (1, 1));
    assert_eq!(count(|| two(full(), get, |cell| assert_eq!(cell.set(2), Err(2)))), (1, 1));
}

#[test]
fn who_waits_for_an_initialisation_comes_after_it() {
    let call = |once: &Once| once.call_once(|| ());
    // The wait is possible after the end only, whenever it was announced.
    assert_eq!(count(|| two(Once::new(), call, Once::wait)).1, 1);
    assert_eq!(count(|| two(Once::new(), call, call)).1, 2, "either runs the initialiser");
}

#[test]
fn arrivals_at_a_barrier_do_not_commute_but_passing_does() {
    let wait = |barrier: &Barrier| {
        barrier.wait();
    };
    assert_eq!(count(|| two(Barrier::new(2), wait, wait)), (2, 2), "either leads");
    let three = || {
        let barrier = Arc::new(Barrier::new(3));
        let arrive = || {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || barrier.wait().is_leader())
        };
        let others = [arrive(), arrive()];
        barrier.wait();
        others.into_iter().for_each(|t| drop(t.join()));
    };
    assert_eq!(count(three), (6, 6), "no order of passing is added to the six orders of arrival");
}

#[test]
fn sends_that_fail_commute_and_exchanges_do_not() {
    let closed = || {
        let (sender, receiver) = mpsc::sync_channel(1);
        drop(receiver);
        sender
    };
    let send = |sender: &mpsc::SyncSender<u8>| assert!(sender.send(1).is_err());
    assert_eq!(count(|| two(closed(), send, send)), (2, 1));
    // Who comes first waits, the second makes the exchange, and that the first goes on is no choice.
    let exchange = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let sends = thread::spawn(move || sender.send(1).map(|()| sender));
        assert_eq!(receiver.recv(), Ok(1));
        drop(sends.join());
    };
    assert_eq!(count(exchange), (2, 2));
    for (bound, interleavings) in [(0, 2), (1, 2), (2, 2)] {
        let exchange = || {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let second = sender.clone();
            let senders = [thread::spawn(move || sender.send(1)), thread::spawn(move || second.send(2))];
            let mut got = [receiver.recv().unwrap(), receiver.recv().unwrap()];
            got.sort_unstable();
            assert_eq!(got, [1, 2]);
            senders.into_iter().for_each(|t| assert!(t.join().unwrap().is_ok()));
        };
        assert!(count(exchange).1 >= interleavings, "{bound}");
    }
}
