//! Start, end and join of controlled threads.
//!
//! These are causality, not choices: a new thread runs to its first announcement before the next choice is made, and
//! so does a thread whose `join` has become possible. Nothing that another thread could observe happens on the way,
//! and the number of interleavings falls by orders of magnitude.

use std::any::Any;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::choice::finalise;
use crate::explore::failure::FailureKind;
use crate::monitor::OpKind;
use crate::violation::Violation;

use super::packet::Packet;
use super::panic_hook::Caught;
use super::point::{Cancelled, cancelled, go_on, next_thread, point, set_priority};
use super::rt::{MAX_THREADS, Mode, Pending, RUNNER, Rt, current};
use super::{ask, context, deadlock, inlined, locals, record, teardown};

/// What [`crate::thread::scope`] panics with.
pub(crate) const SCOPED_PANIC: &str = "a scoped thread panicked";

/// One thread ever started in a run. Names and panics, which are rare, are kept beside.
#[derive(Clone, Copy)]
pub(crate) struct ThreadRecord {
    pub(crate) parent: u32,
    /// Place among the children of the parent.
    pub(crate) ordinal: u32,
    pub(crate) children: u32,
}

/// The right to join a controlled thread.
pub(crate) struct Handle<T> {
    pub(crate) slot: usize,
    pub(crate) number: u32,
    /// The run that started the thread.
    pub(crate) epoch: u64,
    packet: Packet<T>,
}

/// Whether the running thread must not schedule, because it unwinds. If the run is being torn down and the thread
/// does not unwind yet, it is made to.
///
/// # Safety
/// `r` is this OS thread's runtime.
#[inline(always)]
pub(crate) unsafe fn quiet(r: *mut Rt) -> bool {
    // SAFETY: as the caller.
    unsafe {
        if (*r).cancel && !is_unwinding(r) {
            cancelled();
        }
        quiet_in_drop(r)
    }
}

/// As [`quiet`], for operations of destructors: they must do their work before the thread may be unwound.
///
/// # Safety
/// As [`quiet`].
#[inline(always)]
pub(crate) unsafe fn quiet_in_drop(r: *mut Rt) -> bool {
    // SAFETY: as the caller.
    unsafe { (*r).cancel || is_unwinding(r) }
}

/// Whether the running thread unwinds.
///
/// # Safety
/// As [`quiet`].
#[inline(always)]
pub(crate) unsafe fn is_unwinding(r: *mut Rt) -> bool {
    // SAFETY: as the caller.
    unsafe { std::thread::panicking() && unwinding(r) }
}

/// std counts panics per OS thread, on which other controlled threads may be suspended in the middle of theirs.
#[cold]
unsafe fn unwinding(r: *mut Rt) -> bool {
    // SAFETY: as `quiet`.
    unsafe {
        let me = (*r).cur;
        let known = (*r).unwinding | (*r).cancelled;
        if known == 0 && !(*r).panic_count_leaked {
            return true;
        }
        let panics = &(*r).panics;
        known >> (me & 63) & 1 == 1 || panics.iter().any(|(slot, _)| *slot == me)
    }
}

/// Whether the running thread unwinds: `std::thread::panicking`, per controlled thread.
#[inline(always)]
pub(crate) fn panicking() -> bool {
    std::thread::panicking() && panicking_here()
}

#[cold]
fn panicking_here() -> bool {
    let r = current();
    // SAFETY: non-null means this OS thread's runtime.
    r.is_null() || unsafe { unwinding(r) }
}

/// Poisons a lock, unless its holder is only unwound because the run is over.
#[cold]
pub(crate) fn poison(flag: &AtomicBool) {
    let r = current();
    // SAFETY: non-null means this OS thread's runtime.
    if r.is_null() || unsafe { !(*r).cancel } {
        flag.store(true, Ordering::Relaxed);
    }
}

