//! The state of one run.
//!
//! One [`Rt`] per exploring OS thread, reused for all its executions. Controlled code reaches it through a
//! `const`-initialised thread-local pointer; outside a simulation that pointer is null, which is the whole cost of
//! the dual-mode façade.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::explore::failure::FailureKind;
use crate::memory::MemoryModel;
use crate::memory::state::Memory;
use crate::monitor::{Monitor, OpKind};
use crate::strategy::Active;

use super::context::Contexts;
use super::inlined::Inlined;
use super::locals::Local;
use super::objects::header::Header;
use super::objects::per_run::Kept;
use super::panic_hook::Caught;
use super::record::Tracks;
use super::threads::ThreadRecord;

/// Most threads that may be alive at once in one run: a machine word of bits.
pub(crate) const MAX_THREADS: usize = 64;
/// The pseudo slot of the exploration loop.
pub(crate) const RUNNER: usize = MAX_THREADS;
/// No thread and not the exploration loop either.
pub(crate) const NOBODY: usize = MAX_THREADS + 1;

/// An announced operation. `at` is the address of the object's [`Header`] or a thread slot (below
/// [`MAX_THREADS`]); it is resolved to a name only when somebody looks.
#[derive(Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) at: usize,
    pub(crate) location: &'static Location<'static>,
    pub(crate) kind: OpKind,
}

/// Which inlined way of choosing the scheduling point uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Mode {
    Random,
    Pct,
    /// Ask [`Rt::active`].
    Asked,
    // Those of [`super::inlined`].
    Pos,
    Urw,
    Surw,
    /// A random walk that learns the program's size.
    Learn,
}

/// Settings that hold for every execution of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Steps after which a run is cut.
    pub(crate) max_steps: u32,
    /// Every release of a lock is a scheduling point, not only of locks that somebody tries to lock.
    pub(crate) every_operation: bool,
    /// How many spurious wake-ups a run may contain.
    pub(crate) spurious_wakeups: u32,
    /// How many spurious failures of weak compare-and-swap a run may contain.
    pub(crate) weak_cas_failures: u32,
    /// Virtual time moves only when nothing else can run.
    pub(crate) time_when_idle: bool,
    /// A deadlock is reported when nobody can run any more, not when some can never run again.
    pub(crate) whole_deadlocks: bool,
    /// A reader that holds something may find itself behind a writer that waits.
    pub(crate) queues: bool,
    /// What others can see of what a thread does next is a step of its own.
    pub(crate) steps_apart: Apart,
    /// What atomics mean.
    pub(crate) memory_model: MemoryModel,
}

/// What is a step of its own, and not a part of the one before it. See [`crate::exhaustive::apart`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Apart {
    /// That a thread ends.
    pub(crate) ends: bool,
    /// That a thread begins to wait for writing.
    pub(crate) queues: bool,
}

/// Bits of [`Rt::slow`].
pub(crate) const SLOW_TRACK: u64 = 1 << 63;
pub(crate) const SLOW_ASKED: u64 = 1 << 62;
pub(crate) const SLOW_TIME: u64 = 1 << 61;

pub(crate) struct Rt {
    // Touched at every scheduling point.
    pub(crate) cur: usize,
    /// Threads whose announced operation can run now.
    pub(crate) enabled: u64,
    /// Threads that must run to their next announcement before the next choice: started, or joined with success.
    pub(crate) eager: u64,
    /// Who ran before the eager threads did, or [`NOBODY`] if none has run since the last choice. They only come to
    /// their announcement, so for strategies that know whom they interrupt it is as if they had not run.
    pub(crate) before_eager: usize,
    /// Who ran before the present decision.
    pub(crate) last: usize,
    /// Who has last come back from a join, and in which step.
    pub(crate) joined: (usize, u32),
    /// Why the inlined fast path must not be used; zero if it may.
    pub(crate) slow: u64,
    pub(crate) log: *mut u8,
    /// Read by the watchdog from another OS thread, hence atomic; compiles to plain moves.
    pub(crate) steps: AtomicU32,
    pub(crate) max_steps: u32,
    pub(crate) mode: Mode,
    pub(crate) cancel: bool,
    pub(crate) track: bool,
    pub(crate) every_operation: bool,
    pub(crate) rng: Xoshiro256PlusPlus,
    /// PCT: threads with a higher priority than the running one.
    pub(crate) above: u64,
    /// PCT: the step at which the next priority change happens.
    pub(crate) next_change: u32,
    pub(crate) epoch: u64,
    pub(crate) pending: [Pending; MAX_THREADS],
    pub(crate) contexts: Contexts,

