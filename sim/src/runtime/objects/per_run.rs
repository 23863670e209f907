//! State of which each run has its own, for objects that stand in statics.
//!
//! A program's statics are fresh when its process starts; here they must be fresh when a run starts. So what a static
//! `Once`, `OnceLock` or `LazyLock` is in a run stands in a table of that run, under a number that the object keeps for
//! life. Two simulations that explore at the same time each have their own state and do not meet, and ordinary threads
//! use std's.
//!
//! *What happens to the values.* An object that is dropped in its run takes its state along. What is left at the end of a
//! run belongs to objects that outlive it. That is kept in memory for ever and not dropped, as std does not drop statics;
//! it could not be freed soundly either, because `&'static OnceLock<T>` gives out `&'static T`.

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::rt::{Rt, current, try_current};

static IDS: AtomicU64 = AtomicU64::new(1);

/// A number that an object gets at its first use and keeps for life, unlike an address. It is a key for look-ups and has
/// no influence on a run.
pub(crate) struct Id(AtomicU64);

impl Id {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn get(&self) -> u64 {
        let id = self.given();
        if id != 0 {
            return id;
        }
        let new = IDS.fetch_add(1, Ordering::Relaxed);
        match self.0.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new,
            Err(other) => other,
        }
    }

    /// The number, or 0 if it has none yet.
    fn given(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One object's state in the present run: a leaked box.
pub(crate) struct Kept {
    state: NonNull<()>,
    free: Free,
}

/// Drops a leaked box and frees it.
pub(crate) type Free = unsafe fn(NonNull<()>);

unsafe fn free<S>(state: NonNull<()>) {
    // SAFETY: the caller hands over the box that `PerRun<S>` leaked.
    drop(unsafe { Box::from_raw(state.cast::<S>().as_ptr()) });
}

/// State `S` of which each run has its own.
pub(crate) struct PerRun<S> {
    inner: Untyped,
    /// It owns states, also as far as the drop check is concerned.
    state: PhantomData<S>,
}

// SAFETY: a state is reached only on the OS thread of its run, by controlled threads that may reach the object. Objects
// with a `PerRun` also have std's counterpart as a field, whose bounds on the value they share.
unsafe impl<S> Sync for PerRun<S> {}
// SAFETY: as for Sync.
unsafe impl<S> Send for PerRun<S> {}

/// What does not depend on `S`, so that dropping it asks nothing of `S` beyond what `PhantomData` asks.
struct Untyped {
    id: Id,
    created: &'static Location<'static>,
}

impl Untyped {
    /// The state's place in the run of `r`.
    fn find(&self, r: *mut Rt) -> Option<NonNull<()>> {
        let id = self.id.given();
        if r.is_null() || id == 0 {
            return None;
        }
        // SAFETY: `r` is this OS thread's runtime; the borrow ends here.
        unsafe { (*r).cells.get(&id).map(|kept| kept.state) }
    }

    fn remove(&mut self, r: *mut Rt) -> Option<Kept> {
        let id = self.id.given();
        if r.is_null() || id == 0 {
            return None;
        }
        // SAFETY: as in `find`.
        unsafe { (*r).cells.remove(&id) }
    }
}

impl Drop for Untyped {
    fn drop(&mut self) {
        if let Some(kept) = self.remove(try_current()) {
            // SAFETY: the entry was the only owner of the box and nobody borrows the object any more.
            unsafe { (kept.free)(kept.state) }
        }
    }
}

impl<S> PerRun<S> {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self { inner: Untyped { id: Id::new(), created: Location::caller() }, state: PhantomData }
    }

    /// The state in the present run, which `make` makes at the first use; `None` outside simulations.
    pub(crate) fn state(&self, make: impl FnOnce(&'static Location<'static>) -> S) -> Option<&S> {
        let r = current();
        if r.is_null() {
            return None;
        }
        let state = match self.inner.find(r) {
            Some(state) => state,
            None => {
                let state = NonNull::from(Box::leak(Box::new(make(self.inner.created)))).cast();
                // SAFETY: `r` is this OS thread's runtime; the borrow ends here.
                unsafe { (*r).cells.insert(self.inner.id.get(), Kept { state, free: free::<S> }) };
                state
            }
        };
        // SAFETY: an id belongs to one object, so the box holds an `S`. It is freed only by who has the object for
        // itself; at the end of the run it is only forgotten.
        Some(unsafe { state.cast::<S>().as_ref() })
    }

    /// The state in the present run, if there is one.
    pub(crate) fn state_mut(&mut self) -> Option<&mut S> {
        // SAFETY: as in `state`; nobody else has the object.
        self.inner.find(current()).map(|state| unsafe { state.cast::<S>().as_mut() })
    }

    /// Takes the state out of the present run, if there is one.
    pub(crate) fn take(&mut self) -> Option<S> {
        // SAFETY: as in `state`; the entry was the only owner of the box.
        self.inner.remove(current()).map(|kept| unsafe { *Box::from_raw(kept.state.cast::<S>().as_ptr()) })
    }
}

/// An initialiser that can be had once, or any number of times if it is a function pointer, as those of statics are.
pub(crate) struct Initialiser<F>(Mutex<Option<F>>);

impl<F> Initialiser<F> {
    pub(crate) const fn new(f: F) -> Self {
        Self(Mutex::new(Some(f)))
    }

    /// The initialiser, if it is still there.
    pub(crate) fn take<T>(&self) -> Option<F>
    where
        F: FnOnce() -> T,
    {
        let mut f = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is::<F, fn() -> T>() {
            // SAFETY: function pointers are `Copy`, whatever lifetimes they mention.
            return f.as_ref().map(|f| unsafe { std::ptr::read(f) });
        }
        f.take()
    }
}

/// Whether two types are the same but for lifetimes. `TypeId` is asked through a trait object, as it wants `'static`.
fn is<A, B>() -> bool {
    trait Asked {
        fn id(&self) -> std::any::TypeId
        where
            Self: 'static;
    }
    impl<T> Asked for PhantomData<T> {
        fn id(&self) -> std::any::TypeId
        where
            Self: 'static,
        {
            std::any::TypeId::of::<T>()
        }
    }
    fn id<T>() -> std::any::TypeId {
        let asked: &dyn Asked = &PhantomData::<T>;
        // SAFETY: only the lifetime in the type changes. The one method reads no value; types that differ only in
        // lifetimes have one `TypeId`.
        unsafe { std::mem::transmute::<&dyn Asked, &(dyn Asked + 'static)>(asked).id() }
    }
    id::<A>() == id::<B>()
}
