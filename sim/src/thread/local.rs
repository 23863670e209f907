//! `std::thread::LocalKey` under control: each controlled thread has its own value.

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::runtime::entry;
use crate::runtime::locals;
use crate::runtime::objects::per_run::Id;

/// A value of which each thread has its own, declared by [`thread_local!`](crate::thread_local); the interface of
/// [`std::thread::LocalKey`].
///
/// Inside a run a controlled thread's value is made at its first use in that thread and dropped when the thread ends, the
/// youngest first, before `join` returns. So no run sees a value of an earlier one. Using it is no scheduling point.
/// Outside runs it is std's.
pub struct LocalKey<T: 'static> {
    id: Id,
    init: fn() -> T,
    real: &'static std::thread::LocalKey<T>,
}

/// The value's destructor runs already, or has run.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("already destroyed")]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

#[cold]
#[track_caller]
fn destroyed() -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {AccessError:?}")
}

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local) only.
    #[doc(hidden)]
    pub const fn __new(init: fn() -> T, real: &'static std::thread::LocalKey<T>) -> Self {
        Self { id: Id::new(), init, real }
    }

    /// Calls `f` with the running thread's value, which is made if this is the first use.
    ///
    /// # Panics
    /// If the value's destructor runs already, or has run.
    #[track_caller]
    pub fn with<F: FnOnce(&T) -> R, R>(&'static self, f: F) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(AccessError) => destroyed(),
        }
    }

    /// As [`LocalKey::with`].
    ///
    /// # Errors
    /// If the value's destructor runs already, or has run.
    pub fn try_with<F: FnOnce(&T) -> R, R>(&'static self, f: F) -> Result<R, AccessError> {
        if entry::simulated() {
            locals::with(&self.id, self.init, |value| value.map(f).ok_or(AccessError))
        } else {
            self.real.try_with(f).map_err(|_| AccessError)
        }
    }

    /// Inside a run: puts `value` in place of what the key's initialiser would make, or gives both to `replace`.
    #[track_caller]
    fn put(&'static self, value: T, replace: impl FnOnce(&T, T)) {
        let value = Cell::new(Some(value));
        let make = || value.take().unwrap_or_else(self.init);
        let placed = locals::with(&self.id, make, |there| {
            if let (Some(there), Some(value)) = (there, value.take()) {
                replace(there, value);
            }
            there.is_some()
        });
        if !placed {
            destroyed();
        }
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Writes the value. If this is the first use, the key's initialiser is not called.
    ///
    /// # Panics
    /// As [`LocalKey::with`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if entry::simulated() {
            self.put(Cell::new(value), |there, value| there.set(value.into_inner()));
        } else {
            self.real.set(value);
        }
    }

    /// A copy of the value.
    ///
    /// # Panics
    /// As [`LocalKey::with`].
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value and leaves the default.
    ///
    /// # Panics
    /// As [`LocalKey::with`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Writes the value and returns the one before.
    ///
    /// # Panics
    /// As [`LocalKey::with`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|there| there.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the value.
    ///
    /// # Panics
    /// As [`LocalKey::with`], and if the value is borrowed for changes.
    #[track_caller]
    pub fn with_borrow<F: FnOnce(&T) -> R, R>(&'static self, f: F) -> R {
        self.with(|there| f(&there.borrow()))
    }

    /// Calls `f` with the value, for changes.
    ///
    /// # Panics
    /// As [`LocalKey::with`], and if the value is borrowed.
    #[track_caller]
    pub fn with_borrow_mut<F: FnOnce(&mut T) -> R, R>(&'static self, f: F) -> R {
        self.with(|there| f(&mut there.borrow_mut()))
    }

    /// Writes the value. If this is the first use, the key's initialiser is not called.
    ///
    /// # Panics
    /// As [`LocalKey::with`], and if the value is borrowed.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if entry::simulated() {
            self.put(RefCell::new(value), |there, value| {
                there.replace(value.into_inner());
            });
        } else {
            self.real.set(value);
        }
    }

    /// Takes the value and leaves the default.
    ///
    /// # Panics
    /// As [`LocalKey::with`], and if the value is borrowed.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Writes the value and returns the one before.
    ///
    /// # Panics
    /// As [`LocalKey::with`], and if the value is borrowed.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|there| there.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Declares values of which each thread has its own: `std::thread_local!`, controlled threads of a run included. See
/// [`LocalKey`](crate::thread::LocalKey).
///
/// ```
/// use std::cell::Cell;
///
/// interleaf::thread_local! {
///     /// How often this thread has asked.
///     pub static ASKED: Cell<u32> = const { Cell::new(0) };
///     static NAME: String = String::from("nobody");
/// }
///
/// ASKED.set(ASKED.get() + 1);
/// assert_eq!(NAME.with(String::len), 6);
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey::__new(|| const { $init }, {
            ::std::thread_local! { static __INTERLEAF_REAL: $type = const { $init } }
            &__INTERLEAF_REAL
        });
        $($crate::thread_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey::__new(|| $init, {
            ::std::thread_local! { static __INTERLEAF_REAL: $type = $init }
            &__INTERLEAF_REAL
        });
        $($crate::thread_local! { $($rest)* })?
    };
}