    // Per thread slot.
    pub(crate) alive: u64,
    /// Who waits for the slot's end.
    pub(crate) joiners: [u64; MAX_THREADS],
    /// How many locks the slot's thread holds.
    pub(crate) held: [u32; MAX_THREADS],
    /// Index into [`Rt::threads`] of the slot's present thread.
    pub(crate) number: [u32; MAX_THREADS],
    /// `park` tokens.
    pub(crate) tokens: u64,
    /// Slots that are blocked in `park`.
    pub(crate) parked: u64,
    /// Slots whose thread was suspended while it unwinds.
    pub(crate) unwinding: u64,
    /// Slots whose thread was made to unwind because the run is over.
    pub(crate) cancelled: u64,
    /// Slots whose thread panicked in a destructor while it was unwound because the run is over.
    pub(crate) panicked_in_drop: u64,
    /// Slots that must be abandoned: Rust wanted to abort the process, or the thread catches every panic.
    pub(crate) aborted: u64,
    /// How often the thread that is unwound may still go on without getting on: see [`super::teardown`].
    pub(crate) patience: u32,
    /// A thread was abandoned in the middle of an unwind on this OS thread: std counts that panic for ever.
    pub(crate) panic_count_leaked: bool,
    pub(crate) threads: Vec<ThreadRecord>,
    /// Names given to threads, by number.
    pub(crate) names: Vec<(u32, Arc<str>)>,
    /// Panics by which threads ended and that nobody has taken yet, by number, in the order in which they happened.
    pub(crate) unobserved: Vec<(u32, Caught)>,
    /// Panics that were taken by a join.
    pub(crate) taken: Vec<(u32, Caught)>,

    // Time.
    pub(crate) now: Duration,
    pub(crate) sleepers: u64,
    pub(crate) wake_at: [Duration; MAX_THREADS],

    // PCT.
    pub(crate) priority: [i32; MAX_THREADS],
    /// The threads with a higher priority than the slot's, as bits.
    pub(crate) above_of: [u64; MAX_THREADS],
    pub(crate) changes: Vec<(u32, i32)>,
    pub(crate) change_index: usize,
    pub(crate) lowest: i32,

    pub(crate) active: Active,
    pub(crate) inlined: Box<Inlined>,
    pub(crate) tracks: Tracks,
    /// The execution graph, where the memory model needs one.
    pub(crate) memory: Option<Box<Memory>>,
    pub(crate) monitor: Option<Box<dyn Monitor>>,
    pub(crate) failure: Option<Box<FailureKind>>,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    pub(crate) spurious_left: u32,
    pub(crate) weak_left: u32,
    /// How often armed faults fired in this run: spurious wake-ups, weak compare-and-swap failures.
    pub(crate) fired: [u32; 2],
    /// Number of objects used so far in this run.
    pub(crate) objects: u32,
    /// A lock was first tried after it had been released without a scheduling point: the run must be repeated with
    /// every release a point.
    pub(crate) observed_late: bool,
    /// Read locks that one thread holds more than once: (lock, slot, further holds).
    pub(crate) recursive: Vec<(usize, usize, u32)>,
    /// The latest panic of each slot, kept by the hook until the thread's base frame picks it up.
    pub(crate) panics: Vec<(usize, Caught)>,
    pub(crate) capture_backtraces: bool,
    pub(crate) log_buffer: Vec<u8>,
    /// Threads that could not be unwound, over all executions.
    pub(crate) abandoned: u64,
    /// What objects that may stand in statics are in this run, by their ids. Looked up, never walked through.
    pub(crate) cells: BTreeMap<u64, Kept>,
    /// The thread-locals of each slot's thread, in the order of first use.
    pub(crate) locals: [Vec<Local>; MAX_THREADS],
    /// The slots that have had thread-locals in this run.
    pub(crate) with_locals: u64,
}

thread_local! {
    static RT: Cell<*mut Rt> = const { Cell::new(std::ptr::null_mut()) };
}

/// This OS thread's runtime, or null outside a simulation.
#[inline(always)]
pub(crate) fn current() -> *mut Rt {
    RT.with(Cell::get)
}

/// Like [`current`], for code that may run while the OS thread's locals are being destroyed.
pub(crate) fn try_current() -> *mut Rt {
    RT.try_with(Cell::get).unwrap_or(std::ptr::null_mut())
}

