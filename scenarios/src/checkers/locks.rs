//! The declared lock orders, as monitors.

use interleaf::monitor::Monitor;
use interleaf_engine::ledger::LOCK_LEVELS;
use interleaf_invariants::concurrency::lock_hierarchy::LockHierarchy;

pub use interleaf_invariants::concurrency::lock_hierarchy::NAME;

/// The locks of the block executor: one level, so a worker never holds two of them.
const SCHEDULE_LEVELS: &[&[&str]] = &[&["Schedule", "ResultSlot"]];

/// Watches the hierarchy of the ledger's locks (item U10).
#[must_use]
pub fn lock_hierarchy() -> Box<dyn Monitor> {
    Box::new(LockHierarchy::new(LOCK_LEVELS))
}

/// Watches that a worker holds the schedule or one result slot, never two at once.
#[must_use]
pub fn schedule_locks() -> Box<dyn Monitor> {
    Box::new(LockHierarchy::new(SCHEDULE_LEVELS))
}
