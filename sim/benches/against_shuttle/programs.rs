//! The programs, written once and instantiated for each side.

use super::sides::Program;

macro_rules! programs {
    ($side:ident, $($sync:ident)::+, $($thread:ident)::+) => {
        pub(crate) mod $side {
            use std::collections::VecDeque;
            use std::sync::Arc;

            use $($sync)::+::atomic::{AtomicU64, Ordering::SeqCst};
            use $($sync)::+::{Condvar, Mutex};
            use $($thread)::+ as thread;

            /// Nothing: what setting up and ending an execution costs.
            pub(crate) fn empty() {}

            /// Two threads, ten times lock, increment, unlock.
            pub(crate) fn a() {
                let counter = Arc::new(Mutex::new(0u64));
                let workers: Vec<_> = (0..2)
                    .map(|_| {
                        let counter = Arc::clone(&counter);
                        thread::spawn(move || {
                            for _ in 0..10 {
                                *counter.lock().unwrap() += 1;
                            }
                        })
                    })
                    .collect();
                for worker in workers {
                    worker.join().unwrap();
                }
                assert_eq!(*counter.lock().unwrap(), 20);
            }

            /// Three threads, five times a lower and a higher one of four locks.
            pub(crate) fn b() {
                let locks: Arc<[Mutex<u64>; 4]> = Arc::new([Mutex::new(0), Mutex::new(0), Mutex::new(0), Mutex::new(0)]);
                let workers: Vec<_> = (0..3)
                    .map(|t| {
                        let locks = Arc::clone(&locks);
                        thread::spawn(move || {
                            for i in 0..5usize {
                                let low = (t + i) % 3;
                                let high = low + 1 + (i % (3 - low));
                                let mut x = locks[low].lock().unwrap();
                                let mut y = locks[high].lock().unwrap();
                                *x += 1;
                                *y += *x;
                            }
                        })
                    })
                    .collect();
                for worker in workers {
                    worker.join().unwrap();
                }
            }

            /// Four workers take 64 jobs from a queue with a condition variable.
            pub(crate) fn c() {
                let queue = Arc::new((Mutex::new((VecDeque::<u64>::new(), false)), Condvar::new()));
                let workers: Vec<_> = (0..4)
                    .map(|_| {
                        let queue = Arc::clone(&queue);
                        thread::spawn(move || {
                            let mut sum = 0u64;
                            loop {
                                let mut guard = queue.0.lock().unwrap();
                                while guard.0.is_empty() && !guard.1 {
                                    guard = queue.1.wait(guard).unwrap();
                                }
                                match guard.0.pop_front() {
                                    Some(job) => {
                                        drop(guard);
                                        sum += job;
                                    }
                                    None => return sum,
                                }
                            }
                        })
                    })
                    .collect();
                for job in 0..64 {
                    queue.0.lock().unwrap().0.push_back(job);
                    queue.1.notify_one();
                }
                queue.0.lock().unwrap().1 = true;
                queue.1.notify_all();
                assert_eq!(workers.into_iter().map(|w| w.join().unwrap()).sum::<u64>(), 64 * 63 / 2);
            }

            /// Three threads, four sequentially consistent operations each on two atomics.
            pub(crate) fn d() {
                let cells = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
                let workers: Vec<_> = (0..3u64)
                    .map(|t| {
                        let cells = Arc::clone(&cells);
                        thread::spawn(move || {
                            cells[0].fetch_add(1, SeqCst);
                            let seen = cells[1].load(SeqCst);
                            cells[1].store(seen + t, SeqCst);
                            cells[0].load(SeqCst)
                        })
                    })
                    .collect();
                for worker in workers {
                    worker.join().unwrap();
                }
            }
        }
    };
}

programs!(ours, interleaf::sync, interleaf::thread);
programs!(theirs, shuttle::sync, shuttle::thread);

pub(crate) static PROGRAMS: &[Program] = &[
    Program { name: "empty", what: "nothing", has_choices: false, ours: ours::empty, theirs: theirs::empty },
    Program {
        name: "a",
        what: "2 threads × 10 lock, increment, unlock",
        has_choices: true,
        ours: ours::a,
        theirs: theirs::a,
    },
    Program {
        name: "b",
        what: "3 threads, 4 locks in a hierarchy, 5 operations each",
        has_choices: true,
        ours: ours::b,
        theirs: theirs::b,
    },
    Program {
        name: "c",
        what: "4 workers, 64 jobs, Mutex and Condvar",
        has_choices: true,
        ours: ours::c,
        theirs: theirs::c,
    },
    Program { name: "d", what: "3 threads × 4 SeqCst atomics", has_choices: true, ours: ours::d, theirs: theirs::d },
];
