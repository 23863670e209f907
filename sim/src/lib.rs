//! Placeholder map; replaced with the runtime.
pub mod sync {
    //! std::sync
    pub use std::sync::*;
}
pub mod thread {
    //! std::thread
    pub use std::thread::*;
}
pub mod time {
    //! std::time
    pub use std::time::{Duration, Instant};
}
pub mod hint {
    //! std::hint
    pub use std::hint::spin_loop;
}
pub mod arc_swap {
    //! arc_swap
    pub use ::arc_swap::{ArcSwap, Guard};
}
/// Gives a sync object the name that reports and lock-order rules use. Does nothing outside a simulation.
pub fn name<T: ?Sized>(_object: &T, _name: &'static str) {}
#[cfg(feature = "simulation")]
pub mod monitor;
pub mod violation;
pub use violation::Violation;
