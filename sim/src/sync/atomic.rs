//! `std::sync::atomic` under control.
//!
//! Inside a run every operation is a scheduling point. What a load may read is a matter of the run's
//! [memory model](crate::MemoryModel): under sequential consistency orderings have no effect. An atomic that is used inside a run belongs to that run; operations of real threads on it at the
//! same time may be lost (they are never undefined).
#![forbid(unsafe_code)]

mod update;

use std::fmt;
use std::panic::{Location, RefUnwindSafe};
pub use std::sync::atomic::Ordering;
use std::sync::atomic::Ordering::Relaxed;

use crate::exhaustive::shape::Shape;
use crate::memory::state::Access;
use crate::monitor::OpKind;
use crate::runtime::objects::atomic::{self, Done, Operation, Simulated, before};
use crate::runtime::objects::header::Header;

/// A memory fence. Under sequential consistency it orders nothing that is not ordered already, so it is no scheduling
/// point.
///
/// # Panics
/// If `order` is [`Ordering::Relaxed`], as std's.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Relaxed, "there is no such thing as a relaxed fence");
    if !atomic::fence(order, Location::caller()) {
        std::sync::atomic::fence(order);
    }
}

pub use crate::update::{Update, UpdateBool};

/// A fence for the compiler only; std's.
pub use std::sync::atomic::compiler_fence;

/// A value as the memory model keeps it. Different values have different words.
trait Word: Copy {
    fn into_word(self) -> u64;
    /// The value of a word that was made by `into_word`.
    fn from_word(word: u64) -> Self;
    const SHAPE: Shape;
}

macro_rules! integer_words {
    ($($value:ty)*) => {
        $(
            impl Word for $value {
                #[inline(always)]
                fn into_word(self) -> u64 {
                    self as u64
                }
                #[inline(always)]
                fn from_word(word: u64) -> Self {
                    word as Self
                }
                const SHAPE: Shape = Shape::new(<$value>::BITS, <$value>::MIN != 0);
            }
        )*
    };
}

integer_words!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl Word for bool {
    fn into_word(self) -> u64 {
        u64::from(self)
    }
    fn from_word(word: u64) -> Self {
        word != 0
    }
    const SHAPE: Shape = Shape::new(8, false);
}

impl<T> Word for *mut T {
    fn into_word(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
    const SHAPE: Shape = Shape::new(usize::BITS, false);
}

macro_rules! common {
    ($name:ident, $value:ty $(, $generic:ident)?) => {
        impl$(<$generic>)? $name$(<$generic>)? {
            /// A new atomic.
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                Self { header: Header::new(), real: std::sync::atomic::$name::new(value) }
            }

            /// The value, without an operation, as nobody else can have it.
            pub fn get_mut(&mut self) -> &mut $value {
                self.real.get_mut()
            }

            /// The value.
            pub fn into_inner(self) -> $value {
                self.real.into_inner()
            }

            /// Reads the value.
            #[track_caller]
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                let location = Location::caller();
                let Some(sim) = before(&self.header, OpKind::Load, location) else { return self.real.load(order) };
                if sim.is_watched() {
                    let done = self.perform(sim, OpKind::Load, order, Access::Load, location, &mut |old| old);
                    return <$value>::from_word(done.found);
                }
                self.real.load(Relaxed)
            }

            /// Writes the value.
            #[track_caller]
            #[inline(always)]
            pub fn store(&self, value: $value, order: Ordering) {
                let location = Location::caller();
                let Some(sim) = before(&self.header, OpKind::Store, location) else {
                    return self.real.store(value, order);
                };
                if sim.is_watched() {
                    let access = Access::Store { value: value.into_word() };
                    self.perform(sim, OpKind::Store, order, access, location, &mut |old| old);
                } else {
                    self.real.store(value, Relaxed);
                }
            }

            /// Writes the value and returns the previous one.
            #[track_caller]
            #[inline(always)]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                let location = Location::caller();
                match before(&self.header, OpKind::Rmw, location) {
                    Some(sim) => self.simulate(sim, order, location, |_| value),
                    None => self.real.swap(value, order),
                }
            }

