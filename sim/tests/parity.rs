//! The façade behaves as std: the same bodies run against std on real threads, against the façade on real threads
//! (outside a simulation), and against the façade inside a simulation under many schedules.
//!
//! A body returns what it saw as text. Bodies whose result does not depend on the schedule must agree exactly.

macro_rules! bodies {
    ($world:ident, $sync:path, $thread:path, $time:path, $hint:path, $arc_swap:path) => {
        mod $world {
            use std::panic::{AssertUnwindSafe, catch_unwind};

            use $arc_swap as arc_swap;
            use $hint as hint;
            use $sync as sync;
            use $thread as thread;
            use $time as time;

            use sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering::SeqCst};
            use sync::{Arc, Condvar, Mutex, RwLock, TryLockError, Weak, mpsc};

            fn mutex_counts() -> String {
                let m = Arc::new(Mutex::new(0));
                let threads: Vec<_> = (0..3)
                    .map(|_| {
                        let m = Arc::clone(&m);
                        thread::spawn(move || (0..5).for_each(|_| *m.lock().unwrap() += 1))
                    })
                    .collect();
                threads.into_iter().for_each(|t| t.join().unwrap());
                let total = *m.lock().unwrap();
                format!("{total} {}", Arc::strong_count(&m))
            }

            fn mutex_without_threads() -> String {
                let mut m = Mutex::new(vec![1]);
                m.get_mut().unwrap().push(2);
                let held = m.lock().unwrap();
                let blocked = matches!(m.try_lock(), Err(TryLockError::WouldBlock));
                drop(held);
                let free = m.try_lock().is_ok();
                format!("{blocked} {free} {:?}", m.into_inner())
            }

            fn unsized_and_default() -> String {
                let m: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2, 3]));
                m.lock().unwrap()[0] = 9;
                let d: Mutex<u32> = Mutex::default();
                let f: RwLock<u8> = RwLock::from(7);
                format!("{:?} {} {}", &*m.lock().unwrap(), d.into_inner().unwrap(), f.read().unwrap())
            }

            fn poisoning() -> String {
                let m = Arc::new(Mutex::new(5));
                let other = Arc::clone(&m);
                let died = thread::spawn(move || {
                    let _held = other.lock().unwrap();
                    panic!("with the lock held");
                })
                .join();
                let message = died.unwrap_err().downcast_ref::<&str>().map(|s| (*s).to_owned());
                let poisoned = m.is_poisoned();
                let value = match m.lock() {
                    Ok(_) => panic!("not poisoned"),
                    Err(poison) => *poison.into_inner(),
                };
                let tried = matches!(m.try_lock(), Err(TryLockError::Poisoned(_)));
                m.clear_poison();
                format!("{message:?} {poisoned} {value} {tried} {} {}", m.is_poisoned(), m.lock().is_ok())
            }

            fn readers_do_not_poison_but_writers_do() -> String {
                let l = Arc::new(RwLock::new(1));
                let (a, b) = (Arc::clone(&l), Arc::clone(&l));
                let _ = thread::spawn(move || {
                    let _held = a.read().unwrap();
                    panic!("reader");
                })
                .join();
                let after_reader = l.is_poisoned();
                let _ = thread::spawn(move || {
                    let _held = b.write().unwrap();
                    panic!("writer");
                })
                .join();
                let read = l.read().is_err();
                let write = l.write().is_err();
                format!("{after_reader} {} {read} {write}", l.is_poisoned())
            }

            fn guard_taken_while_unwinding_does_not_poison() -> String {
                struct LocksInDrop(Arc<Mutex<u32>>);
                impl Drop for LocksInDrop {
                    fn drop(&mut self) {
                        *self.0.lock().unwrap() += 1;
                    }
                }
                let m = Arc::new(Mutex::new(0));
                let other = Arc::clone(&m);
                let _ = thread::spawn(move || {
                    let _on_drop = LocksInDrop(other);
                    panic!("unwinds through a lock");
                })
                .join();
                format!("{} {:?}", m.is_poisoned(), m.lock().map(|g| *g).ok())
            }

            fn rwlock_shares_and_excludes() -> String {
                let l = RwLock::new(3);
                let (a, b) = (l.read().unwrap(), l.read().unwrap());
                let write_blocked = matches!(l.try_write(), Err(TryLockError::WouldBlock));
                let sum = *a + *b;
                drop((a, b));
                let w = l.write().unwrap();
                let read_blocked = matches!(l.try_read(), Err(TryLockError::WouldBlock));
                drop(w);
                let free = (l.try_read().is_ok(), l.try_write().is_ok());
                format!("{sum} {write_blocked} {read_blocked} {free:?}")
            }

            fn condvar_hands_over() -> String {
                let pair = Arc::new((Mutex::new((0, false)), Condvar::new()));
                let other = Arc::clone(&pair);
                let producer = thread::spawn(move || {
                    for i in 1..=3 {
                        other.0.lock().unwrap().0 += i;
                        other.1.notify_one();
                    }
                    other.0.lock().unwrap().1 = true;
                    other.1.notify_all();
                });
                let done = pair.1.wait_while(pair.0.lock().unwrap(), |state| !state.1).unwrap();
                let sum = done.0;
                drop(done);
                producer.join().unwrap();
                sum.to_string()
            }

            fn waits_time_out() -> String {
                let pair = (Mutex::new(3), Condvar::new());
                let brief = time::Duration::from_millis(2);
                let start = time::Instant::now();
                let (guard, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), brief).unwrap();
                let (guard, all) = pair.1.wait_timeout_while(guard, brief, |v| *v == 3).unwrap();
                let (guard, none) = pair.1.wait_timeout_while(guard, brief, |v| *v == 4).unwrap();
                let waited = start.elapsed() >= brief;
                format!("{} {} {} {} {waited}", *guard, result.timed_out(), all.timed_out(), none.timed_out())
            }

            fn channel_keeps_order_and_disconnects() -> String {
                let (sender, receiver) = mpsc::channel();
                let second = sender.clone();
                let a = thread::spawn(move || (0..3).for_each(|i| sender.send(i).unwrap()));
                a.join().unwrap();
                let b = thread::spawn(move || (10..12).for_each(|i| second.send(i).unwrap()));
                let got: Vec<i32> = receiver.iter().collect();
                b.join().unwrap();
                let empty = receiver.try_recv();
                let (sender, receiver) = mpsc::channel();
                let nothing = receiver.try_recv();
                drop(receiver);
                format!("{got:?} {empty:?} {nothing:?} {:?} {:?}", sender.send(1), receiver_error())
            }

            fn receiver_error() -> Result<u8, mpsc::RecvError> {
                let (sender, receiver) = mpsc::channel::<u8>();
                drop(sender);
                receiver.recv()
            }

            fn atomics_compute() -> String {
                let (u, i, b) = (AtomicU64::new(10), AtomicI32::new(-3), AtomicBool::new(false));
                let olds = [
                    u.fetch_add(5, SeqCst),
                    u.fetch_sub(1, SeqCst),
                    u.fetch_and(0b1100, SeqCst),
                    u.fetch_or(1, SeqCst),
                    u.fetch_xor(0b11, SeqCst),
                    u.fetch_nand(0b110, SeqCst),
                    u.fetch_max(3, SeqCst),
                    u.fetch_min(7, SeqCst),
                    u.swap(99, SeqCst),
                ];
                let cas = (u.compare_exchange(99, 1, SeqCst, SeqCst), u.compare_exchange(99, 2, SeqCst, SeqCst));
                let update = u.fetch_update(SeqCst, SeqCst, |x| x.checked_mul(8));
                let bits = (b.fetch_or(true, SeqCst), b.fetch_and(false, SeqCst), b.swap(true, SeqCst), b.load(SeqCst));
                let wrapped = AtomicU8::new(250);
                wrapped.fetch_add(10, SeqCst);
                let mut target = 5;
                let pointer = AtomicPtr::new(&raw mut target);
                let same = std::ptr::eq(pointer.load(SeqCst), &raw const target);
                i.store(-7, SeqCst);
                format!(
                    "{olds:?} {cas:?} {update:?} {bits:?} {wrapped:?} {same} {i:?} {}",
                    AtomicUsize::new(4).into_inner()
                )
            }

            fn join_returns_the_panic() -> String {
                let value = thread::spawn(|| 7).join().unwrap();
                let payload = thread::spawn(|| -> u8 { std::panic::panic_any(42u16) }).join().unwrap_err();
                format!("{value} {:?}", payload.downcast_ref::<u16>())
            }

            fn names_and_ids() -> String {
                let named = thread::Builder::new().name("worker-7".into()).spawn(|| {
                    let me = thread::current();
                    (me.name().map(str::to_owned), me.id())
                });
                let handle = named.unwrap();
                let id = handle.thread().id();
                let (name, own) = handle.join().unwrap();
                let other = thread::spawn(|| thread::current().id()).join().unwrap();
                format!("{name:?} {} {} {}", id == own, own == other, own == thread::current().id())
            }

            fn scope_borrows() -> String {
                let mut numbers = vec![1, 2, 3];
                let mut sum = 0;
                let doubled = thread::scope(|s| {
                    s.spawn(|| sum = numbers.iter().sum::<i32>());
                    let handle = s.spawn(|| numbers.iter().map(|n| n * 2).collect::<Vec<_>>());
                    handle.join().unwrap()
                });
                numbers.push(sum);
                format!("{numbers:?} {doubled:?}")
            }

            fn scope_reports_a_panic() -> String {
                let unobserved = catch_unwind(AssertUnwindSafe(|| {
                    thread::scope(|s| {
                        s.spawn(|| panic!("inside"));
                    });
                }));
                let observed = thread::scope(|s| s.spawn(|| panic!("inside")).join().is_err());
                let message = unobserved.unwrap_err().downcast_ref::<&str>().map(|s| (*s).to_owned());
                format!("{message:?} {observed}")
            }

            fn nested_scopes_and_threads() -> String {
                let total = Mutex::new(0);
                thread::scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|| {
                            thread::scope(|inner| {
                                inner.spawn(|| *total.lock().unwrap() += 1);
                                inner.spawn(|| *total.lock().unwrap() += 10);
                            });
                            *total.lock().unwrap() += 100;
                        });
                    }
                });
                total.into_inner().unwrap().to_string()
            }

            fn unpark_before_and_after_park() -> String {
                let go = Arc::new(AtomicBool::new(false));
                let flag = Arc::clone(&go);
                let sleeper = thread::spawn(move || {
                    while !flag.load(SeqCst) {
                        thread::park();
                    }
                    1
                });
                go.store(true, SeqCst);
                sleeper.thread().unpark();
                let woken = sleeper.join().unwrap();
                thread::current().unpark();
                thread::park();
                woken.to_string()
            }

            fn time_passes_in_sleep() -> String {
                let start = time::Instant::now();
                thread::sleep(time::Duration::from_millis(3));
                let slept = start.elapsed() >= time::Duration::from_millis(3);
                let later = start + time::Duration::from_secs(1);
                format!("{slept} {:?} {:?}", later - start, start.checked_duration_since(later))
            }

            fn snapshots_are_replaced_as_a_whole() -> String {
                let cell = Arc::new(arc_swap::ArcSwap::from_pointee((1, 1)));
                let other = Arc::clone(&cell);
                let writer = thread::spawn(move || {
                    for i in 2..4 {
                        other.rcu(|old| (old.0 + 1, i));
                    }
                });
                let seen = cell.load();
                let whole = seen.0 == seen.1;
                writer.join().unwrap();
                let last = cell.load_full();
                let previous = cell.swap(Arc::new((9, 9)));
                cell.store(Arc::new((8, 8)));
                format!("{whole} {last:?} {previous:?} {:?}", cell.load())
            }

            fn yields_and_spins() -> String {
                let ready = Arc::new(AtomicBool::new(false));
                let flag = Arc::clone(&ready);
                let setter = thread::spawn(move || {
                    thread::yield_now();
                    flag.store(true, SeqCst);
                });
                while !ready.load(SeqCst) {
                    hint::spin_loop();
                }
                setter.join().unwrap();
                "seen".to_owned()
            }

            fn weak_references() -> String {
                let strong = Arc::new(Mutex::new(1));
                let weak: Weak<Mutex<u8>> = Arc::downgrade(&strong);
                let before = weak.upgrade().is_some();
                drop(strong);
                format!("{before} {}", weak.upgrade().is_none())
            }

            fn statics_are_const() -> String {
                static LOCK: Mutex<u8> = Mutex::new(1);
                static SHARED: RwLock<u8> = RwLock::new(2);
                static SIGNAL: Condvar = Condvar::new();
                static COUNT: AtomicU64 = AtomicU64::new(3);
                SIGNAL.notify_all();
                format!("{} {} {}", LOCK.lock().unwrap(), SHARED.read().unwrap(), COUNT.load(SeqCst))
            }

            fn panicking_is_per_thread() -> String {
                struct Notes<'a>(&'a Mutex<Vec<bool>>);
                impl Drop for Notes<'_> {
                    fn drop(&mut self) {
                        self.0.lock().unwrap().push(thread::panicking());
                    }
                }
                let seen = Mutex::new(vec![thread::panicking()]);
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _notes = Notes(&seen);
                    panic!("noted");
                }));
                drop(Notes(&seen));
                format!("{:?}", seen.into_inner().unwrap())
            }

            pub(super) const ALL: &[(&str, fn() -> String)] = &[
                ("mutex_counts", mutex_counts),
                ("mutex_without_threads", mutex_without_threads),
                ("unsized_and_default", unsized_and_default),
                ("poisoning", poisoning),
                ("readers_do_not_poison_but_writers_do", readers_do_not_poison_but_writers_do),
                ("guard_taken_while_unwinding_does_not_poison", guard_taken_while_unwinding_does_not_poison),
                ("rwlock_shares_and_excludes", rwlock_shares_and_excludes),
                ("condvar_hands_over", condvar_hands_over),
                ("waits_time_out", waits_time_out),
                ("channel_keeps_order_and_disconnects", channel_keeps_order_and_disconnects),
                ("atomics_compute", atomics_compute),
                ("join_returns_the_panic", join_returns_the_panic),
                ("names_and_ids", names_and_ids),
                ("scope_borrows", scope_borrows),
                ("scope_reports_a_panic", scope_reports_a_panic),
                ("nested_scopes_and_threads", nested_scopes_and_threads),
                ("unpark_before_and_after_park", unpark_before_and_after_park),
                ("time_passes_in_sleep", time_passes_in_sleep),
                ("snapshots_are_replaced_as_a_whole", snapshots_are_replaced_as_a_whole),
                ("yields_and_spins", yields_and_spins),
                ("weak_references", weak_references),
                ("statics_are_const", statics_are_const),
                ("panicking_is_per_thread", panicking_is_per_thread),
            ];
        }
    };
}

