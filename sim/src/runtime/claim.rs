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
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Makes `header` an object of the present run of `r`. `free` says whether the real lock is free.
#[cold]
#[inline(never)]
pub(crate) fn claim(r: *mut Rt, header: &Header, free: impl Fn() -> bool) {
    let before = header.epoch.load(Ordering::SeqCst);
    if alive(before) {
        shared(header, "two simulations that run at the same time on different OS threads");
    }
    // SAFETY: `r` is this OS thread's runtime and no reference into it is held.
    let r = unsafe { &mut *r };
    if header.epoch.compare_exchange(before, r.epoch, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        shared(header, "two simulations that run at the same time on different OS threads");
    }
    header.enrol(r);
    if !free() {
        shared(header, "a simulation and an ordinary thread that holds it");
    }
}

/// Called by an ordinary thread that has just taken the real lock.
#[inline(always)]
pub(crate) fn check_ordinary(header: &Header) {
    let epoch = header.epoch.load(Ordering::SeqCst);
    if epoch != 0 {
        check_claimed(header, epoch);
    }
}

#[cold]
fn check_claimed(header: &Header, epoch: u64) {
    if alive(epoch) {
        shared(header, "an ordinary thread and a simulation that runs at this moment");
    }
}

#[cold]
fn shared(header: &Header, who: &str) -> ! {
    let made: &Location<'_> = header.created;
    panic!(
        "interleaf: the lock made at {made} is shared by {who}. A simulated object belongs to one run: make it inside \
         the closure under test, or explore with one worker"
    )
}
