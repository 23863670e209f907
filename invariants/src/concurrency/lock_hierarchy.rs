//! Locks are taken from outside to inside, never two of one level (item U10), also on runs that do not deadlock.
//!
//! Reads: every operation that takes or releases a lock. `step` keeps, per thread, which locks it holds and where it
//! took them; an attempt to take a lock of the same or an outer level is the violation, whether or not it would block.
//! Locks without a declared level are ignored.

use std::panic::Location;

use interleaf::Violation;
use interleaf::monitor::{Event, Monitor, OpKind, Phase};

/// The invariant's name.
pub const NAME: &str = "locks.hierarchy";

/// A lock that a thread holds.
#[derive(Clone, Copy)]
struct Held {
    thread: u32,
    object: u32,
    level: usize,
    location: &'static Location<'static>,
}

/// The place of an object in the hierarchy, found by its name once: comparing names at every operation would be slow.
#[derive(Clone, Copy)]
enum Place {
    NotAsked,
    Undeclared,
    Declared { level: usize, within: usize },
}

/// The monitor.
pub struct LockHierarchy {
    levels: &'static [&'static [&'static str]],
    objects: Vec<Place>,
    /// Of all threads, oldest first: a run holds a handful of locks at a time.
    held: Vec<Held>,
    /// Threads that wait on a condition variable: their next `lock` takes back the mutex they gave up.
    waiting: Vec<u32>,
}

impl LockHierarchy {
    /// Watches the hierarchy `levels`: names of locks, outermost level first.
    #[must_use]
    pub fn new(levels: &'static [&'static [&'static str]]) -> Self {
        Self { levels, objects: Vec::with_capacity(32), held: Vec::with_capacity(16), waiting: Vec::new() }
    }

    fn level(&mut self, event: &Event<'_>) -> Option<usize> {
        let object = event.object as usize;
        if self.objects.len() <= object {
            self.objects.resize(object + 1, Place::NotAsked);
        }
        if matches!(self.objects[object], Place::NotAsked) {
            self.objects[object] = self.find(event.object_name);
        }
        match self.objects[object] {
            Place::Declared { level, .. } => Some(level),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Place {
        let within = |level: &[&str]| level.iter().position(|declared| *declared == name);
        let mut places = self.levels.iter().enumerate().filter_map(|(n, level)| Some((n, within(level)?)));
        places.next().map_or(Place::Undeclared, |(level, within)| Place::Declared { level, within })
    }

    fn name(&self, object: u32) -> &'static str {
        match self.objects[object as usize] {
            Place::Declared { level, within } => self.levels[level][within],
            _ => "",
        }
    }

    fn attempt(&mut self, event: &Event<'_>, level: usize) -> Result<(), Violation> {
        let thread = event.thread;
        if event.kind == OpKind::Lock && self.waiting.contains(&thread) {
            self.held.retain(|held| (held.thread, held.object) != (thread, event.object));
        }
        match self.held.iter().find(|held| held.thread == thread && held.level >= level) {
            Some(held) => Err(violation(event, level, *held, self.name(held.object))),
            None => Ok(()),
        }
    }

    fn take(&mut self, event: &Event<'_>, level: usize) {
        self.held.push(Held { thread: event.thread, object: event.object, level, location: event.location });
    }

    fn release(&mut self, event: &Event<'_>) {
        let released = |held: &Held| (held.thread, held.object) == (event.thread, event.object);
        if let Some(place) = self.held.iter().rposition(released) {
            self.held.remove(place);
        }
    }
}

fn violation(event: &Event<'_>, level: usize, held: Held, held_name: &str) -> Violation {
    let (wanted, thread) = (event.object_name, event.thread_name);
    let predicate = match (held.object == event.object, held.level == level) {
        (true, _) => format!("{wanted} taken again by its holder"),
        (false, true) => format!("{wanted} taken under {} of the same level", held_name),
        (false, false) => format!("{wanted} taken under {}", held_name),
    };
    Violation::new(NAME, &predicate)
        .expected(format_args!("{wanted} (level {level}) before {} (level {}), or without it", held_name, held.level))
        .actual(format_args!("thread {thread} takes {wanted} while it holds {}", held_name))
        .event(format_args!("thread {thread} took {} at {}", held_name, held.location))
        .event(format_args!("thread {thread} takes {wanted} at {}", event.location))
}

impl Monitor for LockHierarchy {
    fn step(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        match (event.kind, event.phase) {
            (OpKind::Lock | OpKind::Read | OpKind::Write, Phase::Announced) => match self.level(event) {
                Some(level) => self.attempt(event, level),
                None => Ok(()),
            },
            (OpKind::Lock | OpKind::Read | OpKind::Write, Phase::Executed) => {
                if let Some(level) = self.level(event) {
                    // Again, for operations that were not announced because nothing was in their way.
                    self.attempt(event, level)?;
                    self.take(event, level);
                }
                self.waiting.retain(|thread| *thread != event.thread);
                Ok(())
            }
            // An attempt that does not wait cannot close a cycle of waits; what it takes counts as held.
            (OpKind::TryLock | OpKind::TryRead | OpKind::TryWrite, Phase::Executed) if event.success => {
                if let Some(level) = self.level(event) {
                    self.take(event, level);
                }
                Ok(())
            }
            (OpKind::Unlock | OpKind::ReadUnlock | OpKind::WriteUnlock, Phase::Executed) => {
                self.release(event);
                Ok(())
            }
            (OpKind::Wait, Phase::Executed) => {
                self.waiting.push(event.thread);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LEVELS: &[&[&str]] = &[&["Chain"], &["CacheManager"], &["VolatileCache", "TxCurrent"]];

    /// Thread, operation, lock (its number is its place in the list of names).
    type Step = (u32, OpKind, &'static str);

    const NAMES: [&str; 6] = ["Chain", "CacheManager", "VolatileCache", "TxCurrent", "", "Condvar"];

    #[track_caller]
    fn run(steps: &[Step]) -> Result<(), Violation> {
        let mut monitor = LockHierarchy::new(LEVELS);
        for (step, &(thread, kind, name)) in (0..).zip(steps) {
            let phases: &[Phase] = match kind {
                OpKind::Lock | OpKind::Read | OpKind::Write => &[Phase::Announced, Phase::Executed],
                _ => &[Phase::Executed],
            };
            for &phase in phases {
                monitor.step(&Event {
                    step,
                    time: Duration::ZERO,
                    thread,
                    thread_name: ["main", "main/0"][thread as usize],
                    kind,
                    phase,
                    object: NAMES.iter().zip(0..).find(|(n, _)| **n == name).unwrap().1,
                    object_name: name,
                    success: true,
                    location: Location::caller(),
                })?;
            }
        }
        monitor.end()
    }

    use OpKind::{Lock, Read, ReadUnlock, TryWrite, Unlock, Wait, Write, WriteUnlock};

    #[test]
    fn accepts_outside_to_inside_and_siblings_one_after_the_other() {
        let steps = [
            (0, Lock, "Chain"),
            (0, Write, "CacheManager"),
            (1, Read, "CacheManager"),
            (0, Write, "VolatileCache"),
            (0, WriteUnlock, "VolatileCache"),
            (0, Write, "TxCurrent"),
            (1, Write, "TxCurrent"),
            (0, Lock, ""),
            (0, WriteUnlock, "TxCurrent"),
            (0, WriteUnlock, "CacheManager"),
            (0, Unlock, "Chain"),
            (0, Lock, "Chain"),
        ];
        assert_eq!(run(&steps), Ok(()));
    }

    #[test]
    fn rejects_an_outer_lock_under_an_inner_one() {
        let violation = run(&[(1, Read, "TxCurrent"), (1, Read, "CacheManager")]).unwrap_err();
        assert_eq!((&*violation.invariant, &*violation.predicate), (NAME, "CacheManager taken under TxCurrent"));
        assert_eq!(violation.actual, "thread main/0 takes CacheManager while it holds TxCurrent");
        assert!(violation.events.iter().all(|event| event.contains("lock_hierarchy.rs:")), "{:?}", violation.events);
    }

    #[test]
    fn rejects_siblings_at_once_and_a_lock_taken_again() {
        let siblings = run(&[(0, Read, "VolatileCache"), (0, Write, "TxCurrent")]).unwrap_err();
        assert_eq!(siblings.predicate, "TxCurrent taken under VolatileCache of the same level");
        let again = run(&[(0, Read, "CacheManager"), (0, Read, "CacheManager")]).unwrap_err();
        assert_eq!(again.predicate, "CacheManager taken again by its holder");
    }

    #[test]
    fn a_failed_order_is_seen_only_while_the_lock_is_held() {
        assert_eq!(run(&[(0, Read, "TxCurrent"), (0, ReadUnlock, "TxCurrent"), (0, Read, "CacheManager")]), Ok(()));
        // Taken without waiting, but held all the same.
        assert!(run(&[(0, TryWrite, "TxCurrent"), (0, Read, "CacheManager")]).is_err());
        assert_eq!(run(&[(0, Write, "TxCurrent"), (0, TryWrite, "CacheManager")]), Ok(()));
    }

    #[test]
    fn a_condition_variable_gives_its_mutex_back() {
        assert_eq!(run(&[(0, Lock, "Chain"), (0, Wait, "Condvar"), (0, Lock, "Chain"), (0, Unlock, "Chain")]), Ok(()));
        // The mutex given back was an undeclared one; the declared one is still held.
        let steps = [(0, Lock, "Chain"), (0, Lock, ""), (0, Wait, "Condvar"), (0, Lock, ""), (0, Lock, "Chain")];
        assert_eq!(run(&steps).unwrap_err().predicate, "Chain taken again by its holder");
        // It takes the outer mutex back while it still holds an inner lock.
        let steps = [(0, Lock, "Chain"), (0, Read, "TxCurrent"), (0, Wait, "Condvar"), (0, Lock, "Chain")];
        assert_eq!(run(&steps).unwrap_err().predicate, "Chain taken under TxCurrent");
    }
}
