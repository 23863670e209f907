//! Read-modify-writes that give nothing back.
//!
//! `fetch_add` returns the value that it found. Who does not look at it loses nothing in production, but in an
//! exploration two additions by two threads are two interleavings, since each *could* see whether it was first. These
//! operations say that nobody looks (C++26 has them as `store_add` and so on, P3111). Two of the same kind on the same
//! atomic commute, so that `n` threads that add are explored in one run and not in `n!`. In production they are std's
//! operations.

use std::sync::atomic::{self, Ordering};

macro_rules! methods {
    ($value:ty: $($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[track_caller]
            fn $name(&self, value: $value, order: Ordering);
        )*
    };
}

/// Updates of an integer atomic whose result nobody sees. Two of the same kind commute; addition and subtraction are of
/// one kind.
///
/// ```
/// use interleaf::sync::atomic::{AtomicU64, Ordering, Update};
///
/// let accepted = AtomicU64::new(0);
/// accepted.add(1, Ordering::Relaxed);
/// assert_eq!(accepted.load(Ordering::Relaxed), 1);
/// ```
pub trait Update {
    /// The type of the value.
    type Value;

    methods! { Self::Value:
        /// Adds, wrapping: `fetch_add` without its result.
        add;
        /// Subtracts, wrapping: `fetch_sub` without its result.
        sub;
        /// Bitwise and: `fetch_and` without its result.
        and;
        /// Bitwise or: `fetch_or` without its result.
        or;
        /// Bitwise exclusive or: `fetch_xor` without its result.
        xor;
        /// Maximum: `fetch_max` without its result.
        max;
        /// Minimum: `fetch_min` without its result.
        min;
    }
}

/// Updates of an `AtomicBool` whose result nobody sees. Two of the same kind commute.
///
/// ```
/// use interleaf::sync::atomic::{AtomicBool, Ordering, UpdateBool};
///
/// let dirty = AtomicBool::new(false);
/// dirty.or(true, Ordering::Relaxed);
/// assert!(dirty.load(Ordering::Relaxed));
/// ```
pub trait UpdateBool {
    methods! { bool:
        /// And: `fetch_and` without its result.
        and;
        /// Or: `fetch_or` without its result.
        or;
        /// Exclusive or: `fetch_xor` without its result.
        xor;
    }
}

macro_rules! real {
    ($trait:ident $name:ident $value:ty, {$(type Value = $same:ty;)?} $($method:ident $real:ident),*) => {
        impl $trait for atomic::$name {
            $(type Value = $same;)?

            $(
                #[inline(always)]
                fn $method(&self, value: $value, order: Ordering) {
                    self.$real(value, order);
                }
            )*
        }
    };
}

macro_rules! real_integers {
    ($($name:ident $value:ident),*) => {
        $(real!(Update $name $value, { type Value = $value; }
            add fetch_add, sub fetch_sub, and fetch_and, or fetch_or, xor fetch_xor, max fetch_max, min fetch_min);)*
    };
}

real_integers!(AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);
real_integers!(AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
real!(UpdateBool AtomicBool bool, {} and fetch_and, or fetch_or, xor fetch_xor);
