//! Barriers.

worlds! {
    fn one_leader_a_round() -> String {
        let gate = Arc::new(Barrier::new(3));
        let rounds = Arc::new(Mutex::new([0; 3]));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (gate, rounds) = (Arc::clone(&gate), Arc::clone(&rounds));
                thread::spawn(move || {
                    for round in 0..3 {
                        let leads = gate.wait().is_leader();
                        rounds.lock().unwrap()[round] += u32::from(leads);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        format!("{:?}", rounds.lock().unwrap())
    }

    fn nobody_passes_before_all_have_come() -> String {
        let (gate, come) = (Barrier::new(2), AtomicU64::new(0));
        let seen = thread::scope(|s| {
            let pass = || {
                come.fetch_add(1, SeqCst);
                gate.wait();
                come.load(SeqCst)
            };
            let other = s.spawn(pass);
            (pass(), other.join().unwrap())
        });
        format!("{seen:?}")
    }

    fn one_thread_is_its_own_leader() -> String {
        static GATE: Barrier = Barrier::new(1);
        let zero = Barrier::new(0);
        let result = zero.wait();
        format!("{:?} {} {} {zero:?}", result, zero.wait().is_leader(), GATE.wait().is_leader())
    }

    fn a_thread_that_unwinds_may_arrive() -> String {
        struct Arrives<'a>(&'a Barrier);
        impl Drop for Arrives<'_> {
            fn drop(&mut self) {
                self.0.wait();
            }
        }
        let gate = Barrier::new(2);
        let died = thread::scope(|s| {
            let dies = s.spawn(|| {
                let _arrives = Arrives(&gate);
                panic!("on the way");
            });
            gate.wait();
            dies.join().map(|()| String::new()).map_err(message)
        });
        format!("{died:?}")
    }

    all! {
        one_leader_a_round,
        nobody_passes_before_all_have_come,
        one_thread_is_its_own_leader,
        a_thread_that_unwinds_may_arrive,
    }
}