/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn is_alive(r: *mut Rt, slot: usize, number: u32) -> bool {
    // SAFETY: as the caller.
    unsafe { (*r).alive >> slot & 1 == 1 && (*r).number[slot] == number }
}

/// A free slot, set up for a new thread.
unsafe fn enlist(raw: *mut Rt, name: Option<Arc<str>>) -> usize {
    // SAFETY: `raw` is this OS thread's runtime; nothing switches here.
    let r = unsafe { &mut *raw };
    let slot = (!r.alive).trailing_zeros() as usize;
    assert!(slot < MAX_THREADS, "interleaf: more than {MAX_THREADS} controlled threads are alive at once");
    let bit = 1u64 << slot;
    let number = r.threads.len() as u32;
    let (parent, ordinal) = if r.cur < MAX_THREADS {
        let parent = r.number[r.cur];
        let siblings = &mut r.threads[parent as usize].children;
        *siblings += 1;
        (parent, *siblings - 1)
    } else {
        (0, 0)
    };
    r.threads.push(ThreadRecord { parent, ordinal, children: 0 });
    if let Some(name) = name {
        r.names.push((number, name));
    }
    r.alive |= bit;
    r.enabled |= bit;
    r.eager |= bit;
    r.number[slot] = number;
    r.joiners[slot] = 0;
    r.held[slot] = 0;
    r.tokens &= !bit;
    r.parked &= !bit;
    r.pending[slot] = Pending { at: slot, location: Location::caller(), kind: OpKind::Start };
    if r.mode == Mode::Pct {
        // Above every priority of a change point; these are below the number of change points.
        let priority = (1 << 20) + (r.random() >> 36) as i32;
        // SAFETY: as above; `r` is not used after.
        unsafe { set_priority(raw, slot, priority) };
    } else if r.mode > Mode::Asked {
        inlined::enlisted(r, slot, ordinal);
    }
    // SAFETY: as above.
    let r = unsafe { &mut *raw };
    if r.track {
        record::started(r, slot);
    }
    slot
}

/// Starts a controlled thread.
///
/// # Safety
/// `r` is this OS thread's runtime; what `f` borrows must outlive the thread.
pub(crate) unsafe fn spawn<F: FnOnce() -> T, T>(r: *mut Rt, f: F, name: Option<Arc<str>>) -> Handle<T> {
    let (packet, theirs) = Packet::pair();
    // SAFETY: as the caller; the body catches every panic and ends by naming the next thread.
    unsafe {
        let slot = enlist(r, name);
        let number = (*r).number[slot];
        context::spawn(r, slot, move || {
            // If the run is over before the thread has begun, what it owns is dropped like that of the others.
            let value = catch(r, move || {
                if (*r).cancel {
                    cancelled();
                }
                let value = f();
                // Others can see that the thread has ended.
                settle(r, Location::caller());
                value
            });
            theirs.put(value);
            // Dropping an unclaimed result runs user code, which may schedule or panic.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(theirs))) {
                drop(note_panic(r, payload));
            }
            ended(r)
        });
        Handle { slot, number, epoch: (*r).epoch, packet }
    }
}

/// Starts the first thread of a run: the closure that was given to the explorer.
///
/// # Safety
/// As [`spawn`].
pub(crate) unsafe fn spawn_main<F: Fn()>(r: *mut Rt, f: &F) {
    // SAFETY: as the caller.
    unsafe {
        let slot = enlist(r, None);
        context::spawn(r, slot, move || {
            if catch(r, f).is_err() {
                main_panicked(r);
            }
            ended(r)
        });
    }
}

unsafe fn catch<T>(r: *mut Rt, f: impl FnOnce() -> T) -> std::thread::Result<T> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Ok(value),
        // SAFETY: as the caller's.
        Err(payload) => Err(unsafe { note_panic(r, payload) }),
    }
}

