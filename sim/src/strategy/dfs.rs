//! Depth-first search over all schedules, with an optional bound on preemptions.
//!
//! The running thread is tried first, so the first schedule has no preemption and failures with few preemptions come
//! early. A switch away from a thread that could go on counts as a preemption; a switch at a blocked or ended thread
//! is free (CHESS, PLDI 2007). Forced steps are not stored.

use super::Point;

/// One decision on the path from the root to the present leaf.
struct Frame {
    /// Options not tried yet.
    untried: u64,
    chosen: u8,
    /// The running thread, if it could have gone on.
    stay: Option<u8>,
    /// Preemptions on the path before this decision.
    preemptions: u32,
}

impl Frame {
    fn preempts(&self) -> bool {
        self.stay.is_some_and(|s| s != self.chosen)
    }
}

/// The state of the search, kept between executions.
pub struct Dfs {
    path: Vec<Frame>,
    depth: usize,
    bound: u32,
}

impl Dfs {
    /// A search over schedules with at most `bound` preemptions.
    #[must_use]
    pub fn new(bound: Option<u32>) -> Self {
        Self { path: Vec::new(), depth: 0, bound: bound.unwrap_or(u32::MAX) }
    }

    /// The slot that goes on at a scheduling point with more than one option.
    pub fn next_thread(&mut self, point: &Point<'_>) -> usize {
        self.decide(point.enabled, point.default as u8, point.running.map(|s| s as u8))
    }

    /// A choice of a value.
    pub fn choose(&mut self, options: u64) -> usize {
        self.decide(options, options.trailing_zeros() as u8, None)
    }

    fn decide(&mut self, options: u64, first: u8, stay: Option<u8>) -> usize {
        let depth = self.depth;
        self.depth += 1;
        if let Some(frame) = self.path.get(depth) {
            return usize::from(frame.chosen);
        }
        let preemptions = self.path.last().map_or(0, |f| f.preemptions + u32::from(f.preempts()));
        let untried = if stay.is_some() && preemptions >= self.bound { 0 } else { options & !(1 << first) };
        self.path.push(Frame { untried, chosen: first, stay, preemptions });
        usize::from(first)
    }

    /// Moves on to the next schedule. False when all have been run.
    pub fn advance(&mut self) -> bool {
        self.depth = 0;
        while let Some(frame) = self.path.last_mut() {
            if frame.untried != 0 {
                frame.chosen = frame.untried.trailing_zeros() as u8;
                frame.untried &= frame.untried - 1;
                return true;
            }
            self.path.pop();
        }
        false
    }
}
