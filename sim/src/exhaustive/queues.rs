//! Whether it matters that readers queue behind writers.
//!
//! A reader that finds a writer waiting may be stuck behind it, as with std's and parking_lot's locks. Being delayed is
//! nothing new, so the only thing that it adds is a deadlock: the reader holds something that a holder of the lock (or
//! somebody that this one waits for) wants. Then the order in which locks are taken has a cycle through that read lock,
//! and the cycle shows in some run in which nobody queues. So an exploration begins without queues, which are a
//! step, a choice and an object more, and begins again with them once a run has shown that they could matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::monitor::OpKind;

use super::record::{Access, Object, Record};

/// Whether a run shows that a reader could be stuck behind a writer for good, or that it is tried to read.
pub(crate) fn matter(record: &Record) -> bool {
    if !record.accesses.iter().any(|a| matches!(a.kind, OpKind::Read | OpKind::TryRead)) {
        return false;
    }
    // Locks by thread, with whether they are only read; which lock is taken while which is held; nested read locks.
    let mut held: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    let mut order: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut nested: Vec<(u32, u32)> = Vec::new();
    let mut waited = record.waited.iter().peekable();
    let reads = |held: &BTreeMap<u32, Vec<(u32, bool)>>, thread| {
        held.get(thread).is_some_and(|locks| locks.iter().any(|&(_, reads)| reads))
    };
    for (x, event) in record.events.iter().enumerate() {
        while let Some((thread, _)) = waited.next_if(|(_, at)| *at <= x) {
            if reads(&held, thread) {
                return true;
            }
        }
        let mine = held.entry(event.thread).or_default();
        for a in record.accesses_of(x).iter().filter(|a| !Object::is_hidden(a.object) || a.kind == OpKind::Park) {
            match a.kind {
                // It fails if a writer waits.
                OpKind::TryRead => return true,
                OpKind::Lock | OpKind::Read | OpKind::Write | OpKind::TryLock | OpKind::TryWrite => {
                    for &(other, _) in mine.iter() {
                        order.entry(other).or_default().insert(a.object);
                        if a.kind == OpKind::Read {
                            nested.push((other, a.object));
                        }
                    }
                    if a.success {
                        mine.push((a.object, a.kind == OpKind::Read));
                    }
                }
                OpKind::Unlock | OpKind::ReadUnlock | OpKind::WriteUnlock => {
                    if let Some(at) = mine.iter().rposition(|&(o, _)| o == a.object) {
                        mine.swap_remove(at);
                    }
                }
                _ if waits(a) && mine.iter().any(|&(_, reads)| reads) => return true,
                _ => {}
            }
        }
    }
    // Somebody waits at the end, and a read lock is held, by whomever: its thread may have ended without releasing it.
    waited.next().is_some() && held.keys().any(|thread| reads(&held, thread))
        || nested.into_iter().any(|(outer, inner)| leads_to(&order, inner, outer))
}

/// Whether the operation may wait for another thread that holds no lock.
fn waits(a: &Access) -> bool {
    !matches!(
        a.kind,
        OpKind::Load
            | OpKind::Store
            | OpKind::Rmw
            | OpKind::Cas
            | OpKind::Add
            | OpKind::And
            | OpKind::Or
            | OpKind::Xor
            | OpKind::Max
            | OpKind::Min
            | OpKind::Fence
            | OpKind::NotifyOne
            | OpKind::NotifyAll
    )
}

fn leads_to(order: &BTreeMap<u32, BTreeSet<u32>>, from: u32, to: u32) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::from([from]));
    while let Some(lock) = open.pop() {
        if lock == to {
            return true;
        }
        for &next in order.get(&lock).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}
