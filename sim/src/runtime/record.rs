//! What is noted of an operation when somebody looks.
//!
//! The search itself records one byte a step. With tracking on, each operation also updates a hash of the
//! happens-before order, is shown to the monitor, and, in the one run that is told to people, goes into the trace.
//!
//! *The dependency relation* is the one of [`crate::exhaustive::record`]: [`accessed`] is the only place where an
//! access is noted, for the hash and for exhaustive exploration alike.
//!
//! *The hash.* Each thread and each object carries a hash of everything that happened before. A writing access mixes
//! both into both; those that commute with each other, as reads do, mix what came before all of them into the thread and
//! are summed up beside it, so that they give the same hash in either order. The hashes of all threads together identify the Mazurkiewicz
//! trace: two runs agree if and only if (up to collisions of 64 bits) they order all conflicting accesses in the same
//! way.

use std::panic::Location;
use std::time::Duration;

use crate::exhaustive::class::Class;
use crate::exhaustive::record::{Access, Object, Record, reads_only};
use crate::exhaustive::shape::Shape;
use crate::explore::failure::FailureKind;
use crate::monitor::{Event, OpKind, Phase};
use crate::strategy::Active;
use crate::trace::{Decision, Stale, TraceEvent};

use super::objects::header::Header;
use super::point::choose;
use super::rt::{MAX_THREADS, Rt, SLOW_TRACK, outside};
use super::{ask, threads};

#[derive(Clone)]
pub(crate) struct ObjectTrack {
    pub(crate) name: &'static str,
    pub(crate) created: &'static Location<'static>,
}

/// Hashes of what happened to an object.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// What came before the latest accesses that commute with each other.
    before: u64,
    /// The sum of these.
    latest: u64,
    class: Class,
}

#[derive(Clone)]
pub(crate) struct ThreadTrack {
    hash: u64,
    name: String,
}

/// Everything that is recorded only on demand.
pub(crate) struct Tracks {
    pub(crate) objects: Vec<ObjectTrack>,
    pub(super) threads: Vec<ThreadTrack>,
    /// By [`Object::raw`].
    marks: Vec<Mark>,
    pub(crate) events: Option<Vec<TraceEvent>>,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) stale: Vec<Stale>,
    named: bool,
}

impl ThreadTrack {
    pub(super) const fn new(hash: u64, name: String) -> Self {
        Self { hash, name }
    }
}

#[inline(always)]
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ b.rotate_left(32) ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
    (product as u64) ^ (product >> 64) as u64
}

impl Tracks {
    pub(crate) const fn new() -> Self {
        Self {
            objects: Vec::new(),
            threads: Vec::new(),
            marks: Vec::new(),
            events: None,
            decisions: Vec::new(),
            stale: Vec::new(),
            named: false,
        }
    }

    pub(crate) fn reset(&mut self, recording: bool, named: bool) {
        self.objects.clear();
        self.threads.clear();
        self.marks.clear();
        self.decisions.clear();
        self.stale.clear();
        self.events = recording.then(Vec::new);
        self.named = named;
    }

    #[cold]
    pub(crate) fn enrol(&mut self, index: u32, created: &'static Location<'static>) {
        debug_assert_eq!(self.objects.len(), index as usize);
        self.objects.push(ObjectTrack { name: "", created });
    }

    /// Hash of the happens-before order of the whole run. The numbers of threads play no part in it: threads that
    /// start threads at the same time get them in any order.
    pub(crate) fn interleaving(&self) -> u64 {
        self.threads.iter().fold(0x1234_5678, |h: u64, t| h.wrapping_add(mix(t.hash, 4)))
    }

    pub(crate) fn thread_names(&self) -> Vec<String> {
        self.threads.iter().map(|t| t.name.clone()).collect()
    }
}

/// Switches tracking on or off for the next run.
pub(crate) fn set_tracking(r: &mut Rt, track: bool) {
    r.track = track;
    r.slow = if track { r.slow | SLOW_TRACK } else { r.slow & !SLOW_TRACK };
}

/// A thread was enlisted in `slot`.
pub(crate) fn started(r: &mut Rt, slot: usize) {
    let number = r.number[slot];
    let origin = if r.cur < MAX_THREADS {
        let parent = &mut r.tracks.threads[r.number[r.cur] as usize];
        parent.hash = mix(parent.hash, OpKind::Start as u64);
        parent.hash
    } else {
        1
    };
    let parent = (r.cur < MAX_THREADS).then(|| (r.threads[number as usize].parent, r.threads[number as usize].ordinal));
    if let Some(record) = exhaustive(r) {
        record.thread_started(number, parent);
    }
    if let Some(memory) = &mut r.memory {
        memory.started(number, parent);
    }
    let name = if r.tracks.named { threads::label(r, number) } else { String::new() };
    r.tracks.threads.push(ThreadTrack::new(mix(origin, 2), name));
}

