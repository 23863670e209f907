//! Atomics, snapshot cells and reference counts.

worlds! {
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

    fn weak_references() -> String {
        let strong = Arc::new(Mutex::new(1));
        let weak: Weak<Mutex<u8>> = Arc::downgrade(&strong);
        let before = weak.upgrade().is_some();
        drop(strong);
        format!("{before} {}", weak.upgrade().is_none())
    }

    all! {
        atomics_compute,
        snapshots_are_replaced_as_a_whole,
        weak_references,
    }
}
