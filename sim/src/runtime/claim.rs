//! Which simulation an object belongs to.
//!
//! The model state of a lock is not synchronised: it belongs to one run on one OS thread. An object that lives longer
//! than a run (a static) is claimed anew by each run. Two simulations that explore at the same time on two OS threads
//! must not share one, and neither may a simulation and ordinary threads; both are refused with a message that says
//! what to do, since the alternative is undefined behaviour, not a wrong verdict.
//!
//! Protocol (sequentially consistent, as in Dekker's algorithm): a simulation first writes its epoch into the object,
//! then looks whether the real lock is held; an ordinary thread first takes the real lock, then looks whether a
//! simulation that is alive has written its epoch. At least one of them sees the other.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::objects::header::Header;
use super::rt::Rt;

/// Most simulations that may explore at the same time in one process.
const SIMULATIONS: usize = 256;

/// The present epoch of each exploring OS thread; 0 where none is. The epoch's top byte is the position here.
static PRESENT: [AtomicU64; SIMULATIONS] = [const { AtomicU64::new(0) }; SIMULATIONS];

/// Runs ever started in this process, so that no two share an epoch.
static EPOCHS: AtomicU64 = AtomicU64::new(1);

const RESERVED: u64 = u64::MAX;

/// A place in the table of simulations, for as long as an exploration runs on this OS thread.
pub(crate) struct Seat {
    position: usize,
    next: u64,
    end: u64,
}

impl Seat {
    pub(crate) fn take() -> Self {
        for (position, present) in PRESENT.iter().enumerate() {
            if present.compare_exchange(0, RESERVED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return Self { position, next: 0, end: 0 };
            }
        }
        panic!("interleaf: more than {SIMULATIONS} explorations run at the same time in this process");
    }

    /// The epoch of the next run.
    pub(crate) fn next_epoch(&mut self) -> u64 {
        const BATCH: u64 = 1 << 20;
        if self.next == self.end {
            self.next = EPOCHS.fetch_add(BATCH, Ordering::Relaxed);
            self.end = self.next + BATCH;
        }
        let epoch = (self.position as u64) << 56 | self.next;
        self.next += 1;
        PRESENT[self.position].store(epoch, Ordering::Release);
        epoch
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        PRESENT[self.position].store(0, Ordering::SeqCst);
    }
}

/// Whether the run with this epoch goes on at this moment.
fn alive(epoch: u64) -> bool {
    epoch != 0 && PRESENT[(epoch >> 56) as usize].load(Ordering::SeqCst) == epoch
}

const TWO: &str = "is shared by two simulations that run at the same time on different OS threads";

/// Makes `header` an object of the present run of `r`. `free` says whether nobody holds it.
#[cold]
#[inline(never)]
pub(crate) fn claim(r: *mut Rt, header: &Header, free: impl Fn() -> Result<(), &'static str>) {
    let before = header.epoch.load(Ordering::SeqCst);
    if alive(before) {
        refuse(header, TWO);
    }
    // SAFETY: `r` is this OS thread's runtime and no reference into it is held.
    let r = unsafe { &mut *r };
    if header.epoch.compare_exchange(before, r.epoch, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        refuse(header, TWO);
    }
    if let Err(why) = free() {
        // Whoever catches the panic must not find the object claimed.
        header.epoch.store(before, Ordering::SeqCst);
        refuse(header, why);
    }
    header.enrol(r);
}

/// A thread was abandoned, with the locks that it held.
static ABANDONED: AtomicBool = AtomicBool::new(false);

pub(crate) fn thread_was_abandoned() {
    ABANDONED.store(true, Ordering::Relaxed);
}

/// Judges the state that an earlier run left a lock in. If it is held, either its guard was forgotten, or it still
/// exists (in a thread-local) and gives access to the value. Abandoned threads never use theirs again.
#[inline(always)]
pub(crate) fn left_free(free: bool) -> Result<(), &'static str> {
    if free || ABANDONED.load(Ordering::Relaxed) { Ok(()) } else { Err("is still locked by an earlier run") }
}

/// Called by an ordinary thread that has just taken the real lock.
#[inline(always)]
pub(crate) fn check_ordinary(header: &Header, free: impl Fn() -> bool) {
    let epoch = header.epoch.load(Ordering::SeqCst);
    if epoch != 0 {
        check_claimed(header, epoch, free);
    }
}

#[cold]
fn check_claimed(header: &Header, epoch: u64, free: impl Fn() -> bool) {
    if alive(epoch) {
        refuse(header, "is shared by an ordinary thread and a simulation that runs at this moment");
    }
    if let Err(why) = left_free(free()) {
        refuse(header, why);
    }
}

#[cold]
fn refuse(header: &Header, why: &str) -> ! {
    let made: &Location<'_> = header.created;
    panic!(
        "interleaf: the object made at {made} {why}. A simulated object belongs to one run: make it inside the closure \
         under test, or explore with one worker"
    )
}
