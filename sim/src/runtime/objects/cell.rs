//! Plain shared data: checked for races inside a simulation, behind a real lock outside.

use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::MemoryModel;
use crate::memory::race::{Access, Race};
use crate::memory::state::Memory;
use crate::monitor::{OpKind, Phase};
use crate::violation::Violation;

use super::super::rt::{MAX_THREADS, Rt, current};
use super::super::{claim, record, threads, weak};
use super::header::Header;

/// A plain value, the lock that guards it outside simulations, and its identity inside.
pub(crate) struct CellCore<T> {
    header: Header,
    real: Mutex<()>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is read and replaced as a whole, by one thread at a time: inside a simulation all threads are on one
// OS thread and nothing switches between; outside, under the real lock; the claim protocol keeps the two apart. What
// callers do with the pointers of `with` is their own unsafe code.
unsafe impl<T: Send> Sync for CellCore<T> {}

impl<T> CellCore<T> {
    #[track_caller]
    pub(crate) const fn new(value: T) -> Self {
        Self { header: Header::new(), real: Mutex::new(()), value: UnsafeCell::new(value) }
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// First use in the run of `r`.
    #[cold]
    pub(crate) fn claim(&self, r: *mut Rt) {
        const HELD: &str = "is shared by a simulation and an ordinary thread that uses it";
        claim::claim(r, &self.header, || if self.real.try_lock().is_ok() { Ok(()) } else { Err(HELD) });
    }

    /// Checks the access if a run goes on, and takes the real lock if not.
    fn enter(&self, writes: bool, location: &'static Location<'static>) -> Option<MutexGuard<'_, ()>> {
        let r = current();
        if r.is_null() {
            let guard = self.real.lock().unwrap_or_else(PoisonError::into_inner);
            claim::check_ordinary(&self.header, || true);
            return Some(guard);
        }
        // SAFETY: `r` is this OS thread's runtime, and only controlled threads see it non-null.
        unsafe {
            if !self.header.known(&*r) {
                self.claim(r);
            }
            check(r, &self.header, writes, location);
        }
        None
    }

    pub(crate) fn get(&self, location: &'static Location<'static>) -> T
    where
        T: Copy,
    {
        let _guard = self.enter(false, location);
        // SAFETY: see `Sync`; no code of others runs while the value is copied.
        unsafe { *self.value.get() }
    }

    pub(crate) fn replace(&self, value: T, location: &'static Location<'static>) -> T {
        let _guard = self.enter(true, location);
        // SAFETY: see `Sync`; no code of others runs while the value is replaced.
        unsafe { std::mem::replace(&mut *self.value.get(), value) }
    }

    pub(crate) fn with<R>(&self, writes: bool, location: &'static Location<'static>, f: impl FnOnce(*mut T) -> R) -> R {
        let _guard = self.enter(writes, location);
        f(self.value.get())
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub(crate) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// Compares an access of the running thread with the earlier ones of its cell.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread.
unsafe fn check(r: *mut Rt, header: &Header, writes: bool, location: &'static Location<'static>) {
    // SAFETY: as the caller; the borrows end before anything else is called.
    unsafe {
        if (*r).cancel {
            return;
        }
        if (*r).memory.is_none() {
            // What synchronised before the first access of the run orders nothing that comes after it.
            weak::track_from_now(&mut *r);
            (*r).memory = Some(Box::new(Memory::new(MemoryModel::Sc)));
        }
        let object = header.index(&mut *r);
        let thread = (*r).number[(*r).cur & (MAX_THREADS - 1)];
        let race = match &mut (*r).memory {
            Some(memory) => memory.access_cell(thread, object, writes, location),
            None => Ok(()),
        };
        let kind = if writes { OpKind::CellWrite } else { OpKind::CellRead };
        record::event(r, header, kind, Phase::Executed, true, location);
        if let Err(race) = race {
            let violation = violation(&*r, object, race, Access { thread, position: 0, place: location }, writes);
            if threads::is_unwinding(r) {
                (*r).failure
                    .get_or_insert_with(|| Box::new(crate::explore::failure::FailureKind::Violation(violation)));
                (*r).cancel = true;
            } else {
                violation.raise();
            }
        }
    }
}

#[cold]
fn violation(r: &Rt, object: u32, (first, first_writes): Race, second: Access, second_writes: bool) -> Violation {
    let word = |writes| if writes { "write" } else { "read" };
    let line = |access: Access, writes| {
        format!("{} by {} at {}", word(writes), threads::label(r, access.thread), access.place)
    };
    let predicate = match (first_writes, second_writes) {
        (true, true) => "two writes of a plain cell are not ordered",
        _ => "a write and a read of a plain cell are not ordered",
    };
    let name = r.tracks.objects.get(object as usize).map_or("", |o| o.name);
    let cell = if name.is_empty() { String::new() } else { format!(" of {name}") };
    Violation::new("memory.data_race", predicate)
        .expected("one of the two happens before the other")
        .actual(format_args!("{}{cell} and {}", line(first, first_writes), line(second, second_writes)))
        .event(line(first, first_writes))
        .event(line(second, second_writes))
}
