//! POS, URW and SURW: what they promise, and that a seed means one run.

use std::collections::BTreeMap;
use std::sync::Mutex;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex as SimulatedMutex, RwLock};
use interleaf::{Explorer, Strategy, thread};

/// How often each order of operations came, by the letters of the threads that made them.
type Orders = BTreeMap<String, u64>;

/// Notes who made an operation, right after it; noting is no operation of the program.
struct Notes(std::sync::Arc<Mutex<String>>);

impl Notes {
    fn operation(&self, who: char, on: &AtomicU32) {
        on.fetch_add(1, SeqCst);
        self.note(who);
    }

    fn note(&self, who: char) {
        self.0.lock().unwrap().push(who);
    }
}

/// Runs `body` under `seeds` seeds.
fn orders(strategy: Strategy, seeds: u64, body: impl Fn(&std::sync::Arc<Mutex<String>>) + Sync) -> Orders {
    let orders = Mutex::new(Orders::new());
    let report = Explorer::new().strategy(strategy).seeds(0..seeds).check_determinism(false).run(|| {
        let notes = std::sync::Arc::new(Mutex::new(String::new()));
        body(&notes);
        // Not the profile runs.
        if interleaf::seed().is_some_and(|seed| seed < seeds) {
            let order = std::mem::take(&mut *notes.lock().unwrap());
            *orders.lock().unwrap().entry(order).or_insert(0) += 1;
        }
    });
    assert!(report.failures.is_empty() && report.executions == seeds);
    orders.into_inner().unwrap()
}

