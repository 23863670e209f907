//! Switch through corosensei, for every platform that it supports: a thread suspends to the runner's loop, which
//! resumes the next one.

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::super::rt::{MAX_THREADS, RUNNER, Rt};
use super::super::stack::{self, Borrowed};

type Thread = Coroutine<(), (), (), Borrowed>;

/// Coroutines and yielders, one per slot.
pub(crate) struct Contexts {
    yielders: [*const Yielder<(), ()>; MAX_THREADS],
    threads: [Option<Thread>; MAX_THREADS],
    stacks: [Option<Borrowed>; MAX_THREADS],
}

impl Contexts {
    pub(crate) const fn new() -> Self {
        Self {
            yielders: [std::ptr::null(); MAX_THREADS],
            threads: [const { None }; MAX_THREADS],
            stacks: [None; MAX_THREADS],
        }
    }
}

/// Switches from the running thread to `next` and returns when somebody switches back.
///
/// # Safety
/// `r` is this OS thread's runtime; `next` is [`RUNNER`] or a live slot other than the running one.
#[inline(always)]
pub(crate) unsafe fn switch(r: *mut Rt, next: usize) {
    // SAFETY: the running thread stored its yielder when it started.
    unsafe {
        let me = (*r).cur;
        (*r).cur = next;
        (*(*r).contexts.yielders[me]).suspend(());
    }
}

/// Puts `f` on the stack of `slot`. When it returns, execution goes on in the slot that it returned.
///
/// # Safety
/// `slot` has no live thread. `f` must not unwind, and what it borrows must outlive the thread.
pub(crate) unsafe fn spawn<F: FnOnce() -> usize>(r: *mut Rt, slot: usize, f: F) {
    // SAFETY: the slot's old coroutine has completed or was forgotten, so overwriting it drops nothing that runs.
    // The closure's lifetime is erased; the caller guarantees that what it borrows outlives the thread.
    unsafe {
        let st = *(*r).contexts.stacks[slot].get_or_insert_with(|| stack::of_slot(slot));
        let body = move |y: &Yielder<(), ()>, ()| {
            (*r).contexts.yielders[slot] = y;
            let next = f();
            (*r).cur = next;
        };
        let boxed: Box<dyn FnOnce(&Yielder<(), ()>, ()) + '_> = Box::new(body);
        let erased: Box<dyn FnOnce(&Yielder<(), ()>, ()) + 'static> = std::mem::transmute(boxed);
        (*r).contexts.threads[slot] = Some(Coroutine::with_stack(st, erased));
    }
}

/// Runs thread `first` and whatever it switches to, until some thread switches to the runner.
///
/// # Safety
/// Called outside every controlled thread; `first` is a live slot.
#[inline(never)]
pub(crate) unsafe fn run(r: *mut Rt, first: usize) {
    // SAFETY: each slot that a thread switches to holds a live coroutine.
    unsafe {
        (*r).cur = first;
        loop {
            let t = (*r).cur;
            if t == RUNNER {
                return;
            }
            let threads = (&raw mut (*r).contexts.threads).cast::<Option<Thread>>();
            match (*threads.add(t)).as_mut() {
                Some(thread) => {
                    let _: CoroutineResult<(), ()> = thread.resume(());
                }
                None => unreachable!("an ended thread was switched to"),
            }
        }
    }
}

/// Leaves the frames of `slot` where they are, for ever, and gives the slot a new stack.
///
/// # Safety
/// The thread of `slot` must never be switched to again.
pub(crate) unsafe fn abandon(r: *mut Rt, slot: usize) {
    // SAFETY: the coroutine is forgotten, not dropped, so its stack keeps its frames.
    unsafe {
        std::mem::forget((*r).contexts.threads[slot].take());
        (*r).contexts.stacks[slot] = Some(stack::abandon(slot));
    }
}
