//! The same programs on both sides.

use std::time::Duration;

use interleaf::{Explorer, Strategy};

use super::cpu_time;

/// `threads` threads do `rounds` atomic additions each.
macro_rules! additions {
    ($name:ident, $krate:ident) => {
        fn $name(threads: usize, rounds: usize) {
            use $krate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
            let total = std::sync::Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..threads)
                .map(|_| {
                    let total = std::sync::Arc::clone(&total);
                    $krate::thread::spawn(move || {
                        for _ in 0..rounds {
                            total.fetch_add(1, SeqCst);
                        }
                    })
                })
                .collect();
            for t in threads {
                t.join().unwrap();
            }
        }
    };
}

additions!(ours, interleaf);
additions!(theirs, loom);

fn explore(threads: usize, rounds: usize) -> u64 {
    let strategy = Strategy::Exhaustive { preemptions: None };
    let report = Explorer::new().strategy(strategy).seeds(0..u64::MAX).run(|| ours(threads, rounds));
    assert!(report.complete && report.failures.is_empty());
    report.executions
}

/// The number of executions, and whether Loom finished within its limits.
fn loom_explores(threads: usize, rounds: usize, limit: Duration) -> (u64, bool) {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(limit);
    let inside = std::sync::Arc::clone(&count);
    let start = std::time::Instant::now();
    builder.check(move || {
        inside.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        theirs(threads, rounds);
    });
    (count.load(std::sync::atomic::Ordering::Relaxed), start.elapsed() < limit)
}

pub(crate) fn table() {
    println!("| program | executions | CPU s | Loom executions | Loom CPU s | ratio | rounds |");
    println!("|---|---:|---:|---:|---:|---:|---|");
    for (threads, rounds, expected, loom_too) in
        [(2, 8, 12_870, true), (2, 10, 184_756, false), (3, 3, 1_680, true), (3, 4, 34_650, false)]
    {
        let limit = Duration::from_secs(60);
        let repetitions = if loom_too { 3 } else { 1 };
        let (mut us, mut them, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut executions, mut loom) = (0, (0, true));
        for round in 0..repetitions {
            let mut mine = || us.push(cpu_time(|| executions = explore(threads, rounds)).as_secs_f64());
            let mut other = || them.push(cpu_time(|| loom = loom_explores(threads, rounds, limit)).as_secs_f64());
            if round % 2 == 0 {
                mine();
                if loom_too {
                    other();
                }
            } else {
                other();
                mine();
            }
            if loom_too {
                ratios.push(them[round] / us[round]);
            }
        }
        assert_eq!(executions, expected, "{threads} threads, {rounds} additions each");
        us.sort_by(f64::total_cmp);
        print!("| {threads} threads × {rounds} additions | {executions} | {:.3} |", us[us.len() / 2]);
        if loom_too {
            them.sort_by(f64::total_cmp);
            ratios.sort_by(f64::total_cmp);
            println!(
                " {}{} | {:.3} | **{:.0}** | {:.0} to {:.0} |",
                if loom.1 { "" } else { "> " },
                loom.0,
                them[them.len() / 2],
                ratios[ratios.len() / 2],
                ratios[0],
                ratios[ratios.len() - 1]
            );
        } else {
            println!(" not run | | | |");
        }
    }
}
