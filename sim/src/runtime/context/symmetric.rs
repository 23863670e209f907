//! Symmetric switch for x86-64 Unix: thread to thread, one indirect jump.
//!
//! Going through a central loop would cost a second switch and, worse, a mispredicted return each time (about ten
//! nanoseconds, five times the switch itself). Here the code after the switch is reached by `jmp`, inlined at each
//! scheduling point, so the branch predictor sees one site per operation of the program.

use super::super::rt::{MAX_THREADS, RUNNER, Rt};
use super::super::stack::{self, Borrowed};

/// Saved stack pointers, one per slot and one for the runner.
pub(crate) struct Contexts {
    sp: [*mut u8; MAX_THREADS + 1],
    stacks: [Option<Borrowed>; MAX_THREADS],
}

impl Contexts {
    pub(crate) const fn new() -> Self {
        Self { sp: [std::ptr::null_mut(); MAX_THREADS + 1], stacks: [None; MAX_THREADS] }
    }
}

/// Saves the running context to `save` and goes on with the one in `to`.
///
/// # Safety
/// `to` holds a stack pointer written by this function or by [`spawn`], whose thread has not ended.
#[inline(always)]
unsafe fn swap(save: *mut *mut u8, to: *const *mut u8) {
    // SAFETY: the asm saves what the compiler cannot be told to save (rbx, rbp, rsp) and declares the rest clobbered.
    // rbx and rbp are pushed on the stack that is left and popped when it is entered again.
    unsafe {
        core::arch::asm!(
            "push rbx", "push rbp",
            "lea rax, [rip + 2f]", "push rax",
            "mov [rdi], rsp", "mov rsp, [rsi]",
            "pop rax", "jmp rax",
            "2:",
            "pop rbp", "pop rbx",
            inout("rdi") save => _, inout("rsi") to => _,
            lateout("r12") _, lateout("r13") _, lateout("r14") _, lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

/// Switches from the running thread to `next` and returns when somebody switches back.
///
/// # Safety
/// `r` is this OS thread's runtime; `next` is [`RUNNER`] or a live slot other than the running one.
#[inline(always)]
pub(crate) unsafe fn switch(r: *mut Rt, next: usize) {
    // SAFETY: by the caller's contract both slots hold valid contexts; no reference into `*r` is held.
    unsafe {
        let me = (*r).cur;
        (*r).cur = next;
        let sp = (&raw mut (*r).contexts.sp).cast::<*mut u8>();
        swap(sp.add(me), sp.add(next));
    }
}

/// A new thread starts here: its stack holds the closure, the runtime and the entry function. The zero return address
/// ends every backtrace and unwind cleanly; `entry` never returns and never unwinds.
#[unsafe(naked)]
unsafe extern "C" fn thread_entry() {
    core::arch::naked_asm!("pop rdi", "pop rsi", "pop rax", "xor ebp, ebp", "push 0", "jmp rax")
}

extern "C" fn entry<F: FnOnce() -> usize>(closure: *mut F, r: *mut Rt) -> ! {
    // SAFETY: `spawn` wrote the closure; it is read once. It catches panics itself and returns the next slot.
    unsafe {
        let next = closure.read()();
        (*r).cur = next;
        let mut dead = std::ptr::null_mut();
        let sp = (&raw const (*r).contexts.sp).cast::<*mut u8>();
        swap(&raw mut dead, sp.add(next));
    }
    unreachable!("an ended thread was switched to")
}

/// Puts `f` on the stack of `slot`. When it returns, execution goes on in the slot that it returned.
///
/// # Safety
/// `slot` has no live thread. `f` must not unwind, and what it borrows must outlive the thread.
pub(crate) unsafe fn spawn<F: FnOnce() -> usize>(r: *mut Rt, slot: usize, f: F) {
    // SAFETY: the slot's stack is mapped and unused; all writes are inside it and aligned.
    unsafe {
        let st = match (*r).contexts.stacks[slot] {
            Some(s) => s,
            None => {
                let s = stack::of_slot(slot);
                (*r).contexts.stacks[slot] = Some(s);
                s
            }
        };
        let align = 16.max(std::mem::align_of::<F>());
        let place = ((st.top() - std::mem::size_of::<F>()) & !(align - 1)) as *mut F;
        place.write(f);
        // After the three pops and the push the entry function must see a stack pointer that is 8 off a multiple
        // of 16, as after a call. `place` is 16-aligned.
        let frame = place.cast::<usize>().sub(6);
        frame.write(thread_entry as *const () as usize);
        frame.add(1).write(place as usize);
        frame.add(2).write(r as usize);
        frame.add(3).write(entry::<F> as *const () as usize);
        (*r).contexts.sp[slot] = frame.cast();
    }
}

/// Runs thread `first` and whatever it switches to, until some thread switches to the runner.
///
/// # Safety
/// Called outside every controlled thread; `first` is a live slot.
#[inline(never)]
pub(crate) unsafe fn run(r: *mut Rt, first: usize) {
    // SAFETY: the runner's own context is saved in slot `RUNNER`.
    unsafe {
        (*r).cur = RUNNER;
        switch(r, first);
    }
}

/// Leaves the frames of `slot` where they are, for ever, and gives the slot a new stack.
///
/// # Safety
/// The thread of `slot` must never be switched to again.
pub(crate) unsafe fn abandon(r: *mut Rt, slot: usize) {
    // SAFETY: only the slot's stack is replaced; the old mapping stays.
    unsafe { (*r).contexts.stacks[slot] = Some(stack::abandon(slot)) }
}
