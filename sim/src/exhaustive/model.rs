//! What an operation would do in another place, as far as that can be told from a record.

use crate::monitor::OpKind;

use super::class::Class;
use super::guide::Waiting;
use super::record::{Access, Object, Record, bit, reads_only};
use super::shape::Shape;

/// A part of a run: its first events, and some more.
pub(crate) struct Kept<'a> {
    pub(crate) record: &'a Record,
    pub(crate) until: usize,
    pub(crate) also: &'a [u64],
}

impl Kept<'_> {
    pub(crate) fn has(&self, event: usize) -> bool {
        event < self.until || bit(self.also, event)
    }

    /// The accesses of the kept events to an object, latest first.
    fn latest(&self, object: u32) -> impl Iterator<Item = &Access> {
        let events = self.record.log_of(object).iter().rev().map(|&(k, _)| k as usize).filter(|&k| self.has(k));
        events.flat_map(move |k| self.record.accesses_of(k).iter().rev().filter(move |a| a.object == object))
    }
}

/// Whether the thread learns nothing from an operation of this kind.
pub(crate) fn tells_nothing(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Store
            | OpKind::Add
            | OpKind::And
            | OpKind::Or
            | OpKind::Xor
            | OpKind::Max
            | OpKind::Min
            | OpKind::Unlock
            | OpKind::ReadUnlock
            | OpKind::WriteUnlock
            | OpKind::NotifyOne
            | OpKind::NotifyAll
            | OpKind::Park
            | OpKind::Unpark
            | OpKind::Sleep
            | OpKind::Queue
            | OpKind::End
    )
}

/// Whether an operation of this kind reads only, if its luck is bad (or good).
pub(crate) fn may_read(kind: OpKind) -> bool {
    reads_only(kind, true) || reads_only(kind, false)
}

/// Whether what an operation of this kind would do in another place cannot be told.
pub(crate) fn is_uncertain(kind: OpKind) -> bool {
    matches!(kind, OpKind::Send | OpKind::Recv | OpKind::Init)
}

/// The accesses that a thread waited to make.
pub(crate) fn waited_for(w: Waiting) -> Vec<Access> {
    let access = |object, kind, reads| Access { reads, ..untold(object, kind, true) };
    let along = w.along.map(|(object, reads)| access(object, if reads { OpKind::Load } else { OpKind::Store }, reads));
    along.into_iter().chain([access(w.object, w.kind, reads_only(w.kind, true))]).collect()
}

/// The accesses of a wait that ends by its timeout.
pub(crate) fn timeout(object: u32) -> Vec<Access> {
    vec![untold(Object::Clock.raw(), OpKind::Store, false), untold(object, OpKind::Wait, false)]
}

/// An access of which no values are known.
fn untold(object: u32, kind: OpKind, success: bool) -> Access {
    Access { object, kind, success, reads: false, found: 0, value: 0, expected: 0, shape: Shape::default() }
}

/// Corrects an access to what it would be behind the kept events. False if it could not be made there.
pub(crate) fn foresee(kept: &Kept<'_>, access: &mut Access) -> bool {
    let object = access.object;
    if Object::is_hidden(object) && access.kind != OpKind::Park {
        return true;
    }
    match access.kind {
        OpKind::Cas => {
            if let Some(value) = value_behind(kept, object) {
                access.success = value == access.expected;
                access.reads = !access.success;
            }
            true
        }
        OpKind::Lock => mutex_is_free(kept, object),
        OpKind::TryLock => {
            access.success = mutex_is_free(kept, object);
            access.reads = !access.success;
            true
        }
        OpKind::Send | OpKind::Recv | OpKind::Init => {
            // It may succeed there although it failed here, or the other way round.
            access.reads = false;
            true
        }
        OpKind::Write => holders(kept, object) == (false, 0),
        OpKind::Read => !holders(kept, object).0,
        OpKind::Park => kept.latest(object).next().is_some_and(|a| a.kind == OpKind::Unpark),
        _ => true,
    }
}

/// The value of an atomic behind the kept events, if anybody has accessed it.
fn value_behind(kept: &Kept<'_>, object: u32) -> Option<u64> {
    let log = kept.record.log_of(object);
    let wrote = |&(k, class): &(u32, Class)| class != Class::Reads && kept.has(k as usize);
    let access = |k: u32| kept.record.accesses_of(k as usize).iter().find(|a| a.object == object);
    let Some(last) = log.iter().rposition(wrote) else {
        // The first access of all found what was there from the beginning.
        return access(log.first()?.0).map(|a| a.found);
    };
    let class = log[last].1;
    if class == Class::Writes {
        return kept
            .record
            .accesses_of(log[last].0 as usize)
            .iter()
            .rfind(|a| a.object == object && !a.reads)
            .map(|a| a.value);
    }
    // Of updates that commute some may be kept and others not. What was before them all is kept.
    let first = log[..last].iter().rposition(|&(_, other)| other != class).map_or(0, |k| k + 1);
    let found = access(log[first].0)?.found;
    let updates = log[first..=last].iter().filter(|&&(k, _)| kept.has(k as usize)).filter_map(|&(k, _)| access(k));
    Some(updates.fold(found, |value, a| a.shape.updated(a.kind, value, a.expected)))
}

/// A channel's access says in `value` whether a receiver could go on behind it, or nothing; and in `expected` whether
/// it waits itself.
pub(crate) const RECEIVER_WAITS: u64 = 1;
pub(crate) const RECEIVER_GOES_ON: u64 = 2;
/// See [`RECEIVER_WAITS`].
pub(crate) const NEVER_WAITS: u64 = 1;

/// Whether a receive would not have to wait.
pub(crate) fn can_receive(kept: &Kept<'_>, access: &Access) -> bool {
    access.expected == NEVER_WAITS
        || kept.latest(access.object).find(|a| a.value != 0).is_some_and(|a| a.value == RECEIVER_GOES_ON)
}

/// Whether readers queue behind a writer: one that looked found it waiting and chose to, and the lock has not been
/// free since, as far as that can be told: read locks and their releases are in no order with it. So bounds are not
/// exact for threads that take a read lock while they hold another lock and a writer waits.
pub(crate) fn is_barred(kept: &Kept<'_>, object: u32) -> bool {
    let queue = object | Object::Queue(0).raw();
    let mut looked = kept.record.log_of(queue).iter().map(|&(k, _)| k as usize).filter(|&k| kept.has(k));
    let queued = |k: usize| {
        kept.record.events[k].kind == OpKind::Read
            && kept.record.accesses_of(k).iter().any(|a| a.object == queue && !a.reads)
            && !kept.record.accesses_of(k).iter().any(|a| a.object == object && a.kind == OpKind::Read)
    };
    holders(kept, object).1 > 0 && looked.any(queued)
}

fn mutex_is_free(kept: &Kept<'_>, object: u32) -> bool {
    kept.latest(object).find(|a| !a.reads).is_none_or(|a| a.kind == OpKind::Unlock)
}

/// Whether a writer holds the lock, and how many readers do.
fn holders(kept: &Kept<'_>, object: u32) -> (bool, i64) {
    let mut readers = 0;
    for a in kept.latest(object) {
        match a.kind {
            OpKind::Read => readers += 1,
            OpKind::TryRead if a.success => readers += 1,
            OpKind::ReadUnlock => readers -= 1,
            OpKind::Write => return (true, readers),
            OpKind::TryWrite if a.success => return (true, readers),
            OpKind::WriteUnlock => break,
            _ => {}
        }
    }
    (false, readers)
}
