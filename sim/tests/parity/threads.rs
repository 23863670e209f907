//! Threads, scopes and parking.

worlds! {
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

    fn a_park_may_time_out() -> String {
        let brief = time::Duration::from_millis(1);
        let start = time::Instant::now();
        // std may wake early, and its locks may have left a token to this thread.
        let tries = (0..100).take_while(|_| start.elapsed() < brief);
        tries.for_each(|_| thread::park_timeout(brief));
        let waited = start.elapsed() >= brief;
        thread::current().unpark();
        thread::park_timeout(time::Duration::from_secs(3_600));
        #[allow(deprecated, reason = "they exist")]
        {
            thread::current().unpark();
            thread::park_timeout_ms(3_600_000);
            thread::sleep_ms(0);
        }
        let rest = start.elapsed() < time::Duration::from_secs(3_600);
        format!("{waited} {rest}")
    }

    fn a_parked_thread_is_woken_before_its_timeout() -> String {
        let go = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&go);
        let sleeper = thread::spawn(move || {
            while !flag.load(SeqCst) {
                thread::park_timeout(time::Duration::from_secs(3_600));
            }
            "woken"
        });
        go.store(true, SeqCst);
        sleeper.thread().unpark();
        sleeper.join().unwrap().to_owned()
    }

    fn builders_check_names() -> String {
        let spawn = |name: &str| thread::Builder::new().name(name.to_owned()).stack_size(1 << 18).spawn(|| ());
        let refused = catch_unwind(AssertUnwindSafe(|| drop(spawn("nul\0inside")))).map_err(message);
        let scoped = thread::scope(|s| {
            let named = thread::Builder::new().name("scoped".into()).spawn_scoped(s, || {
                thread::current().name().map(str::to_owned)
            });
            named.unwrap().join().unwrap()
        });
        let handle = spawn("fine").unwrap();
        let name = handle.thread().name().map(str::to_owned);
        handle.join().unwrap();
        format!("{refused:?} {scoped:?} {name:?}")
    }

    fn parallelism_is_known() -> String {
        format!("{}", thread::available_parallelism().is_ok_and(|n| n.get() > 0))
    }

    fn a_finished_thread_says_so() -> String {
        let handle = thread::spawn(|| ());
        while !handle.is_finished() {
            thread::yield_now();
        }
        format!("{:?}", handle.join().is_ok())
    }

    all! {
        a_park_may_time_out,
        a_parked_thread_is_woken_before_its_timeout,
        builders_check_names,
        parallelism_is_known,
        a_finished_thread_says_so,
        join_returns_the_panic,
        names_and_ids,
        scope_borrows,
        scope_reports_a_panic,
        nested_scopes_and_threads,
        unpark_before_and_after_park,
        yields_and_spins,
        panicking_is_per_thread,
    }
}