/// Pearson's statistic against equal chances of `cells` orders, in standard deviations from its mean: a right sampler is
/// within five (the distribution is nearly normal for hundreds of cells).
fn surprise(found: &Orders, cells: usize, runs: u64) -> f64 {
    assert!(found.len() <= cells, "{} orders, not {cells}", found.len());
    let expected = runs as f64 / cells as f64;
    let square = |n: f64| (n - expected).powi(2) / expected;
    let sum: f64 = found.values().map(|&n| square(n as f64)).sum::<f64>() + (cells - found.len()) as f64 * expected;
    let freedom = (cells - 1) as f64;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

/// Threads of 3, 2 and 2 operations: 7! / (3! 2! 2!) = 210 orders.
fn straight_threads(notes: &std::sync::Arc<Mutex<String>>) {
    let threads: Vec<_> = [('a', 3), ('b', 2), ('c', 2)]
        .into_iter()
        .map(|(who, operations)| {
            let notes = Notes(std::sync::Arc::clone(notes));
            thread::spawn(move || {
                let own = AtomicU32::new(0);
                (0..operations).for_each(|_| notes.operation(who, &own));
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn urw_is_uniform_over_the_interleavings_of_straight_threads() {
    const RUNS: u64 = 42_000;
    let urw = surprise(&orders(Strategy::Urw, RUNS, straight_threads), 210, RUNS);
    assert!(urw.abs() < 5.0, "{urw} standard deviations");
    // The test would notice: a random walk is not uniform.
    let random = surprise(&orders(Strategy::Random, RUNS, straight_threads), 210, RUNS);
    assert!(random > 100.0, "{random} standard deviations");
}

/// A tree of threads: main makes an operation, starts `a`, makes one, starts `b`, makes one. `a` makes one, starts `c`,
/// which makes two, and makes one more.
fn tree_of_threads(notes: &std::sync::Arc<Mutex<String>>) {
    let mine = Notes(std::sync::Arc::clone(notes));
    let on = AtomicU32::new(0);
    mine.operation('m', &on);
    let theirs = Notes(std::sync::Arc::clone(notes));
    let a = thread::spawn(move || {
        let on = AtomicU32::new(0);
        theirs.operation('a', &on);
        let notes = Notes(std::sync::Arc::clone(&theirs.0));
        let c = thread::spawn(move || {
            let on = AtomicU32::new(0);
            notes.operation('c', &on);
            notes.operation('c', &on);
        });
        theirs.operation('a', &on);
        c.join().unwrap();
    });
    mine.operation('m', &on);
    let theirs = Notes(std::sync::Arc::clone(notes));
    let b = thread::spawn(move || {
        let on = AtomicU32::new(0);
        (0..3).for_each(|_| theirs.operation('b', &on));
    });
    mine.operation('m', &on);
    a.join().unwrap();
    b.join().unwrap();
}

/// The orders of [`tree_of_threads`], counted one by one: how many operations m, a, b and c have made decides what can
/// come next.
fn orders_of_the_tree(m: u32, a: u32, b: u32, c: u32) -> usize {
    if (m, a, b, c) == (3, 2, 3, 2) {
        return 1;
    }
    let mut all = 0;
    if m < 3 {
        all += orders_of_the_tree(m + 1, a, b, c);
    }
    if a < 2 && m >= 1 {
        all += orders_of_the_tree(m, a + 1, b, c);
    }
    if b < 3 && m >= 2 {
        all += orders_of_the_tree(m, a, b + 1, c);
    }
    if c < 2 && a >= 1 {
        all += orders_of_the_tree(m, a, b, c + 1);
    }
    all
}

#[test]
fn urw_is_uniform_where_threads_are_started_on_the_way() {
    const RUNS: u64 = 80_000;
    let cells = orders_of_the_tree(0, 0, 0, 0);
    let urw = surprise(&orders(Strategy::Urw, RUNS, tree_of_threads), cells, RUNS);
    assert!(urw.abs() < 5.0, "{urw} standard deviations, {cells} orders");
}

/// Two objects, three threads: (object, writes), in the order of each thread.
const MODEL: [&[(usize, bool)]; 3] =
    [&[(0, true), (1, false), (0, false)], &[(0, false), (1, true)], &[(1, false), (0, true)]];

fn model_threads(notes: &std::sync::Arc<Mutex<String>>) {
    let objects = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let threads: Vec<_> = MODEL
        .into_iter()
        .zip('a'..)
        .map(|(operations, who)| {
            let (notes, objects) = (Notes(std::sync::Arc::clone(notes)), Arc::clone(&objects));
            thread::spawn(move || {
                for &(object, writes) in operations {
                    if writes {
                        objects[object].store(1, SeqCst);
                    } else {
                        objects[object].load(SeqCst);
                    }
                    notes.note(who);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

/// Partial order sampling as the paper has it: a list of pending events, each with a number; the highest goes.
fn model_of_pos(mut random: impl FnMut() -> f64) -> String {
    let mut pending: Vec<(f64, usize, usize)> = (0..3).map(|t| (random(), t, 0)).collect();
    let mut order = String::new();
    while let Some(&(number, thread, at)) = pending.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
        pending.retain(|event| event.0 != number);
        order.push(['a', 'b', 'c'][thread]);
        let (object, writes) = MODEL[thread][at];
        for event in &mut pending {
            let (other, writes_too) = MODEL[event.1][event.2];
            if other == object && (writes || writes_too) {
                event.0 = random();
            }
        }
        if at + 1 < MODEL[thread].len() {
            pending.push((random(), thread, at + 1));
        }
    }
    order
}

#[test]
fn pos_samples_as_a_model_of_it_does() {
    const RUNS: u64 = 40_000;
    let mut state = 1u64;
    let random = || {
        // Knuth's MMIX generator: not the one that the runtime uses.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut random = random;
    let mut model = Orders::new();
    for _ in 0..RUNS {
        *model.entry(model_of_pos(&mut random)).or_insert(0) += 1;
    }
    // Two samples of one distribution: the sum of (a-b)^2/(a+b) has the mean of its degrees of freedom.
    let compare = |found: &Orders| {
        let mut cells = model.clone();
        found.keys().for_each(|order| _ = cells.entry(order.clone()).or_insert(0));
        let sum: f64 = cells
            .iter()
            .map(|(order, &a)| {
                let (a, b) = (a as f64, found.get(order).map_or(0.0, |&b| b as f64));
                (a - b).powi(2) / (a + b)
            })
            .sum();
        let freedom = (cells.len() - 1) as f64;
        (sum - freedom) / (2.0 * freedom).sqrt()
    };
    let pos = compare(&orders(Strategy::Pos, RUNS, model_threads));
    assert!(pos.abs() < 5.0, "{pos} standard deviations");
    let random = compare(&orders(Strategy::Random, RUNS, model_threads));
    assert!(random > 50.0, "{random} standard deviations: the test cannot tell");
}

/// Locks, tries, waits, read locks, atomics, threads that start threads; fails in the end, so that each run leaves its
/// trace.
fn a_bit_of_everything() {
    let shared = Arc::new((SimulatedMutex::new(0), Condvar::new(), RwLock::new(0), AtomicU32::new(0)));
    let worker = |shared: &Arc<(SimulatedMutex<u32>, Condvar, RwLock<u32>, AtomicU32)>| {
        let shared = Arc::clone(shared);
        move || {
            let (mutex, condvar, rwlock, atomic) = &*shared;
            let seen = *rwlock.read().unwrap();
            if let Ok(mut value) = mutex.try_lock() {
                *value += seen;
            }
            *rwlock.write().unwrap() += 1;
            let _ = atomic.compare_exchange(0, 1, SeqCst, SeqCst);
            thread::yield_now();
            *mutex.lock().unwrap() += 1;
            condvar.notify_one();
        }
    };
    let first = thread::spawn(worker(&shared));
    let second = {
        let (inner, outer) = (worker(&shared), worker(&shared));
        thread::spawn(move || {
            let third = thread::spawn(inner);
            outer();
            third.join().unwrap();
        })
    };
    // How often depends on the schedule, and with it what a profile run shows.
    while shared.3.load(SeqCst) == 0 {
        thread::yield_now();
    }
    let mut value = shared.0.lock().unwrap();
    while *value < 3 {
        value = shared.1.wait(value).unwrap();
    }
    drop(value);
    first.join().unwrap();
    second.join().unwrap();
    panic!("on purpose");
}

const STRATEGIES: [Strategy; 5] =
    [Strategy::Pos, Strategy::Urw, Strategy::Surw, Strategy::Portfolio, Strategy::Pct { depth: 2 }];

fn traces(strategy: &Strategy, seeds: std::ops::Range<u64>, workers: usize) -> Vec<(u64, String, String, String)> {
    let explorer = Explorer::new().strategy(strategy.clone()).seeds(seeds).workers(workers).max_failures(usize::MAX);
    let failures = explorer.run(a_bit_of_everything).failures;
    failures
        .into_iter()
        .map(|f| (f.seed, f.strategy.clone(), f.token.clone(), interleaf::trace::jsonl::render(&f.trace)))
        .collect()
}

#[test]
fn a_seed_means_one_run_whatever_was_run_before_and_by_how_many_workers() {
    for strategy in STRATEGIES {
        let all = traces(&strategy, 0..150, 1);
        assert_eq!(all.len(), 150, "{strategy}");
        assert_eq!(traces(&strategy, 0..150, 1), all, "{strategy}, once more");
        assert_eq!(traces(&strategy, 0..150, 3), all, "{strategy}, three workers");
        assert_eq!(traces(&strategy, 77..78, 1), all[77..78], "{strategy}, alone");
        // And the runs differ from each other.
        let mut tokens: Vec<_> = all.iter().map(|(_, _, token, _)| token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        assert!(tokens.len() > 100, "{strategy}: only {} different runs", tokens.len());
    }
}

#[test]
fn a_member_of_the_portfolio_does_what_it_does_alone() {
    let all = traces(&Strategy::Portfolio, 0..60, 1);
    for name in ["pct:2", "pos", "urw"] {
        let alone = traces(&name.parse().unwrap(), 0..60, 1);
        let same = |t: &&(u64, String, String, String)| t.1 == name;
        assert_eq!(all.iter().filter(same).count(), 20, "{name}");
        assert!(all.iter().filter(same).all(|t| alone[t.0 as usize] == *t), "{name}");
    }
}

/// Threads that spin without a hint end under strategies that do not know that they spin.
#[test]
fn a_loop_that_waits_for_another_thread_ends() {
    for hint in [false, true] {
        for strategy in ["pos", "urw", "surw", "portfolio"] {
            if strategy == "portfolio" && !hint {
                // PCT needs the hint.
                continue;
            }
            // A hint lets POS end such a loop fast: half of the yields are the last, so to speak.
            let max_steps = if hint && strategy == "pos" { 300 } else { 50_000 };
            let report = Explorer::new().strategy(strategy.parse().unwrap()).max_steps(max_steps).run(move || {
                let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)));
                let other = Arc::clone(&shared);
                let setter = thread::spawn(move || {
                    other.2.store(1, SeqCst);
                    other.1.fetch_add(1, SeqCst);
                    other.0.store(1, SeqCst);
                });
                while shared.0.load(SeqCst) == 0 {
                    if hint {
                        interleaf::hint::spin_loop();
                    }
                }
                shared.1.fetch_add(1, SeqCst);
                setter.join().unwrap();
            });
            assert!(report.failures.is_empty(), "{strategy} {hint}: {}", report.failures[0]);
        }
    }
}

/// Two threads make three operations each on one object, and a different number on objects of their own in between.
fn threads_that_meet_on_one_object(notes: &std::sync::Arc<Mutex<String>>) {
    let shared = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = [('a', 0), ('b', 6)]
        .into_iter()
        .map(|(who, between)| {
            let (notes, shared) = (Notes(std::sync::Arc::clone(notes)), Arc::clone(&shared));
            thread::spawn(move || {
                let own = AtomicU32::new(0);
                for _ in 0..3 {
                    (0..between).for_each(|_| own.store(1, SeqCst));
                    notes.operation(who, &shared);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn surw_is_uniform_over_the_orders_on_the_object() {
    const RUNS: u64 = 20_000;
    let surw = surprise(&orders(Strategy::Surw, RUNS, threads_that_meet_on_one_object), 20, RUNS);
    assert!(surw.abs() < 5.0, "{surw} standard deviations");
    // URW is uniform over everything, and so seldom lets `b` be first.
    let urw = surprise(&orders(Strategy::Urw, RUNS, threads_that_meet_on_one_object), 20, RUNS);
    assert!(urw > 100.0, "{urw} standard deviations");
}