/// A thread's base frame has caught a panic: a violation ends the run, any other panic waits for a joiner.
#[cold]
pub(super) unsafe fn note_panic(r: *mut Rt, payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    // SAFETY: `r` is this OS thread's runtime; nothing switches here.
    let r = unsafe { &mut *r };
    let slot = r.cur;
    r.unwinding &= !(1 << slot);
    r.cancelled &= !(1 << slot);
    let caught = r.panics.iter().rposition(|(s, _)| *s == slot).map(|i| r.panics.remove(i).1);
    r.panics.retain(|(s, _)| *s != slot);
    if payload.is::<Cancelled>() {
        return payload;
    }
    let number = r.number[slot];
    match payload.downcast::<Violation>() {
        Ok(violation) => {
            if r.failure.is_none() {
                r.failure = Some(Box::new(FailureKind::Violation((*violation).clone())));
            }
            r.cancel = true;
            violation
        }
        Err(payload) => {
            let caught = caught.unwrap_or_else(|| Caught::from_payload(&*payload));
            r.unobserved.push((number, caught));
            payload
        }
    }
}

/// The closure under test itself panicked: the run has failed, whoever else still runs.
#[cold]
unsafe fn main_panicked(r: *mut Rt) {
    // SAFETY: as `note_panic`.
    let r = unsafe { &mut *r };
    if r.failure.is_none()
        && let Some(at) = r.unobserved.iter().position(|(number, _)| *number == 0)
    {
        let own = r.unobserved.remove(at);
        // A panic that only passes on what a joined thread panicked with is told as that one.
        let passed_on = own.1.message.contains("on an `Err` value: Any") || own.1.message == SCOPED_PANIC;
        let (number, panic) = if passed_on && !r.taken.is_empty() { r.taken.remove(0) } else { own };
        r.failure = Some(Box::new(FailureKind::Panic { thread: label(r, number), panic }));
    }
    r.cancel = true;
}

/// The running thread has ended, but for its thread-locals. Returns who goes on.
unsafe fn ended(r: *mut Rt) -> usize {
    // SAFETY: `r` is this OS thread's runtime.
    unsafe {
        locals::destroy(r);
        if (*r).settings.steps_apart.ends && (*r).number[(*r).cur] != 0 && !quiet_in_drop(r) {
            end_in_a_step(r);
        }
        let me = (*r).cur;
        let bit = 1u64 << me;
        if (*r).track {
            record::ended(r, me);
        }
        (*r).alive &= !bit;
        (*r).enabled &= !bit;
        (*r).unwinding &= !bit;
        if (*r).cancel {
            ask::cut(r);
        }
        let joiners = (*r).joiners[me];
        (*r).enabled |= joiners;
        (*r).eager |= joiners;
        if (*r).alive == 0 || (*r).cancel {
            return RUNNER;
        }
        next_thread(r)
    }
}

/// The end of the running thread is a step of its own.
#[cold]
unsafe fn end_in_a_step(r: *mut Rt) {
    // SAFETY: as `ended`; no reference into `*r` is held across the switch.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        let location = (*r).pending[me].location;
        // The run may be torn down meanwhile.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| point(r, me, OpKind::End, location))) {
            drop(note_panic(r, payload));
        }
    }
}

impl<T> Handle<T> {
    /// Waits for the thread's end and takes its result.
    ///
    /// # Safety
    /// `r` is this OS thread's runtime, called from a controlled thread of the run that started the thread.
    pub(crate) unsafe fn join(self, r: *mut Rt, location: &'static Location<'static>) -> std::thread::Result<T> {
        // SAFETY: as the caller.
        unsafe {
            wait_for_end(r, self.slot, self.number, location);
            let unobserved = &(*r).unobserved;
            if !unobserved.is_empty() {
                observe(r, self.number);
            }
            if (*r).track {
                record::joined(r, self.number, location);
            }
            match self.packet.take() {
                Some(result) => result,
                // Only a thread that could not be unwound leaves nothing.
                None => cancelled(),
            }
        }
    }
}

