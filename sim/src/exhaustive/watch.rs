//! What can be seen of an exploration while it goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::estimate::Estimate;

/// Shows how far an exhaustive exploration has come: see [`crate::Explorer::watch`].
#[derive(Debug, Default)]
pub struct Watch {
    depth: AtomicU64,
    estimate: Mutex<Estimate>,
}

impl Watch {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of runs on the path of the search (of one worker).
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.depth.load(Ordering::Relaxed)
    }

    /// The estimated number of traces in all; no samples if none was asked for.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        *self.estimate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_depth(&self, depth: u64) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    pub(crate) fn set_estimate(&self, estimate: Estimate) {
        *self.estimate.lock().unwrap_or_else(PoisonError::into_inner) = estimate;
    }
}
