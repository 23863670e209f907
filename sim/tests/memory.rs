//! Memory stays flat from a thousand executions to a million, whether they pass or fail, and nothing leaks.
//!
//! The test binary's allocator counts what is alive, per OS thread, since an exploration with one worker runs on the
//! thread that started it. Stacks are mapped, not allocated: those show in the resident size of the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::time::Duration;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock, mpsc};
use interleaf::{Explorer, Report, Strategy, Violation, thread};

/// Executions of the long explorations. A million takes a quarter of an hour without optimisation.
const MANY: u64 = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
const FEW: u64 = 1_000;

/// Failures that one exploration keeps, with their traces.
const KEPT: u64 = 50;

struct Counting;

thread_local! {
    static LIVE: Cell<Live> = const { Cell::new(Live { blocks: 0, bytes: 0, peak: 0 }) };
}

/// What an OS thread has allocated and not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Live {
    blocks: i64,
    bytes: i64,
    peak: i64,
}

fn note(blocks: i64, bytes: i64) {
    // Fails while the thread's locals are being destroyed, when nobody looks any more.
    let _ = LIVE.try_with(|live| {
        let mut now = live.get();
        now.blocks += blocks;
        now.bytes += bytes;
        now.peak = now.peak.max(now.bytes);
        live.set(now);
    });
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(-1, -(layout.size() as i64));
        // SAFETY: as the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn live() -> (i64, i64) {
    let now = LIVE.get();
    (now.blocks, now.bytes)
}

/// The most that `f` had alive beyond what was alive before.
fn peak(f: impl FnOnce()) -> i64 {
    let mut now = LIVE.get();
    now.peak = now.bytes;
    LIVE.set(now);
    f();
    LIVE.get().peak - now.bytes
}

/// Resident memory of the process in bytes; 0 where it cannot be read.
fn resident() -> i64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    text.split(' ').nth(1).and_then(|pages| pages.parse::<i64>().ok()).unwrap_or(0) * 4096
}

/// Runs `explore` for few and for many executions: the second must not need more, and must leave nothing behind.
fn stays_flat(many: u64, explore: impl Fn(u64)) {
    // The resident size is that of the process, so the tests take turns.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // What is set up once per process or OS thread: stacks, hooks, symbols for backtraces.
    explore(FEW);
    let before = live();
    let short = peak(|| explore(FEW));
    assert_eq!(live(), before, "{FEW} executions left something behind");
    let resident_before = resident();
    let long = peak(|| explore(many));
    assert_eq!(live(), before, "{many} executions left something behind");
    // Traces of the compared runs and of the failures differ in length.
    assert!(long < short + (128 << 10), "{short} bytes for {FEW} executions, {long} for {many}");
    let grown = resident() - resident_before;
    assert!(grown < 4 << 20, "the process grew by {grown} bytes over {many} executions");
}

fn explorer(strategy: &str) -> Explorer<'static> {
    Explorer::new().strategy(strategy.parse::<Strategy>().expect("a strategy")).max_steps(2_000)
}

/// `n` failing executions, in explorations of which each keeps a few failures.
fn all_fail(strategy: &str, n: u64, body: impl Fn() + Sync) {
    for first in (0..n).step_by(KEPT as usize) {
        let report: Report = explorer(strategy).seeds(first..first + KEPT).max_failures(KEPT as usize).run(&body);
        assert_eq!(report.failures.len() as u64, KEPT, "every execution fails");
        assert_eq!(report.abandoned, 0, "every thread can be unwound");
    }
}

/// Depth-first over traces: what is kept is the path, whose length depends on the program and not on how much of it
/// was explored.
#[test]
fn exhaustive_exploration_keeps_only_its_path() {
    let body = || {
        let total = Arc::new(AtomicU32::new(0));
        let add = |total: Arc<AtomicU32>| {
            move || {
                for _ in 0..10 {
                    total.fetch_add(1, SeqCst);
                }
            }
        };
        let threads = [thread::spawn(add(Arc::clone(&total))), thread::spawn(add(total))];
        threads.into_iter().for_each(|t| t.join().unwrap());
    };
    // 184,756 traces in all.
    stays_flat(MANY.min(150_000), |n| {
        let report = explorer("exhaustive").seeds(0..n).run(body);
        assert_eq!((report.executions, report.complete), (n, false));
    });
}