/// The thread of `slot` has ended.
///
/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn ended(r: *mut Rt, slot: usize) {
    // SAFETY: as the caller; nothing switches here.
    unsafe {
        let kind = if (*r).settings.steps_apart.ends { OpKind::End } else { OpKind::Store };
        touched(r, Object::End((&(*r).number)[slot]), kind);
        show(r, slot, None, OpKind::End, Phase::Executed, true, (*r).pending[slot].location);
    }
}

/// The running thread has joined thread `number`.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn joined(r: *mut Rt, number: u32, location: &'static Location<'static>) {
    // SAFETY: as the caller; the borrow ends before the event is shown.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        {
            let tracks = &mut (*r).tracks;
            let child = tracks.threads[number as usize].hash;
            let mine = &mut tracks.threads[(*r).number[me] as usize];
            mine.hash = mix(mine.hash, child);
            if let Some(record) = exhaustive(&mut *r) {
                record.joined((&(*r).number)[me], number);
            }
        }
        if let Some(memory) = &mut (*r).memory {
            memory.joined((*r).number[me], number);
        }
        show(r, me, None, OpKind::Join, Phase::Executed, true, location);
    }
}

/// The running thread is about to try an operation that may have to wait.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn announced(r: *mut Rt, header: &Header, kind: OpKind, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe {
        if (*r).monitor.is_some() {
            event(r, header, kind, Phase::Announced, true, location);
        }
    }
}

/// The running thread's operation has taken effect.
///
/// # Safety
/// As [`ended`].
#[inline(never)]
pub(crate) unsafe fn executed(
    r: *mut Rt,
    header: &Header,
    kind: OpKind,
    success: bool,
    location: &'static Location<'static>,
) {
    // SAFETY: as the caller.
    unsafe { executed_with(r, header, kind, success, Values::default(), location) }
}

/// What an operation of an atomic found, left and expected (compare-and-swap) or was given (updates).
#[derive(Clone, Copy, Default)]
pub(crate) struct Values {
    pub(crate) found: u64,
    pub(crate) value: u64,
    pub(crate) expected: u64,
    pub(crate) shape: Shape,
    /// It failed without reason. What it accesses must not depend on that, so it counts as a write.
    pub(crate) spurious: bool,
}

/// As [`executed`], for atomics.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn executed_with(
    r: *mut Rt,
    header: &Header,
    kind: OpKind,
    success: bool,
    values: Values,
    location: &'static Location<'static>,
) {
    // SAFETY: as the caller; the borrow ends before the event is shown.
    unsafe {
        {
            let r = &mut *r;
            let index = header.index(r);
            let number = r.number[r.cur & (MAX_THREADS - 1)];
            explored(r, index, kind, success, values);
            if let Some(memory) = &mut r.memory {
                memory.executed(number, index, kind, success, location);
            }
        }
        event(r, header, kind, Phase::Executed, success, location);
    }
}

/// An operation on the `park` token of thread `number`.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn executed_on_thread(r: *mut Rt, number: u32, kind: OpKind, location: &'static Location<'static>) {
    // SAFETY: as the caller; the borrow ends before the event is shown.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        {
            let r = &mut *r;
            let object = if kind == OpKind::Sleep { Object::Clock } else { Object::Token(number) };
            let mine = r.number[me];
            if let Some(memory) = &mut r.memory {
                memory.on_token(mine, number, kind);
            }
            accessed(r, me, access(object, kind, true, Values::default()));
        }
        show(r, me, None, kind, Phase::Executed, true, location);
    }
}

/// A data choice of the running thread.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn chose(r: *mut Rt, value: usize) {
    // SAFETY: as the caller.
    let r = unsafe { &mut *r };
    if r.memory.as_ref().is_some_and(|memory| memory.is_choosing) {
        // Which store is read is told by the execution graph.
        return;
    }
    let thread = &mut r.tracks.threads[r.number[r.cur & (MAX_THREADS - 1)] as usize];
    thread.hash = mix(thread.hash, 0x100 + value as u64);
}

