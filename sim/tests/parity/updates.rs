//! Updates whose result nobody sees.

worlds! {
    use interleaf::sync::atomic::{Update, UpdateBool};
    use w::sync::atomic::{AtomicI8, AtomicI16, AtomicI64, AtomicIsize, AtomicU16, AtomicU32};

    macro_rules! all_kinds {
        ($($name:ident)*) => {
            [$({
                let a = $name::new(5);
                let mut seen = Vec::new();
                let mut note = |a: &$name| seen.push(format!("{a:?}"));
                a.sub(7, SeqCst);
                note(&a);
                a.max(3, SeqCst);
                note(&a);
                a.add(100, SeqCst);
                a.add(100, SeqCst);
                note(&a);
                a.and(0b110_1100, SeqCst);
                note(&a);
                a.or(0b1001, SeqCst);
                note(&a);
                a.xor(0b1010, SeqCst);
                note(&a);
                a.min(17, SeqCst);
                note(&a);
                format!("{} {seen:?}", stringify!($name))
            }),*]
        };
    }

    fn updates_of_all_integers() -> String {
        let all = all_kinds!(AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicU8 AtomicU16 AtomicU32 AtomicU64
            AtomicUsize);
        all.join("\n")
    }

    fn updates_of_flags() -> String {
        let (flag, mut seen) = (AtomicBool::new(false), Vec::new());
        for value in [true, false] {
            flag.or(value, SeqCst);
            seen.push(flag.load(SeqCst));
            flag.xor(value, SeqCst);
            seen.push(flag.load(SeqCst));
            flag.and(value, SeqCst);
            seen.push(flag.load(SeqCst));
        }
        format!("{seen:?}")
    }

    fn threads_that_count() -> String {
        let counted = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (1..4)
            .map(|i| {
                let counted = Arc::clone(&counted);
                thread::spawn(move || {
                    counted.add(i, SeqCst);
                    counted.sub(1, SeqCst);
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        format!("{counted:?}")
    }

    all!(updates_of_all_integers, updates_of_flags, threads_that_count);
}
