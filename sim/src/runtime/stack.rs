//! Stacks with a guard page, one per thread slot, owned by the OS thread.
//!
//! Mapping a stack costs microseconds, so a slot keeps its stack across executions *and* explorations: callers that
//! explore once per input (fuzzers, property tests) would otherwise leak or thrash mappings.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack, StackPointer};

/// Usable bytes of a controlled thread's stack. Only touched pages cost memory; unoptimised builds that format
/// deeply need more than the usual 64 KiB.
pub(crate) const STACK_SIZE: usize = 256 * 1024;

/// Distance between the tops of neighbouring stacks' first frames, against conflicts in the first-level cache.
const STAGGER: usize = 256;

/// A stack that somebody else owns: the slot's, for as long as the OS thread lives.
#[derive(Clone, Copy)]
pub(crate) struct Borrowed {
    base: StackPointer,
    limit: StackPointer,
}

impl Borrowed {
    /// Highest address (stacks grow down).
    #[cfg_attr(feature = "portable-switch", expect(dead_code, reason = "only the hand-written switch places frames"))]
    pub(crate) fn top(self) -> usize {
        self.base.get()
    }
}

// SAFETY: base and limit are those of a mapped stack that outlives every use (see `POOL`), and base is 16-aligned.
unsafe impl Stack for Borrowed {
    fn base(&self) -> StackPointer {
        self.base
    }
    fn limit(&self) -> StackPointer {
        self.limit
    }
}

thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

fn view(stack: &DefaultStack, slot: usize) -> Borrowed {
    let top = stack.base().get() - slot % 16 * STAGGER;
    Borrowed { base: StackPointer::new(top).unwrap_or_else(|| stack.base()), limit: stack.limit() }
}

fn map() -> DefaultStack {
    match DefaultStack::new(STACK_SIZE) {
        Ok(stack) => stack,
        Err(error) => panic!("interleaf: cannot map a stack of {STACK_SIZE} bytes for a controlled thread: {error}"),
    }
}

/// The stack of `slot` on this OS thread.
#[cold]
pub(crate) fn of_slot(slot: usize) -> Borrowed {
    POOL.with(|pool| {
        let mut pool = pool.borrow_mut();
        while pool.len() <= slot {
            pool.push(map());
        }
        view(&pool[slot], slot)
    })
}

/// Gives `slot` a new stack and leaks the old one, on which an abandoned thread still has its frames.
#[cold]
pub(crate) fn abandon(slot: usize) -> Borrowed {
    POOL.with(|pool| {
        let mut pool = pool.borrow_mut();
        std::mem::forget(std::mem::replace(&mut pool[slot], map()));
        view(&pool[slot], slot)
    })
}

/// The slot whose guard page contains `address`, if any. Called from a signal handler: it only reads.
pub(crate) fn guard_hit(address: usize) -> Option<usize> {
    POOL.try_with(|pool| {
        let pool = pool.try_borrow().ok()?;
        // corosensei puts the guard just below the limit's page range; the limit includes it.
        pool.iter().position(|s| {
            let limit = s.limit().get();
            address >= limit.saturating_sub(GUARD) && address < limit + GUARD
        })
    })
    .ok()
    .flatten()
}

/// More than one page, less than a stack: a frame may step over the page itself before it touches memory.
const GUARD: usize = 16 * 1024;
