//! Partial order sampling (Yuan, Yang and Gu, CAV 2018).
//!
//! Every pending operation has a random priority; the thread whose operation has the highest goes on. After an operation
//! its thread draws a priority for the next one, and so do all threads whose pending operations conflict with it: who
//! is overtaken gets a fresh chance, and operations that do not conflict keep their order, so the samples are spread
//! over partial orders rather than over interleavings.
//!
//! What conflicts is said in [`effect`](crate::runtime::effect). Two additions keep loops that wait for others from
//! running for ever, which the paper's programs do not have: a yield or a sleep conflicts with everything, and every
//! [`PATIENCE`] steps all draw anew.

use rand_core::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::runtime::effect::{Effect, conflict, effect};
use crate::runtime::rt::{MAX_THREADS, Pending, bits};

/// Steps after which all draw anew. A thread that spins without a hint on something that nobody has pending would
/// otherwise starve a low priority until it draws a lower one itself: one time in a million it takes a million steps.
const PATIENCE: u32 = 1 << 10;

/// The priorities of one run.
pub(crate) struct Pos {
    priority: [u64; MAX_THREADS],
    patience: u32,
}

impl Pos {
    pub(crate) const fn new() -> Self {
        Self { priority: [0; MAX_THREADS], patience: PATIENCE }
    }

    /// A run begins.
    pub(crate) const fn begin(&mut self) {
        self.patience = PATIENCE;
    }

    /// A thread begins in `slot`.
    pub(crate) fn enlisted(&mut self, slot: usize, random: &mut Xoshiro256PlusPlus) {
        self.priority[slot] = random.next_u64();
    }

    /// Who goes on, of `enabled`, which is not empty.
    #[inline]
    pub(crate) fn next_thread(
        &mut self,
        enabled: u64,
        alive: u64,
        pending: &[Pending; MAX_THREADS],
        random: &mut Xoshiro256PlusPlus,
    ) -> usize {
        let mut best = enabled.trailing_zeros() as usize & (MAX_THREADS - 1);
        for t in bits(enabled & (enabled - 1)) {
            if self.priority[t] > self.priority[best] {
                best = t;
            }
        }
        let others = alive & !(1 << best);
        self.patience -= 1;
        if self.patience == 0 || effect(pending[best]) == Effect::Yields {
            self.patience = PATIENCE;
            bits(others).for_each(|t| self.priority[t] = random.next_u64());
        } else {
            self.executes(pending[best], others, pending, random);
        }
        self.priority[best] = random.next_u64();
        best
    }

    /// An operation takes effect: the threads of `others` whose pending operations conflict with it draw anew.
    #[inline]
    fn executes(
        &mut self,
        operation: Pending,
        others: u64,
        pending: &[Pending; MAX_THREADS],
        random: &mut Xoshiro256PlusPlus,
    ) {
        for t in bits(others) {
            if pending[t].at == operation.at && conflict(pending[t], operation) {
                self.priority[t] = random.next_u64();
            }
        }
    }
}
