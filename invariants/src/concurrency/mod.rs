//! Rules of locking, over the operations of a run.
//!
//! * [`lock_hierarchy`]: locks are taken in their declared order

pub mod lock_hierarchy;
