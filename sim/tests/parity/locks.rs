//! Locks and condition variables.

worlds! {
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

    fn statics_are_const() -> String {
        static LOCK: Mutex<u8> = Mutex::new(1);
        static SHARED: RwLock<u8> = RwLock::new(2);
        static SIGNAL: Condvar = Condvar::new();
        static COUNT: AtomicU64 = AtomicU64::new(3);
        SIGNAL.notify_all();
        format!("{} {} {}", LOCK.lock().unwrap(), SHARED.read().unwrap(), COUNT.load(SeqCst))
    }

    fn waits_in_milliseconds() -> String {
        let pair = (Mutex::new(3), Condvar::default());
        #[allow(deprecated, reason = "it exists")]
        let (guard, notified) = pair.1.wait_timeout_ms(pair.0.lock().unwrap(), 2).unwrap();
        format!("{} {notified} {:?}", *guard, pair.1)
    }

    fn poison_is_an_error_value() -> String {
        let poison = PoisonError::new(7);
        let tried: TryLockError<u8> = PoisonError::new(8).into();
        format!("{poison} {poison:?} {} {tried} {}", poison.get_ref(), TryLockError::WouldBlock::<u8>)
    }

    fn rwlock_without_threads() -> String {
        let mut l = RwLock::new(vec![1]);
        l.get_mut().unwrap().push(2);
        let died = catch_unwind(AssertUnwindSafe(|| {
            let _held = l.write().unwrap();
            panic!("with the lock held");
        }));
        let poisoned = (l.is_poisoned(), l.get_mut().is_err(), matches!(l.try_read(), Err(TryLockError::Poisoned(_))));
        l.clear_poison();
        let cleared = (l.is_poisoned(), l.read().is_ok(), l.try_write().is_ok());
        format!("{:?} {poisoned:?} {cleared:?} {:?}", died.map_err(message), l.into_inner())
    }

    fn waits_end_when_the_condition_does() -> String {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let other = Arc::clone(&pair);
        let counts = thread::spawn(move || {
            for _ in 0..3 {
                *other.0.lock().unwrap() += 1;
                other.1.notify_all();
            }
        });
        let hour = time::Duration::from_secs(3_600);
        let (mut guard, mut result) = pair.1.wait_timeout_while(pair.0.lock().unwrap(), hour, |n| *n < 3).unwrap();
        // Inside a run the other may be slower than an hour.
        while result.timed_out() {
            (guard, result) = pair.1.wait_timeout_while(guard, hour, |n| *n < 3).unwrap();
        }
        let seen = *guard;
        drop(guard);
        counts.join().unwrap();
        format!("{seen} {}", *pair.1.wait_while(pair.0.lock().unwrap(), |n| *n < 3).unwrap())
    }

    all! {
        rwlock_without_threads,
        waits_end_when_the_condition_does,
        waits_in_milliseconds,
        poison_is_an_error_value,
        mutex_counts,
        mutex_without_threads,
        unsized_and_default,
        poisoning,
        readers_do_not_poison_but_writers_do,
        guard_taken_while_unwinding_does_not_poison,
        rwlock_shares_and_excludes,
        condvar_hands_over,
        waits_time_out,
        statics_are_const,
    }
}
