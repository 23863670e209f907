//! Names the thread that blocks the OS thread for ever.
//!
//! All controlled threads of a run share one OS thread. Code under test that blocks it for real (a std lock held
//! across a scheduling point, a real `recv`, an endless loop without scheduling point) would hang without a word. A
//! watchdog thread notices that no step was made for a while, says which controlled thread ran last, what it did last
//! and where, and ends the process with the exit code for "did not settle". It never influences a run's verdict.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use super::rt::{MAX_THREADS, Rt};
use super::threads;

/// Exit code of a process that did not settle.
const DID_NOT_SETTLE: i32 = 3;

/// How long no step may be made; milliseconds. See [`set_patience`].
static PATIENCE_MS: AtomicU64 = AtomicU64::new(10_000);

struct Entry {
    rt: *const Rt,
    id: u64,
    seen: (u64, u32),
    since: Instant,
}

// SAFETY: the pointer is used only while the entry is in the table; `Watched::drop` removes it before the runtime dies.
unsafe impl Send for Entry {}

static TABLE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
static START: Once = Once::new();
static IDS: AtomicU64 = AtomicU64::new(0);
/// Set once a report is being written, so that only one is.
static REPORTED: AtomicBool = AtomicBool::new(false);

/// The registration of one runtime; removed when dropped.
pub(crate) struct Watched(u64);

/// Sets how long a run may make no step before the process is ended with a report.
pub fn set_patience(patience: Duration) {
    PATIENCE_MS.store(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

pub(crate) fn watch(rt: &Rt) -> Watched {
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    table().push(Entry { rt, id, seen: (0, 0), since: Instant::now() });
    START.call_once(|| {
        // Without a watchdog everything still works, except for the report of a hang.
        drop(std::thread::Builder::new().name("interleaf-watchdog".into()).spawn(look));
    });
    Watched(id)
}

impl Drop for Watched {
    fn drop(&mut self) {
        table().retain(|e| e.id != self.0);
    }
}

fn table() -> std::sync::MutexGuard<'static, Vec<Entry>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look() {
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let patience = Duration::from_millis(PATIENCE_MS.load(Ordering::Relaxed));
        for entry in table().iter_mut() {
            let rt = entry.rt;
            // SAFETY: the entry is in the table, so the runtime is alive. Racy reads of plain words: the epoch and the
            // running slot are read volatile and only decide what a diagnostic says.
            let (epoch, step, cur) = unsafe {
                let epoch = std::ptr::read_volatile(&raw const (*rt).epoch);
                let cur = std::ptr::read_volatile(&raw const (*rt).cur);
                (epoch, (*rt).step(), cur)
            };
            if entry.seen != (epoch, step) || cur >= MAX_THREADS {
                entry.seen = (epoch, step);
                entry.since = Instant::now();
            } else if entry.since.elapsed() >= patience && !REPORTED.swap(true, Ordering::Relaxed) {
                report(rt, cur, step);
            }
        }
    }
}

fn report(rt: *const Rt, cur: usize, step: u32) -> ! {
    // SAFETY: the run has made no step for seconds and the process ends here; the strings read are those of a thread
    // that is stuck outside the runtime.
    let (name, pending, seed) = unsafe {
        let rt = &*rt;
        (threads::label(rt, rt.number[cur]), rt.pending[cur], rt.seed)
    };
    eprintln!(
        "error: foreign block: thread {name} has blocked the simulation's OS thread since step {step} (seed {seed})\n  \
         last operation: {} at {}\n  \
         it waits for something that the simulation does not control: a std lock or channel held across a scheduling \
         point, a real sleep or I/O, or a loop without any operation on interleaf's types\n  \
         use interleaf::sync, interleaf::thread and interleaf::time there",
        crate::trace::verb(pending.kind),
        pending.location,
    );
    std::process::exit(DID_NOT_SETTLE);
}