/// A value whose destructor takes a lock and schedules.
struct Signs(Arc<Mutex<Vec<String>>>);

impl Drop for Signs {
    fn drop(&mut self) {
        if let Ok(mut book) = self.0.lock() {
            book.push(String::from("a value on the heap"));
        }
    }
}

/// Threads with everything that allocates: closures, results, channels, guards.
fn passes() {
    let queue = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let shared = Arc::new(RwLock::new(String::from("a value on the heap")));
    let (sender, receiver) = mpsc::channel();
    let workers: Vec<_> = (0..2u32)
        .map(|i| {
            let (queue, shared, sender) = (Arc::clone(&queue), Arc::clone(&shared), sender.clone());
            thread::spawn(move || {
                let mut jobs = queue.0.lock().unwrap();
                while jobs.is_empty() {
                    jobs = queue.1.wait(jobs).unwrap();
                }
                let job: Box<u32> = jobs.pop().unwrap();
                drop(jobs);
                shared.write().unwrap().push('!');
                sender.send(Box::new(*job + i)).unwrap();
                Box::new(i)
            })
        })
        .collect();
    drop(sender);
    for job in 0..2 {
        queue.0.lock().unwrap().push(Box::new(job));
        queue.1.notify_one();
    }
    assert_eq!(receiver.iter().count(), 2);
    let joined: u32 = workers.into_iter().map(|w| *w.join().unwrap()).sum();
    assert_eq!(joined, 1);
    // A panic that is joined is an ordinary value, and one more thing to free.
    let caught = thread::spawn(|| std::panic::resume_unwind(Box::new(String::from("on purpose")))).join();
    assert!(caught.is_err());
}

#[test]
fn passing_executions() {
    for strategy in ["random", "pct:3", "pos", "urw", "surw"] {
        stays_flat(MANY / 2, |n| {
            let report = explorer(strategy).seeds(0..n).run(passes);
            assert!(report.failures.is_empty(), "{}", report.failures[0]);
        });
    }
}

#[test]
fn depth_first_search() {
    stays_flat(MANY, |n| {
        let mut left = n;
        while left > 0 {
            let report = explorer("dfs").seeds(0..left).count_distinct(true).run(passes);
            assert!(report.failures.is_empty(), "{}", report.failures[0]);
            assert!(report.complete || report.executions == left);
            left -= report.executions;
        }
    });
}

/// Suspended threads hold guards, boxes and the last references; their destructors lock.
fn deadlocks() {
    let book = Arc::new(Mutex::new(Vec::new()));
    let locks = Arc::new((Mutex::new(Box::new(1)), RwLock::new(vec![2]), Condvar::new()));
    let waiters: Vec<_> = (0..2u32)
        .map(|i| {
            let (signs, locks) = (Signs(Arc::clone(&book)), Arc::clone(&locks));
            thread::spawn(move || {
                let kept = Box::new(i);
                let reading = locks.1.read().unwrap();
                let mut guard = locks.0.lock().unwrap();
                **guard += *kept;
                // Nobody ever notifies.
                let guard = locks.2.wait(guard).unwrap();
                drop((guard, reading, signs));
                kept
            })
        })
        .collect();
    let never = thread::spawn(move || locks.1.write().unwrap().push(3));
    let mine = Signs(book);
    waiters.into_iter().for_each(|w| drop(w.join()));
    drop((never.join(), mine));
}

#[test]
fn deadlocked_executions() {
    stays_flat(MANY, |n| all_fail("random", n, deadlocks));
}

/// A broken rule ends the run while others hold things.
fn breaks_a_rule() {
    let book = Arc::new(Mutex::new(Vec::new()));
    let _other = {
        let signs = Signs(Arc::clone(&book));
        let cell = AtomicU32::new(0);
        thread::spawn(move || {
            let held = Box::new(signs);
            // Ends only by being unwound.
            while cell.load(SeqCst) == 0 {
                thread::yield_now();
            }
            drop(held);
        })
    };
    let _guard = book.lock().unwrap();
    Violation::new("on purpose", "it is broken").raise();
}

