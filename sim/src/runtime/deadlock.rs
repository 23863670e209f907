//! Threads that can never run again.
//!
//! A thread that waits for a lock can go on only if every holder can; a thread that joins, only if the joined one can;
//! a thread that waits for an initialisation, only if the thread that runs it can.
//! All other threads are given the benefit of the doubt (somebody may notify, send, unpark). The threads outside the
//! least set that is closed under these rules are stuck for good, even while others run: that is reported at the
//! announcement that closes the cycle, not when everything has stopped.

use crate::explore::failure::{Blocked, FailureKind, Waited};
use crate::monitor::OpKind;
use crate::strategy::Active;

use super::context;
use super::objects::barrier::BarrierCore;
use super::objects::header::Header;
use super::objects::lock::LockCore;
use super::objects::once::OnceCore;
use super::point::cancelled;
use super::rt::{Pending, RUNNER, Rt, bits};
use super::threads;

/// The lock that an announced operation waits for.
fn lock_of(pending: Pending) -> Option<&'static LockCore> {
    match pending.kind {
        OpKind::Lock | OpKind::Read | OpKind::Write => {
            // SAFETY: these kinds are announced by `LockCore` only, whose header is its first field; the announcing
            // thread is suspended inside the operation and borrows the lock. The reference does not outlive the check.
            Some(unsafe { &*(pending.at as *const LockCore) })
        }
        _ => None,
    }
}

/// The cell whose initialisation an announced operation waits for.
fn once_of(pending: Pending) -> Option<&'static OnceCore> {
    match pending.kind {
        // SAFETY: as in `lock_of`: these kinds are announced by `OnceCore` only, whose header is its first field.
        OpKind::Init | OpKind::InitWait => Some(unsafe { &*(pending.at as *const OnceCore) }),
        _ => None,
    }
}

/// How many have arrived at the barrier at which an announced operation waits, and how many it takes.
fn arrived(pending: Pending) -> Option<(usize, usize)> {
    match pending.kind {
        // SAFETY: as in `lock_of`: this kind is announced by `BarrierCore` only, whose header is its first field.
        OpKind::Barrier => Some(unsafe { &*(pending.at as *const BarrierCore) }.arrived()),
        _ => None,
    }
}

/// Who has what an announced operation is about: the joined thread, the holders of the lock, or who initialises.
fn holders(pending: Pending) -> u64 {
    match pending.kind {
        OpKind::Join => 1 << pending.at,
        OpKind::Init | OpKind::InitWait => once_of(pending).map_or(0, OnceCore::initialiser),
        _ => lock_of(pending).map_or(0, LockCore::holders),
    }
}

/// Whom the thread in `slot` waits for, if that is certain: all of them must go on before it can.
fn needs(r: &Rt, slot: usize) -> u64 {
    if r.enabled >> slot & 1 == 1 { 0 } else { holders(r.pending[slot]) }
}

/// The threads that can never run again.
fn stuck(r: &Rt) -> u64 {
    let mut free = bits(r.alive).filter(|&t| needs(r, t) == 0).fold(0, |m: u64, t| m | 1 << t);
    loop {
        let more = bits(r.alive).filter(|&t| needs(r, t) & !free == 0).fold(free, |m, t| m | 1 << t);
        if more == free {
            return r.alive & !free;
        }
        free = more;
    }
}

/// Ends the run if some threads can never run again. Called by a thread that has just found that it must wait.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread whose announcement is in `pending`.
#[cold]
#[inline(never)]
pub(crate) unsafe fn check(r: *mut Rt) {
    // SAFETY: as the caller; no reference is held across the switch.
    unsafe {
        // What the others still do belongs to the trace, or to the graph.
        if (*r).settings.whole_deadlocks || matches!((*r).active, Active::Graph(_)) {
            return;
        }
        let stuck = stuck(&*r);
        if stuck == 0 || (*r).failure.is_some() {
            return;
        }
        (*r).failure =
            Some(Box::new(FailureKind::Deadlock { threads: table(&mut *r, stuck), all: stuck == (*r).alive }));
        (*r).cancel = true;
        context::switch(r, RUNNER);
        if !threads::is_unwinding(r) {
            cancelled();
        }
    }
}

