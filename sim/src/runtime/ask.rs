//! Asking a strategy that is not inlined.

use crate::exhaustive::guide::Verdict;
use crate::explore::failure::{FailureKind, STRATEGY_PANIC};
use crate::memory::guide::Can;
use crate::strategy::{Active, Pending as Announced, Point, Scheduler};

use super::rt::{MAX_THREADS, Pending, Rt, bits, outside};
use super::{deadlock, threads};

/// The slot that goes on; `None` if the strategy named one that cannot.
///
/// # Safety
/// `r` is this OS thread's runtime; at least one thread is enabled.
pub(crate) unsafe fn next_thread(r: *mut Rt) -> Option<usize> {
    // SAFETY: as the caller; the strategy is taken out of the runtime while it runs, and nothing switches.
    unsafe {
        let mut enabled = (*r).enabled;
        let (running, default) = course(&*r);
        if matches!((*r).active, Active::Guided(_)) {
            return guided(r);
        }
        if matches!((*r).active, Active::Dfs(_)) && last_yields(&*r) {
            // A thread that yields is no option while others can run, or a spin loop would be searched for ever.
            enabled = others(&*r).unwrap_or(enabled);
        }
        let single = enabled & (enabled - 1) == 0;
        let mut active = std::mem::replace(&mut (*r).active, Active::None);
        let answer = match &mut active {
            Active::None => Some(enabled.trailing_zeros() as usize),
            Active::Raw(log) => log.next(enabled),
            Active::Graph(_) => by_graph(r),
            Active::Dfs(_) if single => Some(enabled.trailing_zeros() as usize),
            Active::Dfs(dfs) => Some(dfs.next_thread(&Point { enabled, running, default, pending: &[], names: &[] })),
            Active::Asked(s) => ask(r, s.as_mut(), enabled, (running, default)),
            Active::Guided(_) => None,
        };
        (*r).active = active;
        let valid = answer.filter(|&t| t < MAX_THREADS && enabled >> t & 1 == 1);
        if valid.is_none() {
            diverged(r, answer);
        }
        valid
    }
}

/// Exhaustive exploration: who goes on. If the run is over for its purposes, it ends without a failure.
unsafe fn guided(r: *mut Rt) -> Option<usize> {
    // SAFETY: as `next_thread`; the guide is taken out of the runtime while it runs, and nothing switches.
    unsafe {
        let mut active = std::mem::replace(&mut (*r).active, Active::None);
        let next = match &mut active {
            Active::Guided(guide) => {
                let next = guide.next_thread(&mut *r);
                if next.is_none() {
                    guide.stop(&mut *r);
                    if guide.verdict == Verdict::Livelock && (*r).failure.is_none() {
                        (*r).failure = Some(Box::new(deadlock::step_limit(&mut *r)));
                    }
                    (*r).cancel = true;
                }
                next
            }
            _ => None,
        };
        (*r).active = active;
        next
    }
}

/// Nobody could run until time went on.
pub(crate) fn idle(r: &mut Rt) {
    if let Active::Guided(guide) = &mut r.active {
        guide.idle = true;
    }
}

/// The run is over; nobody has been unwound yet.
///
/// # Safety
/// As [`next_thread`].
pub(crate) unsafe fn over(r: *mut Rt) {
    // SAFETY: as the caller; the guide is taken out of the runtime while it runs.
    unsafe {
        let mut active = std::mem::replace(&mut (*r).active, Active::None);
        if let Active::Guided(guide) = &mut active {
            guide.stop(&mut *r);
        }
        (*r).active = active;
    }
}

/// A failure cuts the run; the threads other than the failed one are where they were.
///
/// # Safety
/// As [`next_thread`].
pub(crate) unsafe fn cut(r: *mut Rt) {
    // SAFETY: as the caller; the guide is taken out of the runtime while it runs.
    unsafe {
        let mut active = std::mem::replace(&mut (*r).active, Active::None);
        if let Active::Guided(guide) = &mut active {
            guide.cut(&mut *r);
        }
        (*r).active = active;
    }
}

/// Number of the sync object that the thread in `slot` has announced an operation on.
pub(crate) fn operand(rt: &mut Rt, slot: usize) -> Option<u32> {
    announced(rt, slot).object
}

/// Whether the thread that ran last can go on and yields.
fn last_yields(r: &Rt) -> bool {
    let cur = r.last;
    cur < MAX_THREADS && r.enabled >> cur & 1 == 1 && r.pending[cur].kind.gives_way()
}

/// The enabled threads without the one that ran last, if there are any.
fn others(r: &Rt) -> Option<u64> {
    let others = r.enabled & !(1u64.checked_shl(r.last as u32).unwrap_or(0));
    (others != 0).then_some(others)
}

/// The thread that ran last, if it can go on and does not wait for others; and whom a run without preemptions takes: the
/// running thread, else the lowest that can run, a waiting one last. A thread waits for others if it yields or sleeps, and
/// if only the time-out of its operation lets it go on: a loop around that would leave the others no turn.
pub(crate) fn course(r: &Rt) -> (Option<usize>, usize) {
    let cur = r.last;
    let can = cur < MAX_THREADS && r.enabled >> cur & 1 == 1;
    let waits = can && (last_yields(r) || r.sleepers >> cur & 1 == 1);
    let running = (can && !waits).then_some(cur);
    let default = running.unwrap_or_else(|| {
        let options = if waits { others(r) } else { None };
        options.unwrap_or(r.enabled).trailing_zeros() as usize
    });
    (running, default)
}

