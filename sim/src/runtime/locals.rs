//! Thread-locals of controlled threads.
//!
//! As std's: made at the first use in a thread, dropped when the thread ends, the youngest first. A value whose destructor
//! runs is out of reach; one that has no destructor can be used by those of the others. Destructors are part of the
//! thread: they may schedule, and `join` returns after them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::explore::failure::FailureKind;

use super::objects::per_run::{Free, Id};
use super::point::Cancelled;
use super::rt::{MAX_THREADS, Rt, bits, current};
use super::threads;

/// One thread-local of one thread.
pub(crate) struct Local {
    key: u64,
    /// A leaked box.
    value: NonNull<()>,
    free: Free,
    has_destructor: bool,
    /// Its destructor has begun.
    gone: bool,
}

unsafe fn free<T>(value: NonNull<()>) {
    // SAFETY: the caller hands over the box that `with` leaked.
    drop(unsafe { Box::from_raw(value.cast::<T>().as_ptr()) });
}

/// Calls `f` with the running thread's value of `key`, which `make` makes if there is none yet; with `None` if its
/// destructor has begun. A key belongs to one type.
///
/// # Panics
/// Outside simulations.
pub(crate) fn with<T: 'static, R>(key: &'static Id, make: impl FnOnce() -> T, f: impl FnOnce(Option<&T>) -> R) -> R {
    let r = current();
    assert!(!r.is_null(), "interleaf: a thread-local of a run is used outside it");
    let key = key.get();
    // SAFETY: `r` is this OS thread's runtime, and a thread stays in its slot. References into `*r` end before code of the
    // program runs. The box lives until the thread has ended, or for ever.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        let value = match find(r, me, key) {
            Some((_, true)) => return f(None),
            Some((value, false)) => value,
            None => initialise(r, me, key, make()),
        };
        f(Some(value.cast::<T>().as_ref()))
    }
}

/// The value and whether its destructor has begun.
unsafe fn find(r: *mut Rt, slot: usize, key: u64) -> Option<(NonNull<()>, bool)> {
    // SAFETY: as `with`; the borrow ends here.
    let locals = unsafe { &(&(*r).locals)[slot] };
    locals.iter().find(|local| local.key == key).map(|local| (local.value, local.gone))
}

unsafe fn initialise<T: 'static>(r: *mut Rt, slot: usize, key: u64, value: T) -> NonNull<()> {
    // SAFETY: as `with`. A value that `make` has put there by using the key itself is replaced, as in std; nobody has
    // borrowed it, since every use inside `make` is over.
    unsafe {
        if let Some((there, _)) = find(r, slot, key) {
            drop(there.cast::<T>().replace(value));
            return there;
        }
        let value = NonNull::from(Box::leak(Box::new(value))).cast();
        let local = Local { key, value, free: free::<T>, has_destructor: std::mem::needs_drop::<T>(), gone: false };
        (&mut (*r).locals)[slot].push(local);
        (*r).with_locals |= 1 << slot;
        value
    }
}

/// Drops the thread-locals of the running thread, which is about to end.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread that does not unwind.
#[inline(always)]
pub(crate) unsafe fn destroy(r: *mut Rt) {
    // SAFETY: as the caller.
    unsafe {
        if !(&(*r).locals)[(*r).cur & (MAX_THREADS - 1)].is_empty() {
            destroy_all(r);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn destroy_all(r: *mut Rt) {
    // SAFETY: as `destroy`; no reference into `*r` is held while a destructor runs.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        // Destructors may make further ones.
        while let Some((value, free)) = next(&mut (&mut (*r).locals)[me]) {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| free(value))) {
                panicked(r, payload);
            }
        }
        for local in std::mem::take(&mut (&mut (*r).locals)[me]) {
            if !local.has_destructor {
                (local.free)(local.value);
            }
        }
    }
}

/// The youngest value whose destructor has not begun; it begins now.
fn next(locals: &mut [Local]) -> Option<(NonNull<()>, Free)> {
    let local = locals.iter_mut().rev().find(|local| local.has_destructor && !local.gone)?;
    local.gone = true;
    Some((local.value, local.free))
}

/// A destructor has panicked. std ends the process then, so it is a failure of the run even if the thread is joined.
unsafe fn panicked(r: *mut Rt, payload: Box<dyn Any + Send>) {
    // SAFETY: as `destroy`; nothing switches here.
    unsafe {
        let payload = threads::note_panic(r, payload);
        if payload.is::<Cancelled>() {
            return;
        }
        let r = &mut *r;
        let number = r.number[r.cur & (MAX_THREADS - 1)];
        if let Some(at) = r.unobserved.iter().rposition(|(n, _)| *n == number) {
            let (_, panic) = r.unobserved.remove(at);
            if r.failure.is_none() {
                r.failure = Some(Box::new(FailureKind::Panic { thread: threads::label(r, number), panic }));
            }
        }
        r.cancel = true;
    }
}

/// A run begins: what threads that were abandoned have left is never dropped, since their stacks may still refer to it.
#[cold]
pub(crate) fn forget(r: &mut Rt) {
    for slot in bits(std::mem::take(&mut r.with_locals)) {
        r.locals[slot].clear();
    }
}
