//! Faults of the thread world that can be armed.

/// How many faults a run may contain. Each is a choice of the strategy at the places where it can happen, so an armed
/// fault that never fires is a choice never taken; [`crate::Report::fired`] counts those that did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Condition variables and `park` may wake without reason this many times. std allows it; code that waits without
    /// a loop breaks.
    pub spurious_wakeups: u32,
    /// `compare_exchange_weak` may fail without reason this many times. std allows it; code that takes a failure to
    /// mean a changed value breaks.
    pub weak_cas_failures: u32,
}