/// The decision at a scheduling point, before it is logged.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn decided(r: *mut Rt, options: u64, chosen: usize, data: bool) {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    if r.tracks.events.is_none() {
        return;
    }
    let slot = if data { r.cur & (MAX_THREADS - 1) } else { chosen };
    let pending = r.pending[slot];
    let object = match r.header_of(pending) {
        // A value may be chosen before the operation is announced; then the last one's object may be gone.
        _ if data => None,
        Some(header) => {
            let header: *const Header = header;
            // SAFETY: the announced operation's object is borrowed by its suspended thread.
            Some(unsafe { &*header }.index(r))
        }
        None => None,
    };
    let (running, default) = ask::course(r);
    r.tracks.decisions.push(Decision {
        options,
        chosen: chosen as u8,
        default: if data { options.trailing_zeros() } else { default as u32 } as u8,
        preemption: !data && running.is_some_and(|t| t != chosen),
        data,
        thread: r.number[slot],
        kind: if data { OpKind::Choose } else { pending.kind },
        object,
        location: pending.location,
    });
}

/// Shows an operation of the running thread on an object.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn event(
    r: *mut Rt,
    header: &Header,
    kind: OpKind,
    phase: Phase,
    success: bool,
    location: &'static Location<'static>,
) {
    // SAFETY: as the caller.
    unsafe {
        if (*r).monitor.is_none() && (*r).tracks.events.is_none() {
            return;
        }
        let index = header.index(&mut *r);
        show(r, (*r).cur & (MAX_THREADS - 1), Some(index), kind, phase, success, location);
    }
}

pub(super) unsafe fn show(
    r: *mut Rt,
    slot: usize,
    object: Option<u32>,
    kind: OpKind,
    phase: Phase,
    success: bool,
    location: &'static Location<'static>,
) {
    // SAFETY: as the callers; the monitor is taken out while it runs, so it may not reach itself.
    unsafe {
        // What threads do while they are unwound is no part of the run.
        if (*r).cancel {
            return;
        }
        let thread = (*r).number[slot];
        let step = u64::from((*r).step());
        let time: Duration = (*r).now;
        if let (Some(events), Phase::Executed) = (&mut (*r).tracks.events, phase) {
            events.push(TraceEvent { step, time, thread, kind, object, success, location, note: None });
        }
        let Some(mut monitor) = (*r).monitor.take() else { return };
        let object_name = object.map_or("", |i| (&(*r).tracks.objects)[i as usize].name);
        let verdict = {
            let tracks = &(*r).tracks;
            let event = Event {
                step,
                time,
                thread,
                thread_name: &tracks.threads[thread as usize].name,
                kind,
                phase,
                object: object.unwrap_or(u32::MAX),
                object_name,
                success,
                location,
            };
            outside(r, || monitor.step(&event))
        };
        (*r).monitor = Some(monitor);
        let failure = match verdict {
            Ok(Ok(())) => return,
            Ok(Err(violation)) => FailureKind::Violation(violation),
            Err(payload) => FailureKind::of_payload("the monitor", payload),
        };
        if (*r).failure.is_none() {
            (*r).failure = Some(Box::new(failure));
            // The thread is unwound at its next operation; here it may hold a lock that no guard stands for yet.
            (*r).cancel = true;
        }
    }
}

/// The record of an exhaustive exploration, if one goes on.
fn exhaustive(r: &mut Rt) -> Option<&mut Record> {
    match &mut r.active {
        // What threads do while they are unwound is no part of the run.
        Active::Guided(guide) if !r.cancel => Some(&mut guide.record),
        _ => None,
    }
}

/// The running thread operates on sync object `index`.
pub(super) fn explored(r: &mut Rt, index: u32, kind: OpKind, success: bool, values: Values) {
    accessed(r, r.cur, access(Object::Sync(index), kind, success, values));
}

fn access(object: Object, kind: OpKind, success: bool, values: Values) -> Access {
    let Values { found, value, expected, shape, spurious } = values;
    let reads = reads_only(kind, success) && !spurious;
    Access { object: object.raw(), kind, success, reads, found, value, expected, shape }
}

