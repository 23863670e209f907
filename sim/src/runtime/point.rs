//! The scheduling point: announce, choose, switch.
//!
//! The running thread decides on its own stack who goes on; there is no scheduler to switch to. Announcing first and
//! enabling at announcement means that whoever is chosen can run: there are no steps that only find out that they
//! must wait, and a run is stuck exactly when nobody is enabled.

use std::panic::{Location, resume_unwind};

use crate::monitor::OpKind;

use super::context;
use super::rt::{MAX_THREADS, Mode, NOBODY, Pending, RUNNER, Rt, bits, current, scale};
use super::{ask, clock, deadlock, inlined, record, teardown};

/// Payload that unwinds a thread of a run that is being torn down. Never shown to anybody.
pub(crate) struct Cancelled;

/// `SELECT[mask][k]` is the index of the k-th set bit of an eight-bit mask.
static SELECT: [[u8; 8]; 256] = {
    let mut table = [[0u8; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut bit, mut k) = (0, 0);
        while bit < 8 {
            if mask >> bit & 1 == 1 {
                table[mask][k] = bit;
                k += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
};

static ONES: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut mask: usize = 0;
    while mask < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[mask] += (mask >> bit & 1) as u8;
            bit += 1;
        }
        mask += 1;
    }
    table
};

#[inline(never)]
fn select_wide(mut mask: u64, k: u32) -> usize {
    for _ in 0..k {
        mask &= mask - 1;
    }
    mask.trailing_zeros() as usize
}

/// A uniformly chosen set bit of `mask`, from the random word `random`.
#[inline(always)]
pub(crate) fn choose_bit(mask: u64, random: u64) -> usize {
    if mask < 256 {
        let k = scale(random, u32::from(ONES[mask as usize]));
        usize::from(SELECT[mask as usize][k as usize & 7])
    } else {
        select_wide(mask, scale(random, mask.count_ones()))
    }
}

/// Announces an operation of the running thread, lets the strategy choose, and returns once the thread is chosen.
///
/// Whether the operation can run is in `enabled` already. The frequent cases need no further call.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread that is not being torn down; the object at `at`
/// outlives the call.
#[inline(never)]
pub(crate) unsafe fn point(r: *mut Rt, at: usize, kind: OpKind, location: &'static Location<'static>) {
    // SAFETY: no reference into `*r` is held across the switch; `me` is below MAX_THREADS.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        (*r).pending[me] = Pending { at, location, kind };
        let enabled = (*r).enabled;
        if (*r).slow | (*r).eager == 0 && (*r).step() < (*r).max_steps {
            if (*r).mode == Mode::Random {
                if enabled != 0 {
                    let word = (*r).random();
                    let next = choose_bit(enabled, word);
                    (*r).push(next as u8);
                    if next != me {
                        switch_to(r, next);
                    }
                    return;
                }
            } else if (*r).step() < (*r).next_change && enabled & (*r).above == 0 && enabled >> me & 1 == 1 {
                (*r).push(me as u8);
                return;
            }
        }
        point_slow(r);
    }
}

/// # Safety
/// As [`point`].
#[inline(never)]
unsafe fn point_slow(r: *mut Rt) {
    // SAFETY: as the caller.
    unsafe { go_on(r) }
}

/// Lets whoever is to go on go on, and returns when it is this thread's turn again.
///
/// # Safety
/// As [`point`]; the running thread's announcement is in `pending` and `enabled`.
#[inline(always)]
pub(crate) unsafe fn go_on(r: *mut Rt) {
    // SAFETY: as the caller.
    unsafe {
        let next = next_thread(r);
        if next != (*r).cur {
            switch_to(r, next);
        }
    }
}

/// Switches to `next`; on return this thread runs again, or is unwound if the run was ended meanwhile.
///
/// # Safety
/// As [`point`]; `next` is the runner or a live slot other than the running one.
#[inline(always)]
unsafe fn switch_to(r: *mut Rt, next: usize) {
    // SAFETY: as the caller.
    unsafe {
        context::switch(r, next);
        if (*r).cancel {
            cancelled();
        }
    }
}

/// Unwinds the calling thread without a panic message.
#[cold]
#[inline(never)]
pub(crate) fn cancelled() -> ! {
    let r = current();
    if !r.is_null() {
        // SAFETY: non-null means this OS thread's runtime.
        unsafe {
            (*r).cancelled |= 1 << ((*r).cur & (MAX_THREADS - 1));
            teardown::unwind_again(r);
        }
    }
    resume_unwind(Box::new(Cancelled))
}

/// Who goes on: an eager thread, or the strategy's choice, or the runner if the run is over.
///
/// # Safety
/// As [`point`].
#[inline(always)]
pub(crate) unsafe fn next_thread(r: *mut Rt) -> usize {
    // SAFETY: as the caller; short-lived accesses only.
    unsafe {
        if (*r).eager != 0 {
            let t = (*r).eager.trailing_zeros() as usize;
            (*r).eager &= !(1 << t);
            if (*r).before_eager == NOBODY {
                (*r).before_eager = (*r).cur;
            }
            // PCT's mask belongs to the thread that ran last; make the next point look again.
            (*r).above = u64::MAX;
            return t;
        }
        chosen_thread(r)
    }
}

