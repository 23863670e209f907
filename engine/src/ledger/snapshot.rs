//! Lock-free reads, one path for writes (item U11).

use interleaf::arc_swap::{ArcSwap, Guard};
use interleaf::sync::{Arc, Mutex};

use super::lock_order::POISONED;

/// A value that readers take as an immediate snapshot, without a lock and without waiting; a writer replaces it as a
/// whole while it holds the mutex.
#[derive(Debug)]
pub(super) struct Snapshot<T> {
    published: ArcSwap<T>,
    /// What is published. Writers start from it, so they need not read the cell.
    latest: Mutex<Arc<T>>,
}

impl<T> Snapshot<T> {
    /// `lock_name` names the writers' mutex, `cell_name` the cell that readers load.
    pub(super) fn new(value: T, lock_name: &'static str, cell_name: &'static str) -> Self {
        let value = Arc::new(value);
        let snapshot = Self { published: ArcSwap::new(Arc::clone(&value)), latest: Mutex::new(value) };
        interleaf::name(&snapshot.latest, lock_name);
        interleaf::name(&snapshot.published, cell_name);
        snapshot
    }

    /// The current value.
    pub(super) fn load(&self) -> Arc<T> {
        self.published.load_full()
    }

    /// The current value, to look at for a moment: no count of references is touched, so readers on several processors do
    /// not take a cache line from each other.
    pub(super) fn peek(&self) -> Guard<Arc<T>> {
        self.published.load()
    }

    /// Replaces the value by what `next` makes of it; `None` leaves it. Returns what is current then.
    pub(super) fn replace(&self, next: impl FnOnce(&T) -> Option<T>) -> Arc<T> {
        let mut latest = self.latest.lock().expect(POISONED);
        if let Some(value) = next(&latest) {
            *latest = Arc::new(value);
            self.published.store(Arc::clone(&latest));
        }
        Arc::clone(&latest)
    }
}
