//! Vector clocks: how much of each thread comes before.

/// For each thread, by its number in the run, how many of its positions are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn get(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    /// Includes the first `count` positions of `thread`.
    pub(crate) fn raise(&mut self, thread: u32, count: u32) {
        let at = thread as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = self.0[at].max(count);
    }

    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether position `position` of `thread` is included.
    pub(crate) fn includes(&self, thread: u32, position: u32) -> bool {
        self.get(thread) > position
    }
}