/// The strategy's choice, or the runner if the run is over.
#[inline(never)]
unsafe fn chosen_thread(r: *mut Rt) -> usize {
    // SAFETY: as `next_thread`.
    unsafe {
        if (*r).enabled == 0 && !clock::advance_if_idle(r) && !deadlock::let_spin(&mut *r) {
            return over(r);
        }
        if (*r).step() >= (*r).max_steps {
            return over(r);
        }
        let t = choose_thread(r);
        if t != RUNNER {
            clock::chosen(r, t);
        }
        t
    }
}

/// The strategy's choice among the enabled threads.
unsafe fn choose_thread(r: *mut Rt) -> usize {
    // SAFETY: as `next_thread`.
    unsafe {
        let enabled = (*r).enabled;
        let cur = (*r).cur;
        let last = match std::mem::replace(&mut (*r).before_eager, NOBODY) {
            NOBODY => cur,
            interrupted => interrupted,
        };
        (*r).last = last;
        let t = match (*r).mode {
            Mode::Random => {
                let word = (*r).random();
                choose_bit(enabled, word)
            }
            Mode::Pct => {
                if (*r).step() >= (*r).next_change {
                    change_points(r, enabled);
                }
                if last == cur && cur < MAX_THREADS && enabled & (*r).above == 0 && enabled >> cur & 1 == 1 {
                    cur
                } else {
                    highest(r, enabled)
                }
            }
            Mode::Asked => match ask::next_thread(r) {
                Some(t) => t,
                None => return RUNNER,
            },
            Mode::Pos | Mode::Urw | Mode::Surw | Mode::Learn => inlined::next_thread(r, enabled),
        };
        if (*r).track {
            record::decided(r, enabled, t, false);
        }
        (*r).push(t as u8);
        t
    }
}

/// The run is over: everybody has ended, or nobody can go on, or it took too long.
#[cold]
#[inline(never)]
unsafe fn over(r: *mut Rt) -> usize {
    // SAFETY: as `next_thread`.
    unsafe {
        ask::over(r);
        if (*r).alive != 0 && (*r).failure.is_none() && !deadlock::only_this_run(&*r) {
            let kind = if (*r).enabled == 0 { deadlock::nobody_can_run(r) } else { deadlock::step_limit(r) };
            (*r).failure = Some(Box::new(kind));
        }
        RUNNER
    }
}

/// PCT: the thread that is about to make this step falls to the priority that the change point was given beforehand.
/// Before the step, not after it: so the very first step of a run can be put off, too.
#[cold]
#[inline(never)]
unsafe fn change_points(r: *mut Rt, enabled: u64) {
    // SAFETY: as `next_thread`.
    unsafe {
        let falls = highest(r, enabled);
        while (*r).step() >= (*r).next_change {
            let (_, priority) = (&(*r).changes)[(*r).change_index];
            set_priority(r, falls, priority);
            (*r).change_index += 1;
            let changes = &(*r).changes;
            (*r).next_change = changes.get((*r).change_index).map_or(u32::MAX, |c| c.0);
        }
    }
}

/// PCT: gives the thread in `slot` another priority and keeps the table of who is above whom.
///
/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn set_priority(r: *mut Rt, slot: usize, priority: i32) {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    r.priority[slot] = priority;
    let bit = 1u64 << slot;
    let mut above = 0;
    for t in bits(r.alive & !bit) {
        // Equal priorities (one in a billion) are told apart by slot.
        if (r.priority[t], slot) > (priority, t) {
            above |= 1 << t;
            r.above_of[t] &= !bit;
        } else {
            r.above_of[t] |= bit;
        }
    }
    r.above_of[slot] = above;
    if r.cur < MAX_THREADS {
        r.above = r.above_of[r.cur];
    }
}

#[inline(never)]
unsafe fn highest(r: *mut Rt, enabled: u64) -> usize {
    // SAFETY: as `next_thread`.
    unsafe {
        let table = &(*r).above_of;
        let mut rest = enabled;
        loop {
            let t = rest.trailing_zeros() as usize & (MAX_THREADS - 1);
            rest &= rest.wrapping_sub(1);
            if table[t] & enabled == 0 || rest == 0 {
                (*r).above = table[t];
                return t;
            }
        }
    }
}

/// PCT: the running thread waits for others without being blocked (yield, spin, sleep): it falls below everybody,
/// or a spin loop in the thread with the highest priority would never end.
pub(crate) unsafe fn give_way(r: *mut Rt) {
    // SAFETY: as `next_thread`.
    unsafe {
        if (*r).mode == Mode::Pct {
            let cur = (*r).cur;
            (*r).lowest -= 1;
            let lowest = (*r).lowest;
            set_priority(r, cur, lowest);
        }
    }
}

/// A choice that is not between threads: one of `options` (a mask of values). Does not switch.
///
/// # Safety
/// As [`point`]; `options` is not empty.
pub(crate) unsafe fn choose(r: *mut Rt, options: u64) -> usize {
    // SAFETY: as the caller.
    unsafe {
        if options & (options - 1) == 0 || (*r).step() >= (*r).max_steps {
            return options.trailing_zeros() as usize;
        }
        let value = match (*r).mode {
            Mode::Asked => ask::choose(r, options),
            _ => {
                let word = (*r).random();
                choose_bit(options, word)
            }
        };
        if (*r).track {
            record::decided(r, options, value, true);
            record::chose(r, value);
        }
        (*r).push(value as u8);
        value
    }
}
