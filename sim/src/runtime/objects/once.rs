//! The model of one-time initialisation: `Once`, `OnceLock`, `LazyLock`.
//!
//! *Two points.* The begin of an initialisation is a scheduling point, and so is its end: others may look at the cell
//! while its initialiser runs, and must be able to do so between the initialiser's last operation and the end. Only when
//! it ends by a panic nobody can tell the difference, as the cell is not initialised before or after.
//!
//! *No point at all* once the cell is initialised, which it stays: looking at it gives the same whenever it happens.
//!
//! *Who waits.* A thread that wants to initialise announces so and is disabled while another does; whoever begins
//! disables the others that have announced it, and enables them when it has ended.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location;

use crate::monitor::OpKind;

use super::super::point::point;
use super::super::rt::{MAX_THREADS, Pending, Rt, current};
use super::super::{deadlock, record, threads};
use super::header::Header;
use super::waiting::block_quietly;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Empty,
    Poisoned,
    Running,
    Complete,
}

/// The header comes first, so that an announced operation's address is the cell's.
#[repr(C)]
pub(crate) struct OnceCore {
    pub(crate) header: Header,
    state: Cell<State>,
    /// Who runs the initialiser, as a bit; 0 if nobody does.
    by: Cell<u64>,
    since: Cell<Option<&'static Location<'static>>>,
    /// Threads that have announced to initialise.
    callers: Cell<u64>,
    /// Threads that wait for the end of an initialisation: also by a panic / only by success.
    watchers: Cell<u64>,
    patient: Cell<u64>,
}

/// What a thread that wants a cell to be initialised has to do.
pub(crate) enum Begin<'a> {
    /// Nothing: it is.
    Done,
    /// An initialiser panicked, and that is not to be overlooked.
    Poisoned,
    /// Run the initialiser.
    Run(Initialising<'a>),
}

/// The right to initialise a cell. Dropped without [`Initialising::complete`] it poisons the cell.
pub(crate) struct Initialising<'a> {
    core: &'a OnceCore,
    location: &'static Location<'static>,
    /// An earlier initialiser panicked.
    pub(crate) poisoned: bool,
}

// SAFETY (for the whole file): a core is state of one run (see `per_run`) and reached only while that run goes on, on its
// OS thread; so `current` gives its runtime. No reference into that is held across a switch.

impl OnceCore {
    pub(crate) const fn new(created: &'static Location<'static>) -> Self {
        Self {
            header: Header::made_at(created),
            state: Cell::new(State::Empty),
            by: Cell::new(0),
            since: Cell::new(None),
            callers: Cell::new(0),
            watchers: Cell::new(0),
            patient: Cell::new(0),
        }
    }

    /// The thread that runs the initialiser, as a bit.
    pub(crate) fn initialiser(&self) -> u64 {
        self.by.get()
    }

    pub(crate) fn begun_at(&self) -> Option<&'static Location<'static>> {
        self.since.get()
    }

    fn complete(&self) -> bool {
        self.state.get() == State::Complete
    }

    /// The state has changed: enables the announced threads that can go on now, and no other.
    unsafe fn changed(&self, r: *mut Rt) {
        let state = self.state.get();
        let sets = [
            (&self.callers, state != State::Running),
            (&self.watchers, matches!(state, State::Complete | State::Poisoned)),
            (&self.patient, state == State::Complete),
        ];
        for (set, possible) in sets {
            // SAFETY: see above.
            unsafe {
                if possible {
                    (*r).enabled |= set.get();
                } else {
                    (*r).enabled &= !set.get();
                }
            }
        }
    }

    /// Announces an operation that is possible when `possible` says so, waits for its turn, and for it to be possible.
    unsafe fn await_turn(
        &self,
        r: *mut Rt,
        set: &Cell<u64>,
        kind: OpKind,
        location: &'static Location<'static>,
        possible: impl Fn(State) -> bool,
    ) {
        // SAFETY: see above.
        unsafe {
            let me = (*r).cur & (MAX_THREADS - 1);
            let bit = 1u64 << me;
            if threads::quiet(r) {
                while !possible(self.state.get()) {
                    set.set(set.get() | bit);
                    block_quietly(r, self.header.address(), kind, location);
                }
            } else {
                set.set(set.get() | bit);
                if !possible(self.state.get()) {
                    (*r).enabled &= !bit;
                    if self.by.get() & !(*r).enabled != 0 {
                        (*r).pending[me] = Pending { at: self.header.address(), location, kind };
                        deadlock::check(r);
                    }
                }
                point(r, self.header.address(), kind, location);
            }
            set.set(set.get() & !bit);
        }
    }

    unsafe fn note(&self, r: *mut Rt, kind: OpKind, success: bool, location: &'static Location<'static>) {
        // SAFETY: see above.
        unsafe {
            if (*r).track {
                record::executed(r, &self.header, kind, success, location);
            }
        }
    }

    /// Whether the cell is initialised.
    pub(crate) fn is_complete(&self, location: &'static Location<'static>) -> bool {
        let r = current();
        // SAFETY: see above.
        unsafe {
            if !self.complete() && !threads::quiet(r) {
                point(r, self.header.address(), OpKind::InitRead, location);
            }
            self.note(r, OpKind::InitRead, true, location);
        }
        self.complete()
    }