#[test]
fn executions_that_break_a_rule() {
    stays_flat(MANY / 5, |n| all_fail("pct:3", n, breaks_a_rule));
}

/// The closure under test panics. Each such failure carries a backtrace, which takes its time.
fn panics() {
    let shared = Arc::new(Mutex::new(vec![Box::new(1)]));
    let holder = {
        let signs = Signs(Arc::new(Mutex::new(Vec::new())));
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let _guard = shared.lock();
            drop(signs);
        })
    };
    let _guard = shared.lock();
    assert_eq!(holder.thread().name(), Some("on purpose"), "on purpose");
}

#[test]
fn panicking_executions() {
    stays_flat(MANY / 25, |n| all_fail("random", n, panics));
}

/// A run that is cut by the step limit.
fn never_ends() {
    let cell = Arc::new((AtomicU32::new(0), Box::new(1)));
    let other = Arc::clone(&cell);
    let spinner = thread::spawn(move || {
        while other.0.load(SeqCst) == 0 {
            thread::yield_now();
        }
        drop(other);
    });
    drop(spinner.join());
}

#[test]
fn executions_without_end() {
    stays_flat(MANY / 25, |n| all_fail("random", n, never_ends));
}

interleaf::thread_local! {
    static OWN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static PLAIN: Cell<u32> = const { Cell::new(0) };
}

/// What else allocates: cells of a run, thread-locals, messages that wait or are given back. Ends as `stuck` says.
fn meets(stuck: bool) {
    let shared = Arc::new((Barrier::new(2), OnceLock::new(), LazyLock::new(|| Box::new(1))));
    let (sender, receiver) = mpsc::sync_channel(0);
    let (fills, full) = mpsc::sync_channel(1);
    let theirs = Arc::clone(&shared);
    let other = thread::spawn(move || {
        OWN.with_borrow_mut(|own| own.push(String::from("a value on the heap")));
        PLAIN.set(2);
        theirs.0.wait();
        theirs.1.get_or_init(|| Box::new(3));
        let sent = sender.send(Box::new(4)).is_ok();
        let filled = (0..2).filter(|i| fills.send(Box::new(*i)).is_ok()).count();
        (sent, filled)
    });
    OWN.set(vec![String::from("a value on the heap")]);
    shared.0.wait();
    let sum = **shared.1.get_or_init(|| Box::new(3)) + **shared.2;
    assert_eq!(sum, 4);
    while receiver.recv_timeout(Duration::from_secs(1)).is_err() {}
    if stuck {
        shared.0.wait();
    }
    drop(full);
    let (sent, filled) = other.join().unwrap();
    assert!(sent && filled < 2);
}

#[test]
fn executions_with_cells_and_thread_locals() {
    stays_flat(MANY / 5, |n| {
        let report = explorer("random").seeds(0..n).run(|| meets(false));
        assert!(report.failures.is_empty(), "{}", report.failures[0]);
    });
    stays_flat(MANY / 25, |n| all_fail("random", n, || meets(true)));
}

#[test]
fn a_static_that_a_run_initialises_costs_its_value() {
    static LAZY: LazyLock<Box<[u8; 100]>> = LazyLock::new(|| Box::new([7; 100]));
    let explore = |n| {
        let report = explorer("random").seeds(0..n).check_determinism(false).run(|| assert_eq!(LAZY[5], 7));
        assert!(report.failures.is_empty(), "{}", report.failures[0]);
    };
    let grown = |n| {
        let before = live();
        explore(n);
        (live().0 - before.0, live().1 - before.1)
    };
    grown(10);
    let (few, many) = (grown(10), grown(1_010));
    let (blocks, bytes) = (many.0 - few.0, many.1 - few.1);
    // The value itself and the cell around it: it is never freed, as it may be referred to for ever.
    assert_eq!((blocks, bytes % 1_000), (2_000, 0));
    assert!(bytes < 300 * 1_000, "{bytes} bytes for 1000 runs");
}
