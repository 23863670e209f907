//! Thread-locals. Each body uses them in threads of its own, whose values are fresh.

worlds! {
    type Log = Arc<Mutex<Vec<String>>>;

    /// Runs `f` in a thread of its own and tells what was logged, its destructors included.
    fn logged(f: impl FnOnce(&Log) + Send + 'static) -> String {
        let log: Log = Log::default();
        let theirs = Arc::clone(&log);
        let ended = thread::spawn(move || f(&theirs)).join().map_err(message);
        format!("{ended:?} {:?}", log.lock().unwrap())
    }

    /// Logs its name when it is dropped.
    struct Named(&'static str, Log);

    impl Drop for Named {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(format!("drop {}", self.0));
        }
    }

    fn each_thread_has_its_own() -> String {
        w::thread_local! {
            static COUNT: Cell<u32> = const { Cell::new(10) };
            static LIST: RefCell<Vec<u32>> = RefCell::new(vec![COUNT.get()]);
        }
        let count = |n: u32| {
            move || {
                for i in 0..n {
                    COUNT.set(COUNT.get() + 1);
                    LIST.with_borrow_mut(|list| list.push(i));
                    thread::yield_now();
                }
                (COUNT.get(), LIST.take(), LIST.with_borrow(Vec::len))
            }
        };
        let threads: Vec<_> = (1..4).map(|n| thread::spawn(count(n))).collect();
        let seen: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        format!("{seen:?}")
    }

    fn a_value_is_made_at_the_first_use() -> String {
        w::thread_local! {
            static MADE: Cell<u32> = const { Cell::new(0) };
            static LAZY: u32 = {
                MADE.set(MADE.get() + 1);
                MADE.get()
            };
        }
        let seen = thread::spawn(|| (MADE.get(), LAZY.with(|v| *v), LAZY.with(|v| *v), MADE.get()));
        format!("{:?}", seen.join().unwrap())
    }

    fn set_does_not_make_the_first_value() -> String {
        w::thread_local! {
            static CELL: Cell<u8> = unreachable!("not called");
            static LIST: RefCell<Vec<u8>> = unreachable!("not called");
            static TEXT: RefCell<String> = RefCell::new("first".into());
        }
        let seen = thread::spawn(|| {
            CELL.set(3);
            LIST.set(vec![4]);
            TEXT.set("second".into());
            let first = (CELL.replace(5), CELL.take(), LIST.replace(vec![6]), TEXT.take());
            CELL.set(7);
            LIST.set(vec![8]);
            (first, CELL.get(), LIST.with_borrow(Clone::clone), LIST.try_with(|l| l.borrow().len()).unwrap())
        });
        format!("{:?}", seen.join().unwrap())
    }

    fn the_youngest_is_dropped_first() -> String {
        w::thread_local! {
            static A: RefCell<Option<Named>> = const { RefCell::new(None) };
            static B: RefCell<Option<Named>> = const { RefCell::new(None) };
            static C: RefCell<Option<Named>> = const { RefCell::new(None) };
        }
        logged(|log| {
            let named = |name| Some(Named(name, Arc::clone(log)));
            B.set(named("b"));
            A.set(named("a"));
            C.set(named("c"));
            // Not the first use: its place stays.
            B.set(named("B"));
            log.lock().unwrap().push("end".into());
        })
    }

    fn destructors_run_before_join_returns() -> String {
        w::thread_local! {
            static VALUE: RefCell<Option<Named>> = const { RefCell::new(None) };
        }
        logged(|log| {
            VALUE.set(Some(Named("outer", Arc::clone(log))));
            let theirs = Arc::clone(log);
            let inner = thread::spawn(move || VALUE.set(Some(Named("inner", theirs))));
            inner.join().unwrap();
            log.lock().unwrap().push("joined".into());
        })
    }

    fn a_value_is_out_of_reach_while_it_is_dropped() -> String {
        struct Looks(Log);
        impl Drop for Looks {
            fn drop(&mut self) {
                let own = OWN.try_with(|_| ());
                let other = OTHER.try_with(|other| other.borrow().is_some());
                let plain = PLAIN.try_with(Cell::get);
                let caught = catch_unwind(|| OWN.with(|_| ())).map_err(message);
                let text = own.map_err(|error: thread::AccessError| format!("{error} {error:?}"));
                self.0.lock().unwrap().push(format!("{text:?} {other:?} {plain:?} {caught:?}"));
            }
        }
        w::thread_local! {
            static OTHER: RefCell<Option<Looks>> = const { RefCell::new(None) };
            static OWN: RefCell<Option<Looks>> = const { RefCell::new(None) };
            static PLAIN: Cell<u32> = const { Cell::new(5) };
        }
        logged(|log| {
            // The younger finds the older alive; the older finds the younger gone.
            OTHER.set(Some(Looks(Arc::clone(log))));
            OWN.set(Some(Looks(Arc::clone(log))));
            PLAIN.set(6);
        })
    }

    fn a_destructor_may_make_another() -> String {
        struct Makes(Log);
        impl Drop for Makes {
            fn drop(&mut self) {
                LATE.set(Some(Named("late", Arc::clone(&self.0))));
                self.0.lock().unwrap().push("made".into());
            }
        }
        w::thread_local! {
            static EARLY: RefCell<Option<Makes>> = const { RefCell::new(None) };
            static LATE: RefCell<Option<Named>> = const { RefCell::new(None) };
        }
        logged(|log| EARLY.set(Some(Makes(Arc::clone(log)))))
    }

    fn an_initialiser_may_use_others_and_itself() -> String {
        w::thread_local! {
            static DEPTH: Cell<u32> = const { Cell::new(0) };
            static NESTED: String = {
                DEPTH.set(DEPTH.get() + 1);
                if DEPTH.get() < 3 { NESTED.with(|inner| format!("({inner})")) } else { "core".into() }
            };
        }
        let seen = thread::spawn(|| (NESTED.with(String::clone), NESTED.with(String::clone), DEPTH.get()));
        format!("{:?}", seen.join().unwrap())
    }

    fn an_initialiser_may_panic() -> String {
        w::thread_local! {
            static TRIES: Cell<u32> = const { Cell::new(0) };
            static VALUE: u32 = {
                TRIES.set(TRIES.get() + 1);
                assert!(TRIES.get() > 1, "the first time");
                TRIES.get()
            };
        }
        let seen = thread::spawn(|| (catch_unwind(|| VALUE.with(|v| *v)).map_err(message), VALUE.with(|v| *v)));
        format!("{:?}", seen.join().unwrap())
    }

    fn destructors_run_after_a_panic() -> String {
        w::thread_local! {
            static VALUE: RefCell<Option<Named>> = const { RefCell::new(None) };
        }
        logged(|log| {
            VALUE.set(Some(Named("value", Arc::clone(log))));
            panic!("ends the thread");
        })
    }

    fn a_borrowed_cell_is_still_a_cell() -> String {
        w::thread_local! {
            static CELL: RefCell<u8> = const { RefCell::new(1) };
        }
        let seen = thread::spawn(|| {
            CELL.with_borrow(|_| catch_unwind(|| CELL.with_borrow_mut(|_| ())).map_err(|_| "borrowed"))
        });
        format!("{:?}", seen.join().unwrap())
    }

    fn declarations_take_what_stds_take() -> String {
        mod inner {
            #[cfg(any())]
            use super::absent;
            pub(super) fn init() -> u8 {
                3
            }
            super::w::thread_local! {}
            super::w::thread_local! {
                /// Documented.
                pub(super) static SHARED: u8 = init();
                #[allow(dead_code)]
                static PRIVATE: u8 = const { 1 + 1 };
                pub static LAST: (u8, &'static str) = const { (4, "four") }
            }
        }
        inner::SHARED.with(|a| inner::LAST.with(|b| format!("{a} {b:?} {:?}", inner::LAST)))
    }

    all! {
        each_thread_has_its_own,
        a_value_is_made_at_the_first_use,
        set_does_not_make_the_first_value,
        the_youngest_is_dropped_first,
        destructors_run_before_join_returns,
        a_value_is_out_of_reach_while_it_is_dropped,
        a_destructor_may_make_another,
        an_initialiser_may_use_others_and_itself,
        an_initialiser_may_panic,
        destructors_run_after_a_panic,
        a_borrowed_cell_is_still_a_cell,
        declarations_take_what_stds_take,
    }
}