bodies!(real, std::sync, std::thread, std::time, std::hint, ::arc_swap);
bodies!(facade, interleaf::sync, interleaf::thread, interleaf::time, interleaf::hint, interleaf::arc_swap);

use std::sync::Mutex as StdMutex;

use interleaf::{Explorer, Strategy};

#[test]
fn outside_a_simulation_the_facade_is_std() {
    for ((name, std), (_, ours)) in real::ALL.iter().zip(facade::ALL) {
        assert_eq!(ours(), std(), "{name}");
    }
}

#[test]
fn inside_a_simulation_it_gives_stds_results_under_every_strategy() {
    for ((name, std), (_, ours)) in real::ALL.iter().zip(facade::ALL) {
        let expected = std();
        for strategy in [Strategy::Random, Strategy::Pct { depth: 3 }, Strategy::Dfs { preemptions: Some(1) }] {
            let seen = StdMutex::new(std::collections::BTreeSet::new());
            let report = Explorer::new().strategy(strategy.clone()).seeds(0..200).run(|| {
                seen.lock().unwrap().insert(ours());
            });
            if let Some(failure) = report.first_failure() {
                panic!("{name}, {strategy}: {failure}");
            }
            let seen: Vec<String> = seen.into_inner().unwrap().into_iter().collect();
            assert_eq!(seen, std::slice::from_ref(&expected), "{name}, {strategy}");
        }
    }
}
