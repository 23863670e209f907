//! Choices from bytes, so that a coverage-guided fuzzer drives the schedule.
//!
//! One byte a choice: byte `b` with `n` options takes option `b mod n`, counted from the running thread upwards. Byte
//! zero therefore means "go on", and inputs of zeros or short inputs are schedules without preemptions; after the last
//! byte the run goes on without preemptions. Flipping one byte changes one decision.

use std::sync::Arc;

use super::{Point, Scheduler};

/// A scheduler that reads its decisions from bytes.
#[derive(Debug, Clone)]
pub struct Bytes {
    input: Arc<[u8]>,
    at: usize,
}

impl Bytes {
    /// A scheduler over `input`.
    #[must_use]
    pub fn new(input: Arc<[u8]>) -> Self {
        Self { input, at: 0 }
    }

    fn take(&mut self, options: u64, first: usize) -> usize {
        let byte = self.input.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        let n = options.count_ones();
        let rotated = options.rotate_right(first as u32);
        let mut rest = rotated;
        for _ in 0..u32::from(byte) % n {
            rest &= rest - 1;
        }
        (rest.trailing_zeros() as usize + first) % 64
    }
}

impl Scheduler for Bytes {
    fn next_thread(&mut self, point: &Point<'_>) -> usize {
        self.take(point.enabled, point.default)
    }

    fn choose(&mut self, options: u64) -> usize {
        self.take(options, options.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_goes_on_and_others_count_from_the_running_thread() {
        let point = Point { enabled: 0b1011, running: Some(1), default: 1, pending: &[], names: &[] };
        let mut bytes = Bytes::new(Arc::from([0u8, 1, 2, 3, 4]));
        let picks: Vec<usize> = (0..6).map(|_| bytes.next_thread(&point)).collect();
        assert_eq!(picks, [1, 3, 0, 1, 3, 1]);
    }
}
