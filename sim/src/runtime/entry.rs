//! The runtime's safe entrances, used by the façade. Each is a no-op or `None` outside simulations.

use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::time::Duration;

use crate::exhaustive::record::Object;
use crate::monitor::OpKind;
use crate::strategy::Active;

use super::objects::channel::ChannelCore;
use super::objects::condvar::CondvarCore;
use super::objects::guarded::{Guarded, Writing};
use super::objects::header::Header;
use super::objects::parking;
use super::point::{give_way, point};
use super::rt::{MAX_THREADS, Rt, current};
use super::{clock, record, teardown, threads};

// SAFETY (for the whole file): `current` gives this OS thread's runtime or null, and it is non-null only while a run
// goes on, when all code on this OS thread is code of controlled threads (or of destructors that they run). The runner
// itself and strategies do not call the façade.

type StdMutex = std::sync::Mutex<()>;

/// Whether a run goes on, on this OS thread.
#[inline]
pub(crate) fn simulated() -> bool {
    !current().is_null()
}

/// Identity of a controlled thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) epoch: u64,
    pub(crate) slot: usize,
    pub(crate) number: u32,
    pub(crate) name: Option<Arc<str>>,
}

/// The running controlled thread.
pub(crate) fn identity() -> Option<Identity> {
    let r = current();
    if r.is_null() {
        return None;
    }
    // SAFETY: see the top of the file.
    unsafe {
        let slot = (*r).cur & (MAX_THREADS - 1);
        let number = (*r).number[slot];
        Some(identify(r, slot, number))
    }
}

unsafe fn identify(r: *mut Rt, slot: usize, number: u32) -> Identity {
    // SAFETY: as the callers; the borrow ends here.
    unsafe {
        let name = threads::given_name(&*r, number).cloned();
        Identity { epoch: (*r).epoch, slot, number, name }
    }
}

/// A controlled thread that can be joined.
pub(crate) struct Joinable<T>(threads::Handle<T>);

/// Starts a controlled thread; gives `f` back outside simulations.
pub(crate) fn spawn<F, T>(f: F, name: Option<Arc<str>>) -> Result<Joinable<T>, F>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let r = current();
    if r.is_null() {
        return Err(f);
    }
    // SAFETY: see the top of the file; `F: 'static` borrows nothing.
    Ok(Joinable(unsafe { threads::spawn(r, f, name) }))
}

/// Starts a controlled thread that may borrow. Only for [`crate::thread::scope`], which waits for it.
pub(crate) fn spawn_scoped<'scope, F, T>(f: F, name: Option<Arc<str>>) -> Result<Joinable<T>, F>
where
    F: FnOnce() -> T + Send + 'scope,
    T: Send + 'scope,
{
    let r = current();
    if r.is_null() {
        return Err(f);
    }
    // SAFETY: see the top of the file; the scope joins every thread that it started before what they borrow ends, also
    // when it unwinds (`thread::scope` waits in a drop guard).
    Ok(Joinable(unsafe { threads::spawn(r, f, name) }))
}

impl<T> Joinable<T> {
    pub(crate) fn join(self, location: &'static Location<'static>) -> std::thread::Result<T> {
        let r = current();
        assert!(self.is_of(r), "interleaf: a simulated thread is joined outside the run that started it");
        // SAFETY: see the top of the file.
        unsafe { self.0.join(r, location) }
    }

    /// Whether the run that started the thread goes on here.
    fn is_of(&self, r: *mut Rt) -> bool {
        // SAFETY: see the top of the file.
        !r.is_null() && unsafe { (*r).epoch } == self.0.epoch
    }