/// The thread in `slot` accesses something: the only place where the order of accesses is noted.
fn accessed(r: &mut Rt, slot: usize, access: Access) {
    let number = r.number[slot & (MAX_THREADS - 1)] as usize;
    let at = access.object as usize;
    if at >= r.tracks.marks.len() {
        r.tracks.marks.resize(at + 8, Mark::default());
    }
    let thread = &mut r.tracks.threads[number];
    let mark = &mut r.tracks.marks[at];
    let before = mix(thread.hash, access.kind as u64 * 2 + u64::from(access.success));
    let class = access.class();
    if class == Class::Writes {
        thread.hash = mix(before, mix(mark.before, mark.latest));
        *mark = Mark { before: thread.hash, latest: 0, class: Class::Reads };
    } else {
        if class != mark.class {
            *mark = Mark { before: mix(mark.before, mark.latest), latest: 0, class };
        }
        thread.hash = mix(before, mark.before);
        mark.latest = mark.latest.wrapping_add(mix(thread.hash, 3));
    }
    if let Some(record) = exhaustive(r) {
        record.access(access);
    }
}

/// Whether an armed fault fires here, of which `left` of `armed` may still do.
///
/// # Safety
/// As [`ended`], called from a controlled thread that does not unwind.
#[inline(always)]
pub(crate) unsafe fn fault(r: *mut Rt, left: u32, armed: u32) -> bool {
    // SAFETY: as the caller.
    armed > 0 && unsafe { may_fire(r, left) }
}

#[cold]
unsafe fn may_fire(r: *mut Rt, left: u32) -> bool {
    // SAFETY: as `fault`.
    unsafe {
        let fires = left > 0 && choose(r, 0b11) == 1;
        // A write also if it does not: what an operation accesses must not depend on what others did.
        touched(r, Object::Faults, OpKind::Store);
        fires
    }
}

/// An access that comes along with another operation, or none that others see as one.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn touched(r: *mut Rt, object: Object, kind: OpKind) {
    // SAFETY: as the caller.
    unsafe { touched_by(r, (*r).cur, object, kind) }
}

/// Likewise, of the thread in `slot`.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn touched_by(r: *mut Rt, slot: usize, object: Object, kind: OpKind) {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    if r.track && !r.cancel {
        accessed(r, slot, access(object, kind, true, Values::default()));
    }
}

/// Likewise, of who waits to write for a lock and who reads: writers who announce themselves and readers do not disturb
/// each other (`Load`); who looks whether there are any does (`Store`). And of how many senders a channel has.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn touched_queue(r: *mut Rt, header: &Header, kind: OpKind) {
    // SAFETY: as the caller; nothing switches here.
    unsafe {
        if (*r).track && (*r).settings.queues {
            let index = header.index(&mut *r);
            touched(r, Object::Queue(index), kind);
        }
    }
}

/// The thread in `slot`, which waits with a timeout, is about to be woken by the present operation.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn prevented(r: *mut Rt, slot: usize, header: &Header) {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    let (number, object) = (r.number[slot], Object::Sync(header.index(r)).raw());
    if let Some(record) = exhaustive(r) {
        record.prevented(number, object);
    }
}

/// The thread in `slot` can go on because of the present operation.
///
/// # Safety
/// As [`ended`].
pub(crate) unsafe fn woken(r: *mut Rt, slot: usize) {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    let number = r.number[slot];
    let present = r.tracks.threads[r.number[r.cur & (MAX_THREADS - 1)] as usize].hash;
    let woken = &mut r.tracks.threads[number as usize];
    woken.hash = mix(woken.hash, present);
    if let Some(record) = exhaustive(r) {
        record.enabled_by_present(number);
    }
}

/// Gives an object its name, if anybody looks.
pub(crate) fn name(r: *mut Rt, header: &Header, name: &'static str) {
    // SAFETY: `r` is this OS thread's runtime; nothing switches here.
    let r = unsafe { &mut *r };
    if r.track {
        let index = header.index(r) as usize;
        r.tracks.objects[index].name = name;
    }
}

/// Adds a line of the program's own to the trace of the running thread.
pub(crate) fn note(r: *mut Rt, text: impl FnOnce() -> String, location: &'static Location<'static>) {
    // SAFETY: as `name`; the text is made before anything is borrowed.
    unsafe {
        if (*r).tracks.events.is_none() {
            return;
        }
        let text = text();
        let r = &mut *r;
        let (step, time, thread) = (u64::from(r.step()), r.now, r.number[r.cur & (MAX_THREADS - 1)]);
        if let Some(events) = &mut r.tracks.events {
            events.push(TraceEvent {
                step,
                time,
                thread,
                kind: OpKind::Yield,
                object: None,
                success: true,
                location,
                note: Some(text),
            });
        }
    }
}