/// Blocks until the thread has ended.
///
/// # Safety
/// As [`Handle::join`].
pub(crate) unsafe fn wait_for_end(r: *mut Rt, slot: usize, number: u32, location: &'static Location<'static>) {
    // SAFETY: as the caller; no reference is held across the switch.
    unsafe {
        while is_alive(r, slot, number) {
            let me = (*r).cur;
            if (*r).cancel {
                if !is_unwinding(r) {
                    cancelled();
                }
                teardown::wait_for_progress(r);
                continue;
            }
            let bit = 1u64 << me;
            (*r).joiners[slot] |= bit;
            (*r).enabled &= !bit;
            (*r).pending[me] = Pending { at: slot, location, kind: OpKind::Join };
            if (*r).enabled >> slot & 1 == 0 {
                deadlock::check(r);
            }
            if is_unwinding(r) {
                block_while_unwinding(r, slot, OpKind::Join, location);
                continue;
            }
            go_on(r);
        }
        (*r).joined = ((*r).cur, (*r).step());
    }
}

/// To be called before anything that depends on other threads, or that they can observe, and that is no scheduling
/// point. Right behind a join it becomes one: the thread came here in the other's last step or in its own one, whichever
/// was later, so what it does here belongs to neither. Only those who explore whole traces need to know: for others it
/// would be a choice more, of which nothing depends.
///
/// # Safety
/// As [`wait_for_end`].
#[inline(always)]
pub(crate) unsafe fn settle(r: *mut Rt, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe {
        if (*r).settings.whole_deadlocks && (*r).joined == ((*r).cur, (*r).step()) && !quiet_in_drop(r) {
            point(r, (*r).cur & (MAX_THREADS - 1), OpKind::Join, location);
        }
    }
}

/// Suspends a thread that unwinds: its destructor waits for something. The caller has cleared its `enabled` bit, or it
/// only yields.
///
/// # Safety
/// As [`wait_for_end`].
pub(crate) unsafe fn block_while_unwinding(r: *mut Rt, at: usize, kind: OpKind, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe {
        let me = (*r).cur;
        (*r).pending[me] = Pending { at, location, kind };
        (*r).unwinding |= 1 << me;
        // A thread that unwinds can be suspended only here, so what is noted of the others was caught by the program.
        let unwinding = (*r).unwinding;
        (*r).panics.retain(|(slot, _)| unwinding >> slot & 1 == 1);
        let next = next_thread(r);
        if next != me {
            // Not `switch_to`: a thread that unwinds must not be made to throw again.
            context::switch(r, next);
        }
        (*r).unwinding &= !(1 << me);
    }
}

/// The panic of a thread was taken by a join. Returns whether there was one.
///
/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn observe(r: *mut Rt, number: u32) -> bool {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    if r.unobserved.is_empty() {
        return false;
    }
    let at = r.unobserved.iter().position(|(n, _)| *n == number);
    at.map(|at| r.taken.push(r.unobserved.remove(at))).is_some()
}

/// The name that a thread was given.
pub(crate) fn given_name(r: &Rt, number: u32) -> Option<&Arc<str>> {
    r.names.iter().find(|(n, _)| *n == number).map(|(_, name)| name)
}

/// A number for the thread's place in the tree of threads.
pub(crate) fn path_hash(r: &Rt, number: u32) -> u64 {
    match r.threads.get(number as usize) {
        Some(record) if number != 0 => finalise(path_hash(r, record.parent) ^ u64::from(record.ordinal + 1)),
        _ => 0,
    }
}

/// Name of the thread with the given number: its own, or its place in the tree of threads.
pub(crate) fn label(r: &Rt, number: u32) -> String {
    let Some(record) = r.threads.get(number as usize) else { return String::from("?") };
    if let Some(name) = given_name(r, number) {
        return name.to_string();
    }
    if number == 0 {
        return String::from("main");
    }
    let mut name = label(r, record.parent);
    let _ = write!(name, "/{}", record.ordinal);
    name
}