            /// Writes `new` if the value is `current`. Returns the previous value.
            ///
            /// # Errors
            /// The value found, if it was another.
            #[track_caller]
            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let location = Location::caller();
                match before(&self.header, OpKind::Cas, location) {
                    Some(sim) => self.simulate_cas(sim, location, (current, new), (success, failure), false),
                    None => self.real.compare_exchange(current, new, success, failure),
                }
            }

            /// As [`Self::compare_exchange`], but it may fail without reason (an armed fault inside a run).
            ///
            /// # Errors
            /// The value found, which may be `current`.
            #[track_caller]
            #[inline(always)]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let location = Location::caller();
                match before(&self.header, OpKind::Cas, location) {
                    Some(sim) => self.simulate_cas(sim, location, (current, new), (success, failure), true),
                    None => self.real.compare_exchange_weak(current, new, success, failure),
                }
            }

            /// Replaces the value by `f` of it, as often as it takes.
            ///
            /// # Errors
            /// The value for which `f` gave `None`.
            #[track_caller]
            pub fn fetch_update<F: FnMut($value) -> Option<$value>>(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut f: F,
            ) -> Result<$value, $value> {
                let mut previous = self.load(fetch);
                while let Some(next) = f(previous) {
                    match self.compare_exchange_weak(previous, next, set, fetch) {
                        Ok(value) => return Ok(value),
                        Err(now) => previous = now,
                    }
                }
                Err(previous)
            }

            #[inline(always)]
            fn simulate(
                &self,
                sim: Simulated,
                order: Ordering,
                location: &'static Location<'static>,
                f: impl Fn($value) -> $value,
            ) -> $value {
                if sim.is_watched() {
                    let mut change = |old| f(<$value>::from_word(old)).into_word();
                    let done = self.perform(sim, OpKind::Rmw, order, Access::Rmw, location, &mut change);
                    return <$value>::from_word(done.found);
                }
                // One controlled thread runs at a time, so load and store need no lock prefix.
                let previous = self.real.load(Relaxed);
                self.real.store(f(previous), Relaxed);
                previous
            }

            #[inline(always)]
            fn simulate_cas(
                &self,
                sim: Simulated,
                location: &'static Location<'static>,
                (current, new): ($value, $value),
                (success, failure): (Ordering, Ordering),
                weak: bool,
            ) -> Result<$value, $value> {
                if sim.is_watched() {
                    let expected = current.into_word();
                    let (order, access) = if weak && sim.weak_failure(self.real.load(Relaxed) == current) {
                        (failure, Access::Load)
                    } else {
                        (success, Access::Cas { expected, new: new.into_word(), failure })
                    };
                    let op = self.operation(OpKind::Cas, order, access, expected, location);
                    let done = self.perform_as(sim, &op, &mut |old| old);
                    let found = <$value>::from_word(done.found);
                    return if done.wrote { Ok(found) } else { Err(found) };
                }
                let previous = self.real.load(Relaxed);
                let fails = weak && sim.weak_failure(previous == current);
                let success = previous == current && !fails;
                if success {
                    self.real.store(new, Relaxed);
                }
                if success { Ok(previous) } else { Err(previous) }
            }

            /// The operation where somebody looks at it, or the memory model is weak.
            #[inline(never)]
            fn perform(
                &self,
                sim: Simulated,
                kind: OpKind,
                order: Ordering,
                access: Access,
                location: &'static Location<'static>,
                change: &mut dyn FnMut(u64) -> u64,
            ) -> Done {
                let op = self.operation(kind, order, access, 0, location);
                self.perform_as(sim, &op, change)
            }

            fn operation(
                &self,
                kind: OpKind,
                order: Ordering,
                access: Access,
                expected: u64,
                location: &'static Location<'static>,
            ) -> Operation<'_> {
                Operation { header: &self.header, kind, order, access, expected, shape: <$value>::SHAPE, location }
            }

            #[inline(never)]
            fn perform_as(&self, sim: Simulated, op: &Operation<'_>, change: &mut dyn FnMut(u64) -> u64) -> Done {
                let done = sim.perform(op, self.real.load(Relaxed).into_word(), change);
                if op.kind != OpKind::Load {
                    self.real.store(<$value>::from_word(done.last), Relaxed);
                }
                done
            }

            pub(crate) fn header(&self) -> &Header {
                &self.header
            }
        }

        impl$(<$generic>)? RefUnwindSafe for $name$(<$generic>)? {}

        impl$(<$generic>)? fmt::Debug for $name$(<$generic>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Not an operation of the program under test.
                fmt::Debug::fmt(&self.real.load(Relaxed), f)
            }
        }

        impl$(<$generic>)? From<$value> for $name$(<$generic>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! rmw {
    ($name:ident, $value:ty, $(#[$doc:meta] $method:ident = $f:expr;)*) => {
        impl $name {
            $(
                #[$doc]
                #[track_caller]
                #[inline(always)]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    let location = Location::caller();
                    match before(&self.header, OpKind::Rmw, location) {
                        Some(sim) => {
                            let f: fn($value, $value) -> $value = $f;
                            self.simulate(sim, order, location, |old| f(old, value))
                        }
                        None => self.real.$method(value, order),
                    }
                }
            )*
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ty) => {
        /// The std integer atomic of the same name, under control.
        #[derive(Default)]
        pub struct $name {
            header: Header,
            real: std::sync::atomic::$name,
        }
        common!($name, $value);
        rmw!($name, $value,
            #[doc = "Adds, wrapping; returns the previous value."] fetch_add = |a, b| a.wrapping_add(b);
            #[doc = "Subtracts, wrapping; returns the previous value."] fetch_sub = |a, b| a.wrapping_sub(b);
            #[doc = "Bitwise and; returns the previous value."] fetch_and = |a, b| a & b;
            #[doc = "Bitwise nand; returns the previous value."] fetch_nand = |a, b| !(a & b);
            #[doc = "Bitwise or; returns the previous value."] fetch_or = |a, b| a | b;
            #[doc = "Bitwise exclusive or; returns the previous value."] fetch_xor = |a, b| a ^ b;
            #[doc = "Maximum; returns the previous value."] fetch_max = |a, b| a.max(b);
            #[doc = "Minimum; returns the previous value."] fetch_min = |a, b| a.min(b);
        );
    };
}

integer!(AtomicI8, i8);
integer!(AtomicI16, i16);
integer!(AtomicI32, i32);
integer!(AtomicI64, i64);
integer!(AtomicIsize, isize);
integer!(AtomicU8, u8);
integer!(AtomicU16, u16);
integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);

/// The std atomic of the same name, under control.
#[derive(Default)]
pub struct AtomicBool {
    header: Header,
    real: std::sync::atomic::AtomicBool,
}
common!(AtomicBool, bool);
rmw!(AtomicBool, bool,
    #[doc = "And; returns the previous value."] fetch_and = |a, b| a & b;
    #[doc = "Nand; returns the previous value."] fetch_nand = |a, b| !(a & b);
    #[doc = "Or; returns the previous value."] fetch_or = |a, b| a | b;
    #[doc = "Exclusive or; returns the previous value."] fetch_xor = |a, b| a ^ b;
);

/// The std atomic of the same name, under control.
pub struct AtomicPtr<T> {
    header: Header,
    real: std::sync::atomic::AtomicPtr<T>,
}
common!(AtomicPtr, *mut T, T);

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