/// What the exhaustive search over execution graphs lets go on; `None`, with the run's failure set, if it cannot.
unsafe fn by_graph(r: *mut Rt) -> Option<usize> {
    // SAFETY: as `next_thread`; no reference outlives the block that makes it.
    unsafe {
        let about = |slot: usize| {
            let Pending { at, kind, .. } = (*r).pending[slot];
            // At a thread's own slot it looks at the clock.
            let is_event = kind.is_event() && at >= MAX_THREADS;
            Can { slot, thread: (*r).number[slot], is_event, gives_way: kind.gives_way() }
        };
        let can: Vec<Can> = bits((*r).enabled).map(about).collect();
        let memory = (*r).memory.as_mut()?;
        let guide = memory.guide.as_mut()?;
        let next = if guide.error.is_none() { guide.next_thread(&memory.graph, &can) } else { None };
        if let Some(error) = guide.error.clone() {
            panicked(r, Box::new(error));
            return None;
        }
        next
    }
}

/// The outcome that the search over execution graphs wants for the operation of an atomic.
unsafe fn outcome(r: *mut Rt) -> Option<usize> {
    // SAFETY: as `next_thread`.
    unsafe {
        let memory = (*r).memory.as_mut()?;
        if !memory.is_choosing {
            let error = "exhaustive search under rc11 knows no choices other than those of the memory model";
            panicked(r, Box::new(String::from(error)));
            return None;
        }
        memory.guide.as_ref().map(|guide| guide.wanted)
    }
}

unsafe fn ask(
    r: *mut Rt,
    scheduler: &mut dyn Scheduler,
    enabled: u64,
    course: (Option<usize>, usize),
) -> Option<usize> {
    let (running, default) = course;
    // SAFETY: as `next_thread`.
    unsafe {
        let single = enabled & (enabled - 1) == 0;
        let answer = outside(r, || {
            if single && !scheduler.sees_forced() {
                return enabled.trailing_zeros() as usize;
            }
            if !scheduler.wants_pending() {
                return scheduler.next_thread(&Point { enabled, running, default, pending: &[], names: &[] });
            }
            let rt = &mut *r;
            let names: Vec<String> = (0..rt.threads.len()).map(|n| threads::label(rt, n as u32)).collect();
            let pending: Vec<Announced> = bits(rt.alive).map(|slot| announced(rt, slot)).collect();
            scheduler.next_thread(&Point { enabled, running, default, pending: &pending, names: &names })
        });
        answer.map_err(|payload| panicked(r, payload)).ok()
    }
}

/// The strategy has panicked: that is the run's failure.
#[cold]
unsafe fn panicked(r: *mut Rt, payload: Box<dyn std::any::Any + Send>) {
    // SAFETY: as `next_thread`.
    unsafe {
        if (*r).failure.is_none() {
            (*r).failure = Some(Box::new(FailureKind::of_payload(STRATEGY_PANIC, payload)));
        }
        (*r).cancel = true;
    }
}

fn announced(rt: &mut Rt, slot: usize) -> Announced {
    let p = rt.pending[slot];
    let header: Option<*const super::objects::header::Header> = rt.header_of(p).map(std::ptr::from_ref);
    // SAFETY: the announcing thread is suspended inside the operation and borrows the object.
    let object = header.map(|h| unsafe { &*h }.index(rt));
    let object_name = object.filter(|_| rt.track).map_or("", |i| rt.tracks.objects[i as usize].name);
    Announced { slot, thread: rt.number[slot], kind: p.kind, object, object_name, location: p.location }
}

/// A value for a data choice; `threads` says that the values are slots.
///
/// # Safety
/// `r` is this OS thread's runtime; `options` has at least two bits.
pub(crate) unsafe fn choose(r: *mut Rt, options: u64, threads: bool) -> usize {
    // SAFETY: as `next_thread`.
    unsafe {
        let mut active = std::mem::replace(&mut (*r).active, Active::None);
        let answer = match &mut active {
            Active::None => Some(options.trailing_zeros() as usize),
            Active::Raw(log) => log.next(options),
            Active::Dfs(dfs) => Some(dfs.choose(options)),
            Active::Graph(_) => outcome(r),
            Active::Asked(s) => outside(r, || s.choose(options)).map_err(|payload| panicked(r, payload)).ok(),
            Active::Guided(guide) if threads => Some(guide.choose_thread(&*r, options)),
            Active::Guided(guide) => Some(guide.choose(options)),
        };
        (*r).active = active;
        match answer.filter(|&v| v < 64 && options >> v & 1 == 1) {
            Some(value) => value,
            None => {
                diverged(r, answer);
                options.trailing_zeros() as usize
            }
        }
    }
}

#[cold]
unsafe fn diverged(r: *mut Rt, wanted: Option<usize>) {
    // SAFETY: as `next_thread`.
    unsafe {
        if (*r).failure.is_none() {
            let can = bits((*r).enabled).map(|t| threads::label(&*r, (*r).number[t])).collect();
            (*r).failure =
                Some(Box::new(FailureKind::Diverged { step: (*r).step(), wanted: wanted.map(|w| w as u32), can }));
            (*r).cancel = true;
        }
    }
}
