//! Work that the workers of a search share.
//!
//! Each worker has work of its own. Who is out of it waits here, and those who have more than they are at give some. When all
//! wait, nobody has any and nobody can make any: the search is over.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What is given, and who waits for it.
pub(crate) struct SharedWork<T> {
    queue: Mutex<Queue<T>>,
    arrival: Condvar,
    /// Workers that wait for work.
    hungry: AtomicUsize,
    stop: AtomicBool,
    workers: usize,
}

struct Queue<T> {
    items: Vec<T>,
    waiting: usize,
}

impl<T> SharedWork<T> {
    /// `items` for so many workers.
    pub(crate) fn new(items: Vec<T>, workers: usize) -> Self {
        Self {
            queue: Mutex::new(Queue { items, waiting: 0 }),
            arrival: Condvar::new(),
            hungry: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            workers,
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something that was given; waits for it. `None` if there will be nothing, or everybody is to stop.
    pub(crate) fn take(&self) -> Option<T> {
        let mut queue = self.queue();
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(item) = queue.items.pop() {
                return Some(item);
            }
            queue.waiting += 1;
            if queue.waiting == self.workers {
                // Nobody has work and nobody can make any.
                self.arrival.notify_all();
                return None;
            }
            self.hungry.fetch_add(1, Ordering::Relaxed);
            queue = self.arrival.wait(queue).unwrap_or_else(PoisonError::into_inner);
            self.hungry.fetch_sub(1, Ordering::Relaxed);
            if queue.waiting == self.workers {
                return None;
            }
            queue.waiting -= 1;
        }
    }

    /// Whether somebody waits.
    pub(crate) fn is_wanted(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    /// Gives something to whoever waits.
    pub(crate) fn give(&self, item: T) {
        self.queue().items.push(item);
        self.arrival.notify_one();
    }

    /// Nobody goes on.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Whoever is about to wait has the lock, and whoever waits is woken.
        let _queue = self.queue();
        self.arrival.notify_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What nobody has taken.
    pub(crate) fn into_rest(self) -> Vec<T> {
        self.queue.into_inner().unwrap_or_else(PoisonError::into_inner).items
    }
}