/// Nobody can run and no sleeper can be woken.
///
/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn nobody_can_run(r: *mut Rt) -> FailureKind {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    let all = r.alive;
    FailureKind::Deadlock { threads: table(r, all), all: true }
}

/// Nobody can go on. In an exhaustive search over execution graphs, threads that wait in loops for what never comes may go
/// on doing so. True if there are any.
pub(crate) fn let_spin(r: &mut Rt) -> bool {
    tell_memory(r);
    let Some(memory) = &mut r.memory else { return false };
    let Some(guide) = &mut memory.guide else { return false };
    let threads = guide.let_spin(&memory.graph);
    for slot in bits(r.alive).filter(|&t| threads.contains(&r.number[t])) {
        r.enabled |= 1 << slot;
    }
    !threads.is_empty()
}

/// Whether the run ends only because a thread waits in a loop for what it has chosen not to see: a run of an exhaustive
/// search over execution graphs that tells nothing.
pub(crate) fn only_this_run(r: &Rt) -> bool {
    let guide = r.memory.as_ref().and_then(|memory| Some((&memory.graph, memory.guide.as_ref()?)));
    r.enabled == 0 && guide.is_some_and(|(graph, guide)| guide.spinning(graph) == Some(true))
}

/// An exhaustive search over execution graphs wants to know which mutexes are waited for in the end.
fn tell_memory(r: &mut Rt) {
    if !matches!(r.active, Active::Graph(_)) {
        return;
    }
    let mut wanted = Vec::new();
    for t in bits(r.alive) {
        if r.pending[t].kind != OpKind::Lock {
            continue;
        }
        let Some(header) = r.header_of(r.pending[t]).map(std::ptr::from_ref::<Header>) else { continue };
        // SAFETY: the announcing thread is suspended and borrows the object; nothing switches here.
        let object = unsafe { &*header }.index(r);
        wanted.push((r.number[t], object, r.pending[t].location));
    }
    if let Some(memory) = &mut r.memory {
        memory.stuck(&wanted);
    }
}

/// The run took too many steps.
///
/// # Safety
/// As [`nobody_can_run`].
pub(crate) unsafe fn step_limit(r: *mut Rt) -> FailureKind {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    let all = r.alive;
    FailureKind::StepLimit { steps: r.step(), threads: table(r, all) }
}

fn object_label(r: &mut Rt, pending: Pending) -> String {
    let Some(header) = r.header_of(pending) else {
        return if pending.kind == OpKind::Join { threads::label(r, r.number[pending.at]) } else { String::new() };
    };
    let header: *const super::objects::header::Header = header;
    // SAFETY: the announcing thread is suspended and borrows the object; nothing switches here.
    let header = unsafe { &*header };
    if r.track {
        let index = header.index(r) as usize;
        let name = r.tracks.objects[index].name;
        if !name.is_empty() {
            return name.to_owned();
        }
    }
    format!("{}:{}", crate::trace::file_name(header.created.file()), header.created.line())
}

/// Who waits for what, and who has it since where.
fn table(r: &mut Rt, who: u64) -> Vec<Blocked> {
    bits(who)
        .map(|t| {
            let pending = r.pending[t];
            let lock = lock_of(pending);
            let since = lock.and_then(LockCore::taken_at).or_else(|| once_of(pending).and_then(OnceCore::begun_at));
            Blocked {
                thread: threads::label(r, r.number[t]),
                runnable: r.enabled >> t & 1 == 1,
                wants: pending.kind,
                object: object_label(r, pending),
                location: pending.location.to_string(),
                holders: bits(holders(pending))
                    .map(|h| Waited { thread: threads::label(r, r.number[h]), since: since.map(ToString::to_string) })
                    .collect(),
                behind_writer: lock.is_some_and(LockCore::bars_readers) && pending.kind == OpKind::Read,
                arrived: arrived(pending).filter(|_| r.enabled >> t & 1 == 0),
            }
        })
        .collect()
}
