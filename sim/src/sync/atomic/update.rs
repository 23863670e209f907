//! Updates whose result nobody sees, under control.

use super::*;

macro_rules! update {
    ($trait:ident, $name:ident, $value:ty, {$(type Value = $same:ty;)?} $($method:ident $real:ident $kind:ident $given:expr, $change:expr;)*) => {
        impl $trait for $name {
            $(type Value = $same;)?

            $(
                #[track_caller]
                #[inline(always)]
                fn $method(&self, value: $value, order: Ordering) {
                    let location = Location::caller();
                    let Some(sim) = before(&self.header, OpKind::$kind, location) else {
                        self.real.$real(value, order);
                        return;
                    };
                    let given: $value = ($given)(value);
                    let change = |old: $value| -> $value { ($change)(old, given) };
                    if sim.is_watched() {
                        let op = self.operation(OpKind::$kind, order, Access::Rmw, given.into_word(), location);
                        self.perform_as(sim, &op, &mut |old| change(<$value>::from_word(old)).into_word());
                    } else {
                        self.real.store(change(self.real.load(Relaxed)), Relaxed);
                    }
                }
            )*
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty),*) => {
        $(update!(Update, $name, $value,
            { type Value = $value; }
            add fetch_add Add |given| given, <$value>::wrapping_add;
            // One kind with additions.
            sub fetch_sub Add <$value>::wrapping_neg, <$value>::wrapping_add;
            and fetch_and And |given| given, |old, given| old & given;
            or fetch_or Or |given| given, |old, given| old | given;
            xor fetch_xor Xor |given| given, |old, given| old ^ given;
            max fetch_max Max |given| given, Ord::max;
            min fetch_min Min |given| given, Ord::min;
        );)*
    };
}

integers!(AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize, AtomicU8 u8, AtomicU16 u16,
    AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
update!(UpdateBool, AtomicBool, bool, {}
    and fetch_and And |given| given, |old, given| old & given;
    or fetch_or Or |given| given, |old, given| old | given;
    xor fetch_xor Xor |given| given, |old, given| old ^ given;
);
