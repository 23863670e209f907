//! `std::hint` under control.
#![forbid(unsafe_code)]

use std::panic::Location;

use crate::runtime::entry;

/// Says that the thread spins: inside a run a scheduling point that lets others run, as [`crate::thread::yield_now`].
#[track_caller]
pub fn spin_loop() {
    if !entry::yield_now(Location::caller()) {
        std::hint::spin_loop();
    }
}