pub(crate) fn install(r: *mut Rt) {
    RT.with(|c| c.set(r));
}

/// Runs code that watches or steers the run but is no part of it (monitors, strategies): for that code there is no
/// simulation, so its own locks are real ones. A panic is given back as its payload.
///
/// # Safety
/// `r` is this OS thread's installed runtime. `f` may borrow from it: nothing that `f` does can reach it.
pub(crate) unsafe fn outside<T>(r: *mut Rt, f: impl FnOnce() -> T) -> std::thread::Result<T> {
    install(std::ptr::null_mut());
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    install(r);
    result
}

impl Rt {
    pub(crate) fn new(settings: Settings) -> Box<Self> {
        let nothing = Pending { at: 0, location: Location::caller(), kind: OpKind::Start };
        // One byte a step; the margin holds the data choices of one operation. Untouched pages cost nothing.
        let log_buffer = vec![0; settings.max_steps as usize + 256];
        let mut rt = Box::new(Self {
            cur: RUNNER,
            enabled: 0,
            eager: 0,
            before_eager: NOBODY,
            last: RUNNER,
            joined: (NOBODY, 0),
            slow: 0,
            log: std::ptr::null_mut(),
            steps: AtomicU32::new(0),
            max_steps: settings.max_steps,
            mode: Mode::Random,
            cancel: false,
            track: false,
            every_operation: settings.every_operation,
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            above: 0,
            next_change: u32::MAX,
            epoch: 0,
            pending: [nothing; MAX_THREADS],
            contexts: Contexts::new(),
            alive: 0,
            joiners: [0; MAX_THREADS],
            held: [0; MAX_THREADS],
            number: [0; MAX_THREADS],
            tokens: 0,
            parked: 0,
            unwinding: 0,
            cancelled: 0,
            panicked_in_drop: 0,
            aborted: 0,
            patience: super::teardown::PATIENCE,
            panic_count_leaked: std::thread::panicking(),
            threads: Vec::new(),
            names: Vec::new(),
            unobserved: Vec::new(),
            taken: Vec::new(),
            now: Duration::ZERO,
            sleepers: 0,
            wake_at: [Duration::ZERO; MAX_THREADS],
            priority: [0; MAX_THREADS],
            above_of: [0; MAX_THREADS],
            changes: Vec::new(),
            change_index: 0,
            lowest: 0,
            active: Active::None,
            inlined: Box::new(Inlined::new()),
            tracks: Tracks::new(),
            memory: None,
            monitor: None,
            failure: None,
            seed: 0,
            settings,
            spurious_left: 0,
            weak_left: 0,
            fired: [0; 2],
            objects: 0,
            observed_late: false,
            recursive: Vec::new(),
            panics: Vec::new(),
            capture_backtraces: false,
            log_buffer,
            abandoned: 0,
            cells: BTreeMap::new(),
            locals: [const { Vec::new() }; MAX_THREADS],
            with_locals: 0,
        });
        rt.log = rt.log_buffer.as_mut_ptr();
        rt
    }

    #[inline(always)]
    pub(crate) fn step(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Notes a choice: a thread slot, or the value of a data choice.
    #[inline(always)]
    pub(crate) fn push(&mut self, choice: u8) {
        let n = self.step();
        // SAFETY: every caller has checked `n < max_steps` or pushes one of the few data choices of the operation
        // that passed the check; the buffer has a margin for those.
        unsafe { *self.log.add(n as usize) = choice }
        self.steps.store(n + 1, Ordering::Relaxed);
    }

    /// The choices of the present run so far.
    pub(crate) fn choices(&self) -> &[u8] {
        &self.log_buffer[..self.step() as usize]
    }

    #[inline(always)]
    pub(crate) fn random(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A uniform number below `n`.
    #[inline(always)]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        scale(self.random(), n)
    }

    /// The header that a pending operation refers to, if it refers to an object.
    pub(crate) fn header_of(&self, pending: Pending) -> Option<&Header> {
        if pending.at < MAX_THREADS {
            return None;
        }
        // SAFETY: a thread that has announced an operation is suspended inside it and borrows the object.
        Some(unsafe { &*(pending.at as *const Header) })
    }
}

/// Maps the upper half of a random word to `0..n` without division.
#[inline(always)]
pub(crate) fn scale(random: u64, n: u32) -> u32 {
    (((random >> 32) * u64::from(n)) >> 32) as u32
}

/// The bits of `mask`, lowest first.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let i = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(i)
    })
}
