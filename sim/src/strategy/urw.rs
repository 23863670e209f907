//! Uniform random walk by remaining operations (the unselective half of SURW, ASPLOS 2025).
//!
//! A thread is chosen with a weight of the operations that it still has before it, those of the threads that it has yet
//! to start included. For threads that never wait for each other that is uniform over all interleavings: the number of
//! linear extensions of a forest falls apart in just these proportions (Knuth, TAOCP 3, 5.1.4, exercise 20).
//!
//! The numbers are estimates: see [`counts`](super::counts). A thread that is alive never weighs nothing, however far
//! beyond its estimate it is.

use rand_core::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::runtime::rt::{MAX_THREADS, bits};

/// A number below `n`, which is not 0.
#[inline(always)]
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, n: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(n)) >> 64) as u64
}

/// The weights of one run.
pub(crate) struct Urw {
    /// Operations that the slot's thread itself has left.
    own: [u32; MAX_THREADS],
    /// `own`, and what the threads that it has yet to start have; at least 1.
    weight: [u32; MAX_THREADS],
}

impl Urw {
    pub(crate) const fn new() -> Self {
        Self { own: [0; MAX_THREADS], weight: [1; MAX_THREADS] }
    }

    /// A thread begins in `slot`, started by that in `parent`: it is expected to have `own` operations, and `total` with
    /// those of the threads that it will start.
    pub(crate) fn enlisted(&mut self, slot: usize, parent: Option<usize>, own: u32, total: u32) {
        self.own[slot] = own;
        self.weight[slot] = total.max(1);
        if let Some(parent) = parent {
            self.weight[parent] = self.weight[parent].saturating_sub(total).max(1);
        }
    }

    /// Who goes on, of `enabled`, which is not empty.
    #[inline]
    pub(crate) fn next_thread(&mut self, enabled: u64, random: &mut Xoshiro256PlusPlus) -> usize {
        let sum: u64 = bits(enabled).map(|t| u64::from(self.weight[t])).sum();
        let mut rest = below(random, sum);
        let mut next = 0;
        for t in bits(enabled) {
            next = t;
            let weight = u64::from(self.weight[t]);
            if rest < weight {
                break;
            }
            rest -= weight;
        }
        if self.own[next] > 0 {
            self.own[next] -= 1;
            self.weight[next] = (self.weight[next] - 1).max(1);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn nobody_who_is_alive_weighs_nothing() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut urw = Urw::new();
        // Slot 0 starts two threads; nothing is known of the second, and all go far beyond what is known.
        urw.enlisted(0, None, 1, 4);
        urw.enlisted(1, Some(0), 3, 3);
        urw.enlisted(2, Some(0), 0, 0);
        assert_eq!(urw.weight[..3], [1, 3, 1]);
        let mut chosen = [0; 3];
        for _ in 0..3_000 {
            chosen[urw.next_thread(0b111, &mut random)] += 1;
            assert!(urw.weight[..3].iter().all(|&w| w >= 1));
        }
        assert!(chosen.iter().all(|&n| (900..1_100).contains(&n)), "{chosen:?}");
    }

    #[test]
    fn threads_to_be_started_weigh_with_their_parent() {
        let mut urw = Urw::new();
        urw.enlisted(5, None, 2, 12);
        urw.enlisted(6, Some(5), 4, 7);
        assert_eq!((urw.weight[5], urw.weight[6]), (5, 7));
        urw.enlisted(7, Some(6), 3, 3);
        urw.enlisted(8, Some(5), 3, 3);
        assert_eq!((urw.weight[5], urw.weight[6]), (2, 4));
    }

    #[test]
    fn who_goes_on_is_as_likely_as_heavy() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut first = [0; 3];
        for _ in 0..10_000 {
            let mut urw = Urw::new();
            [(1, 1), (4, 4), (63, 5)].into_iter().for_each(|(slot, own)| urw.enlisted(slot, None, own, own));
            let next = urw.next_thread(1 << 1 | 1 << 4 | 1 << 63, &mut random);
            first[[1, 4, 63].iter().position(|&slot| slot == next).expect("one of them")] += 1;
        }
        // 1, 4 and 5 in 10, within five standard deviations of 50.
        let expected = [1_000, 4_000, 5_000];
        assert!(first.iter().zip(expected).all(|(&n, e): (&i32, i32)| (n - e).abs() < 250), "{first:?}");
    }
}
