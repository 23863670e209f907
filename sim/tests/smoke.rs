//! smoke
use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use interleaf::{Explorer, FailureKind, Replay, Strategy, replay, thread};

#[test]
fn lost_update_found() {
    let f = || {
        let x = Arc::new(AtomicU32::new(0));
        let y = x.clone();
        let h = thread::spawn(move || {
            let v = y.load(SeqCst);
            y.store(v + 1, SeqCst);
        });
        let v = x.load(SeqCst);
        x.store(v + 1, SeqCst);
        h.join().unwrap();
        assert_eq!(x.load(SeqCst), 2);
    };
    for s in ["random", "pct:2", "portfolio", "dfs"] {
        let r = Explorer::new().strategy(s.parse().unwrap()).run(f);
        let fl = r.first_failure().unwrap();
        println!("{s}\n{fl}");
        match replay(&fl.token.parse().unwrap(), f) {
            Replay::Failed(a) => assert_eq!(a.trace, fl.trace),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn abba() {
    let f = || {
        let a = Arc::new(Mutex::new(0));
        let b = Arc::new(Mutex::new(0));
        interleaf::name(&*a, "A");
        let (a2, b2) = (a.clone(), b.clone());
        let h = thread::spawn(move || {
            let _x = a2.lock().unwrap();
            let _y = b2.lock().unwrap();
        });
        {
            let _y = b.lock().unwrap();
            let _x = a.lock().unwrap();
        }
        h.join().unwrap();
    };
    let r = Explorer::new().run(f);
    let fl = r.first_failure().unwrap();
    println!("{fl}");
    assert!(matches!(fl.kind, FailureKind::Deadlock { .. }));
}

#[test]
fn misc() {
    let f = || {
        let q = Arc::new((Mutex::new(0), Condvar::new()));
        let rw = Arc::new(RwLock::new(0));
        let (s, r) = mpsc::channel();
        let hs: Vec<_> = (0..2)
            .map(|i| {
                let (q, rw, s) = (q.clone(), rw.clone(), s.clone());
                thread::spawn(move || {
                    let mut g = q.0.lock().unwrap();
                    while *g == 0 {
                        g = q.1.wait(g).unwrap();
                    }
                    drop(g);
                    *rw.write().unwrap() += i;
                    let _ = *rw.read().unwrap();
                    s.send(i).unwrap();
                })
            })
            .collect();
        drop(s);
        *q.0.lock().unwrap() = 1;
        q.1.notify_all();
        let mut v: Vec<i32> = r.iter().collect();
        v.sort();
        assert_eq!(v, [0, 1]);
        for h in hs {
            h.join().unwrap();
        }
        let mut x = 0;
        thread::scope(|s| {
            s.spawn(|| x = 5);
        });
        assert_eq!(x, 5);
        let t = interleaf::time::Instant::now();
        thread::sleep(std::time::Duration::from_secs(3));
        assert_eq!(t.elapsed().as_secs(), 3);
    };
    for s in ["random", "pct:3", "portfolio"] {
        let r = Explorer::new().strategy(s.parse().unwrap()).count_distinct(true).seeds(0..3000).run(f);
        if let Some(f) = r.first_failure() {
            panic!("{f}");
        }
        println!("{s} {} {} {}", r.executions, r.steps, r.distinct);
    }
}

#[test]
fn counts() {
    fn mutex(t: usize, n: usize) {
        let m = Arc::new(Mutex::new(0));
        let h: Vec<_> = (0..t)
            .map(|_| {
                let m = m.clone();
                thread::spawn(move || {
                    for _ in 0..n {
                        *m.lock().unwrap() += 1;
                    }
                })
            })
            .collect();
        for h in h {
            h.join().unwrap();
        }
    }
    for (t, n) in [(2, 2), (2, 3), (3, 1), (3, 2), (2, 8)] {
        for full in [false, true] {
            let r = Explorer::new()
                .strategy(Strategy::Dfs { preemptions: None })
                .seeds(0..1_000_000)
                .every_operation(full)
                .count_distinct(true)
                .run(move || mutex(t, n));
            println!("{t}x{n} full={full}: {} distinct {} complete {}", r.executions, r.distinct, r.complete);
        }
    }
}
