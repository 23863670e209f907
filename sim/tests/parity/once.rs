//! `Once`, `OnceLock`, `LazyLock`.

worlds! {
    fn once_runs_one_initialiser() -> String {
        let (once, runs) = (Once::new(), AtomicU64::new(0));
        let before = once.is_completed();
        let seen = thread::scope(|s| {
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    s.spawn(|| {
                        once.call_once(|| {
                            runs.fetch_add(1, SeqCst);
                        });
                        (once.is_completed(), runs.load(SeqCst))
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
        });
        once.wait();
        once.wait_force();
        format!("{before} {seen:?} {once:?}")
    }

    fn once_is_poisoned_by_a_panic() -> String {
        let once = Once::new();
        let first = catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("first")))).map_err(message);
        let second = catch_unwind(AssertUnwindSafe(|| once.call_once(|| unreachable!()))).map_err(message);
        let waited = catch_unwind(AssertUnwindSafe(|| once.wait())).map_err(message);
        let third = catch_unwind(AssertUnwindSafe(|| once.call_once_force(|_| panic!("third")))).map_err(message);
        let mut told = Vec::new();
        let before = once.is_completed();
        once.call_once_force(|state: &OnceState| told.push(format!("{} {state:?}", state.is_poisoned())));
        once.call_once_force(|_| unreachable!());
        once.call_once(|| unreachable!());
        once.wait();
        format!("{first:?} {second:?} {waited:?} {third:?} {before} {told:?} {}", once.is_completed())
    }

    fn a_fresh_once_is_not_poisoned() -> String {
        let once = Once::new();
        let mut told = None;
        once.call_once_force(|state| told = Some(state.is_poisoned()));
        format!("{told:?}")
    }

    fn once_is_waited_for() -> String {
        let (once, done) = (Once::new(), AtomicBool::new(false));
        let seen = thread::scope(|s| {
            let plain = s.spawn(|| {
                once.wait();
                done.load(SeqCst)
            });
            let forced = s.spawn(|| {
                once.wait_force();
                done.load(SeqCst)
            });
            let _ = catch_unwind(AssertUnwindSafe(|| once.call_once_force(|_| done.store(true, SeqCst))));
            (plain.join().unwrap(), forced.join().unwrap())
        });
        format!("{seen:?}")
    }

    fn a_waiter_that_overlooks_poison_waits_for_success() -> String {
        let (once, done) = (Once::new(), AtomicBool::new(false));
        let seen = thread::scope(|s| {
            let patient = s.spawn(|| {
                once.wait_force();
                done.load(SeqCst)
            });
            let _ = catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("first"))));
            once.call_once_force(|_| done.store(true, SeqCst));
            patient.join().unwrap()
        });
        format!("{seen}")
    }

    fn a_cell_is_written_once() -> String {
        let mut cell = OnceLock::new();
        let empty = (cell.get().copied(), format!("{cell:?}"));
        let set = (cell.set(1), cell.set(2), cell.get().copied(), *cell.get_or_init(|| 3), *cell.wait());
        *cell.get_mut().unwrap() += 10;
        let copy = cell.clone();
        let same = copy == cell;
        let taken = (cell.take(), cell.take(), cell.get_mut().is_none(), cell.get().copied());
        let again = (cell.set(4), *cell.get_or_init(|| unreachable!()));
        let full = OnceLock::from(5);
        let refused = full.set(6);
        let default: OnceLock<u8> = OnceLock::default();
        let shown = format!("{cell:?} {full:?} {copy:?} {default:?}");
        let inner = (cell.into_inner(), full.into_inner(), default.into_inner());
        format!("{empty:?} {set:?} {same} {taken:?} {again:?} {refused:?} {shown} {inner:?}")
    }

    fn a_full_cell_can_be_emptied() -> String {
        let mut full = OnceLock::from(String::from("first"));
        full.get_mut().unwrap().push('!');
        let first = (full.get().cloned(), full.take(), full.get().cloned());
        let second = (full.set("second".into()), full.get_or_init(String::new).clone());
        format!("{first:?} {second:?} {:?}", full.wait())
    }

    fn a_panic_leaves_a_cell_empty() -> String {
        let cell: OnceLock<u8> = OnceLock::new();
        let died = catch_unwind(AssertUnwindSafe(|| *cell.get_or_init(|| panic!("no value")))).map_err(message);
        let empty = cell.get().copied();
        format!("{died:?} {empty:?} {} {:?}", cell.get_or_init(|| 7), cell.set(8))
    }

    fn all_see_one_value() -> String {
        let (cell, made) = (OnceLock::new(), AtomicU64::new(0));
        let same = thread::scope(|s| {
            let get = || *cell.get_or_init(|| made.fetch_add(1, SeqCst));
            let threads = [s.spawn(get), s.spawn(get), s.spawn(|| *cell.wait())];
            threads.map(|t| t.join().unwrap())
        });
        format!("{same:?} {:?} {}", cell.get(), made.load(SeqCst))
    }

    fn a_cell_drops_its_value() -> String {
        struct Counts<'a>(&'a AtomicU64);
        impl Drop for Counts<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, SeqCst);
            }
        }
        let drops = AtomicU64::new(0);
        let cell = OnceLock::new();
        let _ = cell.set(Counts(&drops));
        drop(cell.set(Counts(&drops)));
        let refused = drops.load(SeqCst);
        drop(cell);
        let lazy = LazyLock::new(|| Counts(&drops));
        drop(lazy);
        let lazy = LazyLock::new(|| Counts(&drops));
        LazyLock::force(&lazy);
        drop(lazy);
        format!("{refused} {}", drops.load(SeqCst))
    }

    fn a_cell_may_hold_what_dies_before_it() -> String {
        let cell = OnceLock::new();
        let text = String::from("short-lived");
        let _ = cell.set(text.as_str());
        (*cell.get().unwrap()).to_owned()
    }

    fn a_lazy_value_is_made_at_the_first_use() -> String {
        let made = AtomicU64::new(0);
        let lazy = LazyLock::new(|| made.fetch_add(1, SeqCst) + 40);
        let before = (made.load(SeqCst), format!("{lazy:?}"));
        let seen = thread::scope(|s| {
            let other = s.spawn(|| *lazy);
            (*lazy, other.join().unwrap(), *LazyLock::force(&lazy))
        });
        let default: LazyLock<Vec<u8>> = LazyLock::default();
        format!("{before:?} {seen:?} {} {lazy:?} {}", made.load(SeqCst), default.len())
    }

    fn a_lazy_value_is_poisoned_by_a_panic() -> String {
        let lazy: LazyLock<u8> = LazyLock::new(|| panic!("no value"));
        let first = catch_unwind(AssertUnwindSafe(|| *lazy)).map_err(message);
        let second = catch_unwind(AssertUnwindSafe(|| *lazy)).map_err(message);
        let third = catch_unwind(AssertUnwindSafe(|| *LazyLock::force(&lazy))).map_err(message);
        format!("{first:?} {second:?} {third:?} {lazy:?}")
    }

    fn once_statics_are_const() -> String {
        static ONCE: Once = Once::new();
        static CELL: OnceLock<u8> = OnceLock::new();
        static LAZY: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(|| Mutex::new(vec![1, 2]));
        static REFERS: OnceLock<&'static [u8]> = OnceLock::new();
        ONCE.call_once(|| ());
        let first = *CELL.get_or_init(|| 4);
        let refers = *REFERS.get_or_init(|| &[7, 8]);
        format!("{} {first} {:?} {refers:?}", ONCE.is_completed(), LAZY.lock().unwrap())
    }

    all! {
        once_runs_one_initialiser,
        once_is_poisoned_by_a_panic,
        a_fresh_once_is_not_poisoned,
        once_is_waited_for,
        a_waiter_that_overlooks_poison_waits_for_success,
        a_cell_is_written_once,
        a_full_cell_can_be_emptied,
        a_panic_leaves_a_cell_empty,
        all_see_one_value,
        a_cell_drops_its_value,
        a_cell_may_hold_what_dies_before_it,
        a_lazy_value_is_made_at_the_first_use,
        a_lazy_value_is_poisoned_by_a_panic,
        once_statics_are_const,
    }
}