    /// Makes sure that the cell is initialised, waits for another thread that does it, or says what is to be done.
    pub(crate) fn begin(&self, overlook_poison: bool, location: &'static Location<'static>) -> Begin<'_> {
        let r = current();
        // SAFETY: see above.
        unsafe {
            if !self.complete() {
                self.await_turn(r, &self.callers, OpKind::Init, location, |state| state != State::Running);
            }
            let poisoned = self.state.get() == State::Poisoned;
            if self.complete() || poisoned && !overlook_poison {
                self.note(r, OpKind::InitRead, true, location);
                return if poisoned { Begin::Poisoned } else { Begin::Done };
            }
            self.state.set(State::Running);
            self.by.set(1 << ((*r).cur & (MAX_THREADS - 1)));
            self.since.set(Some(location));
            self.changed(r);
            self.note(r, OpKind::Init, true, location);
            Begin::Run(Initialising { core: self, location, poisoned })
        }
    }

    /// Waits until the cell is initialised. False if an initialiser panicked and that is not to be overlooked.
    pub(crate) fn wait(&self, overlook_poison: bool, location: &'static Location<'static>) -> bool {
        let r = current();
        let (set, possible): (_, fn(State) -> bool) = if overlook_poison {
            (&self.patient, |state| state == State::Complete)
        } else {
            (&self.watchers, |state| matches!(state, State::Complete | State::Poisoned))
        };
        // SAFETY: see above.
        unsafe {
            if !self.complete() {
                self.await_turn(r, set, OpKind::InitWait, location, possible);
            }
            self.note(r, OpKind::InitWait, self.complete(), location);
        }
        self.complete()
    }
}

impl Initialising<'_> {
    /// The initialiser has done its work: a scheduling point, then `publish` and the end in one step.
    pub(crate) fn complete(self, publish: impl FnOnce()) {
        let r = current();
        // SAFETY: see above. If the point unwinds, the cell is left as by a panicking initialiser.
        unsafe {
            if !threads::quiet(r) {
                point(r, self.core.header.address(), OpKind::InitEnd, self.location);
            }
        }
        self.complete_at_once(publish);
    }

    /// As [`Self::complete`] without a scheduling point, if no operation has happened since the begin.
    pub(crate) fn complete_at_once(self, publish: impl FnOnce()) {
        publish();
        self.end(State::Complete);
        std::mem::forget(self);
    }

    fn end(&self, state: State) {
        let r = current();
        let core = self.core;
        core.state.set(state);
        core.by.set(0);
        core.since.set(None);
        // SAFETY: see above.
        unsafe {
            core.changed(r);
            core.note(r, OpKind::InitEnd, state == State::Complete, self.location);
        }
    }
}

impl Drop for Initialising<'_> {
    fn drop(&mut self) {
        // SAFETY: see above; null only if the thread outlives its run, which no thread does.
        let over = unsafe { (*current()).cancel };
        // A thread that is unwound because the run is over says nothing about its initialiser.
        self.end(if over { State::Empty } else { State::Poisoned });
    }
}

/// A cell of one run that is written once.
pub(crate) struct Slot<T> {
    pub(crate) core: OnceCore,
    value: UnsafeCell<Option<T>>,
}

impl<T> Slot<T> {
    pub(crate) const fn new(created: &'static Location<'static>) -> Self {
        Self { core: OnceCore::new(created), value: UnsafeCell::new(None) }
    }

    fn value(&self) -> Option<&T> {
        // SAFETY: the value is written only before the cell is complete, and borrowed only after. What takes it away has
        // exclusive access to the cell.
        if self.core.complete() { unsafe { (*self.value.get()).as_ref() } } else { None }
    }

    /// The value, if the cell is initialised.
    pub(crate) fn get(&self, location: &'static Location<'static>) -> Option<&T> {
        if self.core.is_complete(location) { self.value() } else { None }
    }

    /// The value; `make` makes it if nobody has. `None` if an initialiser panicked and that is not to be overlooked.
    pub(crate) fn get_or_init(
        &self,
        overlook_poison: bool,
        location: &'static Location<'static>,
        make: impl FnOnce() -> T,
    ) -> Option<&T> {
        match self.core.begin(overlook_poison, location) {
            Begin::Done => {}
            Begin::Poisoned => return None,
            Begin::Run(initialising) => {
                let value = make();
                initialising.complete(|| self.put(value));
            }
        }
        self.value()
    }

    /// Writes the value if nobody has, or gives it back.
    pub(crate) fn set(&self, value: T, location: &'static Location<'static>) -> Result<(), T> {
        match self.core.begin(true, location) {
            Begin::Run(initialising) => {
                initialising.complete_at_once(|| self.put(value));
                Ok(())
            }
            _ => Err(value),
        }
    }

    fn put(&self, value: T) {
        // SAFETY: the running thread initialises the cell, so nobody has borrowed the value. There is none to drop.
        unsafe { std::ptr::write(self.value.get(), Some(value)) }
    }

    /// Waits for the value.
    pub(crate) fn wait(&self, location: &'static Location<'static>) -> Option<&T> {
        self.core.wait(true, location);
        self.value()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        if self.core.complete() { self.value.get_mut().as_mut() } else { None }
    }

    pub(crate) fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Whether an initialiser panicked.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.core.state.get() == State::Poisoned
    }
}