    /// Whether the thread has ended: a scheduling point, since others can end it meanwhile.
    pub(crate) fn is_finished(&self, location: &'static Location<'static>) -> bool {
        let r = current();
        // SAFETY: see the top of the file.
        !self.is_of(r)
            || unsafe {
                if !threads::quiet(r) {
                    // The announcement names the thread that is asked for, or nobody if its slot may be another's by now.
                    let alive = threads::is_alive(r, self.0.slot, self.0.number);
                    let at = if alive { self.0.slot } else { (*r).cur & (MAX_THREADS - 1) };
                    point(r, at, OpKind::IsFinished, location);
                }
                record::touched(r, Object::End(self.0.number), OpKind::IsFinished);
                !threads::is_alive(r, self.0.slot, self.0.number)
            }
    }

    pub(crate) fn identity(&self) -> Identity {
        let r = current();
        if !self.is_of(r) {
            return Identity { epoch: self.0.epoch, slot: self.0.slot, number: self.0.number, name: None };
        }
        // SAFETY: see the top of the file.
        unsafe { identify(r, self.0.slot, self.0.number) }
    }

    pub(crate) fn place(&self) -> (usize, u32) {
        (self.0.slot, self.0.number)
    }
}

/// Waits for the end of a thread without taking its result; says whether it panicked and nobody took that.
pub(crate) fn wait_for_end(place: (usize, u32), location: &'static Location<'static>) -> bool {
    let r = current();
    if r.is_null() {
        return false;
    }
    // SAFETY: see the top of the file.
    unsafe {
        threads::wait_for_end(r, place.0, place.1, location);
        if (*r).track {
            record::joined(r, place.1, location);
        }
        threads::observe(r, place.1)
    }
}

/// A scheduling point that yields. False outside simulations.
pub(crate) fn yield_now(location: &'static Location<'static>) -> bool {
    let r = current();
    if r.is_null() {
        return false;
    }
    // SAFETY: see the top of the file.
    unsafe {
        let me = (*r).cur;
        if !threads::quiet(r) {
            give_way(r);
            if matches!((*r).active, Active::Graph(_)) {
                block_if_it_spins(r);
            }
            point(r, me, OpKind::Yield, location);
        } else if (*r).cancel {
            teardown::yields(r);
        } else {
            // A destructor that spins while its thread unwinds waits for others, which must get their turn.
            give_way(r);
            threads::block_while_unwinding(r, me, OpKind::Yield, location);
        }
    }
    true
}

/// In an exhaustive search over execution graphs a thread that only repeats itself does not go on.
#[cold]
unsafe fn block_if_it_spins(r: *mut Rt) {
    // SAFETY: as `yield_now`; the borrow ends here.
    let r = unsafe { &mut *r };
    let slot = r.cur & (MAX_THREADS - 1);
    let thread = r.number[slot];
    if let Some(memory) = &mut r.memory
        && let Some(guide) = &mut memory.guide
        && guide.yields(&memory.graph, thread)
    {
        r.enabled &= !(1 << slot);
    }
}

pub(crate) fn sleep(duration: Duration, location: &'static Location<'static>) -> bool {
    let r = current();
    if r.is_null() {
        return false;
    }
    // SAFETY: see the top of the file.
    unsafe { clock::sleep(r, duration, location) }
    true
}

/// Virtual time since the start of the run: a scheduling point, since others can sleep meanwhile.
#[track_caller]
pub(crate) fn now() -> Option<Duration> {
    let r = current();
    if r.is_null() {
        return None;
    }
    // SAFETY: see the top of the file.
    unsafe {
        if !threads::quiet(r) {
            point(r, (*r).cur & (MAX_THREADS - 1), OpKind::Load, Location::caller());
        }
        record::touched(r, Object::Clock, OpKind::Load);
        Some((*r).now)
    }
}

pub(crate) fn park(timeout: Option<Duration>, location: &'static Location<'static>) -> bool {
    let r = current();
    if r.is_null() {
        return false;
    }
    // SAFETY: see the top of the file.
    unsafe { parking::park(r, timeout, location) }
    true
}

