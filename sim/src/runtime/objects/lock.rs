//! The model of mutexes and readers-writer locks.
//!
//! *What an acquisition disables.* A thread announces that it wants the lock by a bit in `writers` or `readers`. Who
//! takes the lock clears the `enabled` bit of all announced threads that now cannot take it; who releases it sets
//! them again. Both are single bit operations, and a chosen thread never finds the lock taken.
//!
//! *Why a release need not be a scheduling point.* Until the lock is free nobody else can operate on it, except
//! `try_lock`. Whatever another thread does between the holder's last operation and the release commutes with the
//! release, so each behaviour is reached with the release done at once (it is a left-mover, Lipton 1975). A lock that
//! somebody *tries* is the exception: its releases are points; if that is found out after a release went by without
//! one, the run is repeated with every release a point.
//!
//! *Readers and waiting writers.* std's and parking_lot's readers queue behind a writer that waits. That only ever
//! takes away behaviours, except for one that it adds: a thread that holds something and wants to read again may be
//! stuck behind a writer that waits for it. So the question "was the writer queued already?" is a choice of the
//! strategy exactly there, and nowhere else.

use std::cell::Cell;
use std::panic::Location;

use crate::monitor::{OpKind, Phase};

use super::super::point::{choose, go_on, point};
use super::super::rt::{MAX_THREADS, Pending, Rt};
use super::super::{claim, deadlock, record, teardown, threads};
use super::header::Header;

const HELD: &str = "is shared by a simulation and an ordinary thread that holds it";

/// `state` of a lock that is held for writing (or a held mutex).
const WRITE: u32 = u32::MAX;

/// Shared by `Mutex` (which is only ever written) and `RwLock`. The header comes first, so that an announced
/// operation's address is the lock's.
#[repr(C)]
pub(crate) struct LockCore {
    pub(crate) header: Header,
    /// 0 free, [`WRITE`], else the number of read guards.
    state: Cell<u32>,
    /// Threads that have announced to take it for writing / reading.
    writers: Cell<u64>,
    readers: Cell<u64>,
    holders: Cell<u64>,
    /// A writer is known to wait: readers queue behind it.
    queued: Cell<bool>,
    /// Somebody tries this lock, so its releases are scheduling points.
    tried: Cell<bool>,
    /// It was released without a scheduling point in this run.
    released_silently: Cell<bool>,
    taken_at: Cell<Option<&'static Location<'static>>>,
}

// SAFETY: the cells are used only by the simulation that has claimed the header, on its one OS thread.
unsafe impl Sync for LockCore {}
// SAFETY: as for Sync; the cells hold plain values.
unsafe impl Send for LockCore {}