/// Unparks a controlled thread, if its run still goes on.
pub(crate) fn unpark(thread: &Identity, location: &'static Location<'static>) {
    let r = current();
    // SAFETY: see the top of the file.
    unsafe {
        if !r.is_null() && (*r).epoch == thread.epoch {
            parking::unpark(r, thread.slot, thread.number, location);
        }
    }
}

/// Waits on a condition variable with the guard's mutex. The guard belongs to a simulation.
pub(crate) fn wait<'a, T: ?Sized>(
    condvar: &CondvarCore,
    lock: &'a Guarded<T, StdMutex>,
    timeout: Option<Duration>,
    location: &'static Location<'static>,
) -> (Writing<'a, T, StdMutex>, bool) {
    let r = current();
    assert!(!r.is_null(), "interleaf: a guard of a simulated mutex is waited with outside its run");
    // SAFETY: see the top of the file; the caller has taken the guard apart, so the running thread holds the lock.
    // If the wait unwinds, the mutex has been released and no guard exists.
    let timed_out = unsafe { condvar.wait(r, lock.core(), timeout, location) };
    (Writing::from_parts(lock, None, location), timed_out)
}

/// False outside simulations.
pub(crate) fn notify(condvar: &CondvarCore, all: bool, location: &'static Location<'static>) -> bool {
    let r = current();
    if r.is_null() {
        return false;
    }
    // SAFETY: see the top of the file.
    unsafe { condvar.notify(r, all, location) }
    true
}

/// A channel of the present run, with room for `capacity` messages if that is bounded; `None` outside simulations.
#[track_caller]
pub(crate) fn channel<T>(capacity: Option<usize>) -> Option<Arc<ChannelCore<T>>> {
    let r = current();
    // Not in a closure, which would be the place where the channel was made.
    if r.is_null() { None } else { Some(Arc::new(ChannelCore::new(r, capacity))) }
}

impl<T> ChannelCore<T> {
    pub(crate) fn push_one(&self, value: T, location: &'static Location<'static>) -> Result<(), T> {
        // SAFETY: see the top of the file; `send` refuses a null runtime and other runs.
        unsafe { self.send(current(), value, location) }
    }

    pub(crate) fn try_push(&self, value: T, location: &'static Location<'static>) -> Result<(), TrySendError<T>> {
        // SAFETY: as in `push_one`.
        unsafe { self.try_send(current(), value, location) }
    }

    pub(crate) fn pop_one(
        &self,
        timeout: Option<Duration>,
        location: &'static Location<'static>,
    ) -> Result<T, RecvTimeoutError> {
        // SAFETY: as in `push_one`.
        unsafe { self.recv(current(), timeout, location) }
    }

    pub(crate) fn try_pop(&self, location: &'static Location<'static>) -> Result<T, TryRecvError> {
        // SAFETY: as in `push_one`.
        unsafe { self.try_recv(current(), location) }
    }

    pub(crate) fn drop_sender(&self, location: &'static Location<'static>) {
        self.remove_sender(current(), location);
    }

    pub(crate) fn drop_receiver(&self, location: &'static Location<'static>) {
        self.remove_receiver(current(), location);
    }
}

/// Seed of the present run.
pub(crate) fn seed() -> Option<u64> {
    let r = current();
    // SAFETY: see the top of the file.
    if r.is_null() { None } else { Some(unsafe { (*r).seed }) }
}

/// The run that goes on, for objects that are claimed by it.
#[derive(Clone, Copy)]
pub(crate) struct Run(pub(crate) *mut Rt);

/// Names an object. `claim` is called first if it is the object's first use in the run.
pub(crate) fn name(header: &Header, name: &'static str, claim: impl FnOnce(Run)) {
    let r = current();
    if !r.is_null() {
        // SAFETY: see the top of the file.
        if unsafe { (*r).track && !header.known(&*r) } {
            claim(Run(r));
        }
        record::name(r, header, name);
    }
}

pub(crate) fn note(text: impl FnOnce() -> String, location: &'static Location<'static>) {
    let r = current();
    if !r.is_null() {
        record::note(r, text, location);
    }
}