/// How a lock is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl LockCore {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self {
            header: Header::new(),
            state: Cell::new(0),
            writers: Cell::new(0),
            readers: Cell::new(0),
            holders: Cell::new(0),
            queued: Cell::new(false),
            tried: Cell::new(false),
            released_silently: Cell::new(false),
            taken_at: Cell::new(None),
        }
    }

    /// First use in this run: what an earlier run left behind in a static is void, but for a guard that may still exist.
    #[cold]
    pub(crate) fn claim(&self, r: *mut Rt, free: impl Fn() -> bool) {
        claim::claim(r, &self.header, || if free() { claim::left_free(self.state.get() == 0) } else { Err(HELD) });
        self.state.set(0);
        self.writers.set(0);
        self.readers.set(0);
        self.holders.set(0);
        self.queued.set(false);
        self.tried.set(false);
        self.released_silently.set(false);
    }

    /// Whether the lock is one of the run of `r`, which may be null.
    #[inline(always)]
    pub(crate) fn is_of(&self, r: *mut Rt) -> bool {
        // SAFETY: null or this OS thread's runtime.
        !r.is_null() && self.header.known(unsafe { &*r })
    }

    /// Called by an ordinary thread that has just taken the real lock.
    #[inline(always)]
    pub(crate) fn check_ordinary(&self) {
        claim::check_ordinary(&self.header, || self.state.get() == 0);
    }

    /// A guard of a run that is over is dropped (it was kept in a thread-local, say): nobody waits for it.
    #[cold]
    pub(crate) fn release_late(&self, access: Access) {
        self.state.set(if access == Access::Read { self.state.get().saturating_sub(1) } else { 0 });
    }

    /// Waits for the lock and takes it.
    ///
    /// # Safety
    /// `r` is this OS thread's runtime, called from a controlled thread.
    #[inline(always)]
    pub(crate) unsafe fn acquire(
        &self,
        r: *mut Rt,
        access: Access,
        kind: OpKind,
        location: &'static Location<'static>,
        free: impl Fn() -> bool,
    ) {
        // SAFETY: as the caller; accesses through `r` are short.
        unsafe {
            if !self.header.known(&*r) {
                self.claim(r, free);
            }
            if threads::quiet(r) {
                return self.acquire_quietly(r, access, kind, location);
            }
            if kind == OpKind::Write {
                threads::settle(r, location);
            }
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            if kind == OpKind::Write && (*r).settings.steps_apart.queues {
                point(r, self.header.address(), OpKind::Queue, location);
            }
            self.announce(r, access, bit);
            if (*r).track {
                if kind == OpKind::Write {
                    record::touched_queue(r, &self.header, OpKind::Queue);
                }
                record::announced(r, &self.header, kind, location);
            }
            if (*r).enabled & bit == 0 && self.holders.get() & !(*r).enabled != 0 {
                (*r).pending[(*r).cur] = Pending { at: self.header.address(), location, kind };
                deadlock::check(r);
            }
            point(r, self.header.address(), kind, location);
            if access == Access::Read && self.looks_for_writers(r) {
                self.queue_behind_writer(r, bit);
            }
            self.take(r, access, bit, location);
            if (*r).track {
                record::executed(r, &self.header, kind, true, location);
            }
        }
    }

    #[inline(always)]
    unsafe fn announce(&self, r: *mut Rt, access: Access, bit: u64) {
        // SAFETY: as `acquire`.
        unsafe {
            let blocked = match access {
                Access::Write => {
                    self.writers.set(self.writers.get() | bit);
                    self.state.get() != 0
                }
                Access::Read => {
                    self.readers.set(self.readers.get() | bit);
                    self.state.get() == WRITE || self.queued.get()
                }
            };
            if blocked {
                (*r).enabled &= !bit;
            }
        }
    }

    /// Whether a writer waits behind a reader. That others wait at all, and whether others read, is seen only by readers
    /// who hold something.
    #[inline(always)]
    unsafe fn looks_for_writers(&self, r: *mut Rt) -> bool {
        // SAFETY: as `acquire`.
        unsafe {
            if (*r).track {
                let looks = (*r).held[(*r).cur & (MAX_THREADS - 1)] > 0;
                record::touched_queue(r, &self.header, if looks { OpKind::Store } else { OpKind::Load });
            }
        }
        // SAFETY: as `acquire`.
        self.state.get() != 0 && self.writers.get() != 0 && unsafe { (*r).settings.queues }
    }

    /// A reader that holds something meets a read lock that a writer waits for: does it pass, or does it queue?
    #[cold]
    unsafe fn queue_behind_writer(&self, r: *mut Rt, bit: u64) {
        // SAFETY: as `acquire`.
        unsafe {
            while self.state.get() != 0 && self.writers.get() != 0 && (*r).held[(*r).cur] > 0 && choose(r, 0b11) == 1 {
                self.queued.set(true);
                (*r).enabled &= !(self.readers.get() | bit);
                deadlock::check(r);
                go_on(r);
            }
        }
    }

    /// The announced acquisition runs: whoever announced one that is now impossible is disabled.
    #[inline(always)]
    unsafe fn take(&self, r: *mut Rt, access: Access, bit: u64, location: &'static Location<'static>) {
        // SAFETY: as `acquire`.
        unsafe {
            let me = (*r).cur & (MAX_THREADS - 1);
            match access {
                Access::Write => {
                    self.writers.set(self.writers.get() & !bit);
                    self.state.set(WRITE);
                    self.holders.set(bit);
                    (*r).enabled &= !(self.writers.get() | self.readers.get());
                }
                Access::Read => {
                    self.readers.set(self.readers.get() & !bit);
                    self.state.set(self.state.get() + 1);
                    if self.holders.get() & bit != 0 {
                        self.read_again(r, me, 1);
                    }
                    self.holders.set(self.holders.get() | bit);
                    (*r).enabled &= !self.writers.get();
                }
            }
            (*r).held[me] += 1;
            self.taken_at.set(Some(location));
        }
    }

    /// Counts the further read guards of a thread that has one already. Returns whether there was a further one.
    #[cold]
    unsafe fn read_again(&self, r: *mut Rt, slot: usize, change: i32) -> bool {
        // SAFETY: as `acquire`; nothing switches while the list is borrowed.
        let list = unsafe { &mut (*r).recursive };
        let key = self.header.address();
        if let Some(i) = list.iter().position(|&(lock, s, _)| lock == key && s == slot) {
            list[i].2 = list[i].2.saturating_add_signed(change);
            if list[i].2 == 0 {
                list.swap_remove(i);
            }
            return true;
        }
        if change > 0 {
            list.push((key, slot, 1));
        }
        false
    }

    /// Tries to take the lock without waiting.
    ///
    /// # Safety
    /// As [`Self::acquire`].
    pub(crate) unsafe fn try_acquire(
        &self,
        r: *mut Rt,
        access: Access,
        kind: OpKind,
        location: &'static Location<'static>,
        free: impl Fn() -> bool,
    ) -> bool {
        // SAFETY: as the caller.
        unsafe {
            if !self.header.known(&*r) {
                self.claim(r, free);
            }
            if !threads::quiet(r) {
                self.tried.set(true);
                (*r).observed_late |= self.released_silently.get();
                point(r, self.header.address(), kind, location);
            }
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            let free = match access {
                Access::Write => self.state.get() == 0,
                Access::Read => {
                    record::touched_queue(r, &self.header, OpKind::Store);
                    self.state.get() != WRITE
                        && !self.queued.get()
                        && (self.state.get() == 0
                            || self.writers.get() == 0
                            || !(*r).settings.queues
                            || choose(r, 0b11) == 0)
                }
            };
            if free {
                self.take(r, access, bit, location);
            }
            if (*r).track {
                record::executed(r, &self.header, kind, free, location);
            }
            free
        }
    }

    /// Releases the lock.
    ///
    /// # Safety
    /// As [`Self::acquire`]; the running thread holds the lock by `access`.
    #[inline(always)]
    pub(crate) unsafe fn release(
        &self,
        r: *mut Rt,
        access: Access,
        kind: OpKind,
        location: &'static Location<'static>,
    ) {
        // SAFETY: as the caller.
        unsafe {
            if self.tried.get() | (*r).every_operation {
                if !threads::quiet_in_drop(r) {
                    point(r, self.header.address(), kind, location);
                }
            } else {
                self.released_silently.set(true);
            }
            self.let_go(r, access);
            if (*r).track {
                if access == Access::Read {
                    record::touched_queue(r, &self.header, OpKind::Load);
                }
                record::executed(r, &self.header, kind, true, location);
            }
        }
    }

    /// The release itself: whoever wants the lock is enabled.
    #[inline(always)]
    pub(crate) unsafe fn let_go(&self, r: *mut Rt, access: Access) {
        // SAFETY: as `release`.
        unsafe {
            let me = (*r).cur & (MAX_THREADS - 1);
            (*r).held[me] = (*r).held[me].wrapping_sub(1);
            match access {
                Access::Write => self.state.set(0),
                Access::Read => {
                    self.state.set(self.state.get().wrapping_sub(1));
                    if self.state.get() != 0 {
                        if (*r).recursive.is_empty() || !self.read_again(r, me, -1) {
                            self.holders.set(self.holders.get() & !(1 << me));
                        }
                        return;
                    }
                    if !(*r).recursive.is_empty() {
                        self.read_again(r, me, -1);
                    }
                    self.queued.set(false);
                }
            }
            self.holders.set(0);
            (*r).enabled |= self.writers.get() | self.readers.get();
        }
    }

    /// Announces the running thread as a writer that waits, without a scheduling point (wake-up of a condition
    /// variable's waiter `bit`).
    pub(crate) unsafe fn want(&self, r: *mut Rt, bit: u64) {
        // SAFETY: as `acquire`.
        unsafe {
            self.writers.set(self.writers.get() | bit);
            if self.state.get() == 0 {
                (*r).enabled |= bit;
            }
        }
    }

    /// Takes a lock that was wanted by [`Self::want`], once chosen.
    pub(crate) unsafe fn take_wanted(&self, r: *mut Rt, location: &'static Location<'static>) {
        // SAFETY: as `acquire`.
        unsafe {
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            self.take(r, Access::Write, bit, location);
            if (*r).track {
                record::executed(r, &self.header, OpKind::Lock, true, location);
            }
        }
    }

    /// Taking a lock while unwinding: no scheduling point, but waiting if it must.
    #[cold]
    #[inline(never)]
    unsafe fn acquire_quietly(&self, r: *mut Rt, access: Access, kind: OpKind, location: &'static Location<'static>) {
        // SAFETY: as `acquire`.
        unsafe {
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            let possible = || match access {
                Access::Write => self.state.get() == 0,
                Access::Read => self.state.get() != WRITE,
            };
            while !possible() {
                if (*r).cancel {
                    teardown::wait_for_progress(r);
                } else {
                    self.announce(r, access, bit);
                    (*r).enabled &= !bit;
                    threads::block_while_unwinding(r, self.header.address(), kind, location);
                }
            }
            self.take(r, access, bit, location);
            if (*r).track {
                record::event(r, &self.header, kind, Phase::Executed, true, location);
            }
        }
    }

    /// The slots that hold the lock, as bits.
    pub(crate) fn holders(&self) -> u64 {
        self.holders.get()
    }

    /// Whether a writer is known to wait, so that readers queue behind it.
    pub(crate) fn bars_readers(&self) -> bool {
        self.queued.get()
    }

    pub(crate) fn taken_at(&self) -> Option<&'static Location<'static>> {
        self.taken_at.get()
    }
}
