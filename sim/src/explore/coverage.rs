//! How much of what a strategy can show has been seen.
//!
//! Two runs are of one *class* if they order all conflicting operations in the same way (a Mazurkiewicz trace). The runs
//! of a random strategy are independent draws, so what is still to come can be estimated from what came rarely: the
//! chance that the next run shows a class that was never seen is about the share of runs whose class was seen once (Good
//! and Turing; I. J. Good, Biometrika 40, 1953). It says nothing about classes that the strategy cannot reach or reaches
//! with a chance far below one in the number of runs, and each strategy has its own distribution, so each is counted
//! by itself.
//!
//! *In bounded memory.* Classes are kept as long as there are at most [`MOST`]; then only those whose hash ends in a zero
//! bit, then in two, and so on. The subset depends on the hashes alone: how often each of its classes was seen is exact,
//! and the result is the same in whatever order the runs come and however they are shared out.

use std::collections::BTreeMap;

use crate::choice::finalise;

/// Most classes that are kept for one strategy.
const MOST: usize = 1 << 15;

/// Seen three times or more.
const OFTEN: u8 = 3;

/// Two-sided 95 % of a normal distribution.
const QUANTILE: f64 = 1.96;

/// The classes that one strategy has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    runs: u64,
    /// Zero bits in which the hashes of the kept classes end.
    bits: u32,
    /// How often each was seen, up to [`OFTEN`].
    classes: BTreeMap<u64, u8>,
    most: usize,
}

impl Tally {
    pub(crate) const fn new() -> Self {
        Self { runs: 0, bits: 0, classes: BTreeMap::new(), most: MOST }
    }

    pub(crate) const fn runs(&self) -> u64 {
        self.runs
    }

    /// A run of the class with this hash.
    pub(crate) fn add(&mut self, hash: u64) {
        self.runs += 1;
        self.note(finalise(hash), 1);
    }

    fn note(&mut self, hash: u64, times: u8) {
        if hash.trailing_zeros() < self.bits {
            return;
        }
        let seen = self.classes.entry(hash).or_insert(0);
        *seen = (*seen + times).min(OFTEN);
        while self.classes.len() > self.most {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.bits += 1;
        let bits = self.bits;
        self.classes.retain(|hash, _| hash.trailing_zeros() >= bits);
    }

    /// Adds the runs of another tally of the same strategy.
    pub(crate) fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        while self.bits < other.bits {
            self.halve();
        }
        other.classes.into_iter().for_each(|(hash, times)| self.note(hash, times));
    }

    fn seen(&self, times: u8) -> u64 {
        self.classes.values().filter(|&&n| n == times).count() as u64
    }
}

/// What one strategy has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// The strategy's name. For the portfolio each member has a coverage of its own.
    pub strategy: String,
    /// Runs made with it.
    pub runs: u64,
    /// Different classes (orders of conflicting operations) in them.
    pub distinct: u64,
    /// Classes that were seen exactly once.
    pub once: u64,
    /// Classes that were seen exactly twice.
    pub twice: u64,
    /// How many classes share a place in memory: 1 while the three numbers above are exact. Beyond some 30,000 classes
    /// only one in this many is kept, chosen by its hash, and the numbers are those of the kept ones times this. A number
    /// `n` then has a standard error of the root of `n * (one_in - 1)`: below one per cent for `distinct`.
    pub one_in: u64,
    /// How likely the next run shows a class that this strategy has not shown yet.
    pub new_class: NewClass,
}

/// The chance that a strategy's next run shows a class that it has not shown yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewClass {
    /// The Good–Turing estimate: classes seen once, by runs.
    pub chance: f64,
    /// Lower end of the interval of 95 %.
    pub low: f64,
    /// Upper end of the interval of 95 %.
    pub high: f64,
}

impl Coverage {
    pub(super) fn of(strategy: &str, tally: &Tally) -> Self {
        let one_in = 1 << tally.bits;
        let (once, twice) = (tally.seen(1) * one_in, tally.seen(2) * one_in);
        Self {
            strategy: strategy.to_owned(),
            runs: tally.runs,
            distinct: tally.classes.len() as u64 * one_in,
            once,
            twice,
            one_in,
            new_class: NewClass::of(tally.runs, once, twice, one_in),
        }
    }
}

impl NewClass {
    /// Esty's interval (Annals of Statistics 11, 1983): `n1/n` is asymptotically normal around the true chance with the
    /// variance `(n1 (1 - n1/n) + 2 n2) / n²`. Where only one class in `one_in` is kept, `n1` itself is an estimate with the
    /// variance `n1 (one_in - 1)`. The normal distribution says too little where hardly anything was seen once: whatever
    /// has a chance of 3/n in all is missed by n runs in one case of twenty, so the upper end is never below that.
    fn of(runs: u64, once: u64, twice: u64, one_in: u64) -> Self {
        let n = runs.max(1) as f64;
        let (n1, n2, one_in) = (once as f64, twice as f64, one_in as f64);
        let chance = (n1 / n).min(1.0);
        let variance = n1 * (1.0 - chance) + 2.0 * n2 + n1 * (one_in - 1.0);
        let half = QUANTILE * variance.sqrt() / n;
        let high = (chance + half).max(3.0 * one_in / n).min(1.0);
        Self { chance, low: (chance - half).max(0.0), high }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_core::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// `n` classes, the smaller numbers much more often than the greater ones.
    fn sequence(seed: u64, n: u64, runs: usize) -> Vec<u64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..runs).map(|_| (unit() * unit() * n as f64) as u64).collect()
    }

    fn tally(most: usize, hashes: &[u64]) -> Tally {
        let mut tally = Tally { most, ..Tally::new() };
        hashes.iter().for_each(|&hash| tally.add(hash));
        tally
    }

    /// Counts over and over instead of keeping anything.
    fn brute_force(hashes: &[u64], kept: impl Fn(u64) -> bool) -> [u64; 3] {
        let mut different: Vec<u64> = hashes.iter().copied().filter(|&h| kept(h)).collect();
        different.sort_unstable();
        different.dedup();
        let times = |hash: u64| hashes.iter().filter(|&&h| h == hash).count();
        let with = |n| different.iter().filter(|&&h| times(h) == n).count() as u64;
        [different.len() as u64, with(1), with(2)]
    }

    #[test]
    fn exact_while_small() {
        for (seed, n, runs) in [(1, 10, 40), (2, 100, 150), (3, 1_000, 900), (4, 1, 5), (5, 50, 0), (6, 50, 1)] {
            let hashes = sequence(seed, n, runs);
            let c = Coverage::of("x", &tally(MOST, &hashes));
            assert_eq!([c.distinct, c.once, c.twice], brute_force(&hashes, |_| true));
            assert_eq!((c.runs, c.one_in), (runs as u64, 1));
            let expected = if runs == 0 { 0.0 } else { c.once as f64 / runs as f64 };
            assert!((c.new_class.chance - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_kept_is_counted_exactly() {
        let hashes = sequence(7, 3_000, 4_000);
        let c = Coverage::of("x", &tally(200, &hashes));
        assert!(c.one_in > 1);
        let bits = c.one_in.trailing_zeros();
        let kept = brute_force(&hashes, |hash| finalise(hash).trailing_zeros() >= bits);
        assert_eq!([c.distinct, c.once, c.twice], kept.map(|n| n * c.one_in));
        assert!(c.distinct / c.one_in <= 200);
        // The largest subset that fits.
        let more = brute_force(&hashes, |hash| finalise(hash).trailing_zeros() >= bits - 1);
        assert!(more[0] > 200);
        // And it stands for all, within three of the stated standard errors.
        let all = brute_force(&hashes, |_| true);
        for (estimate, exact) in [c.distinct, c.once, c.twice].into_iter().zip(all) {
            let error = (exact as f64 * (c.one_in - 1) as f64).sqrt();
            assert!((estimate as f64 - exact as f64).abs() < 3.0 * error, "{estimate} for {exact}");
        }
    }

    #[test]
    fn the_order_of_runs_and_how_they_are_shared_out_make_no_difference() {
        let hashes = sequence(8, 2_000, 3_000);
        for most in [10, 100, 1_000, MOST] {
            let whole = tally(most, &hashes);
            let reversed: Vec<u64> = hashes.iter().rev().copied().collect();
            assert_eq!(tally(most, &reversed), whole);
            for parts in [2, 3, 7] {
                // Unequal parts, merged from either end.
                let part = |i: usize| {
                    let mine = |(at, _): &(usize, &u64)| (at * at + at / 5) % parts == i;
                    let hashes: Vec<u64> = hashes.iter().enumerate().filter(mine).map(|(_, h)| *h).collect();
                    tally(most, &hashes)
                };
                let merge = |order: &mut dyn Iterator<Item = usize>| {
                    let mut sum = tally(most, &[]);
                    order.for_each(|i| sum.merge(part(i)));
                    sum
                };
                assert_eq!(merge(&mut (0..parts)), whole, "{most} in {parts}");
                assert_eq!(merge(&mut (0..parts).rev()), whole, "{most} in {parts}");
            }
        }
    }

    #[test]
    fn a_small_part_takes_over_what_a_large_one_has_dropped() {
        let hashes = sequence(9, 2_000, 1_500);
        let (few, many) = hashes.split_at(20);
        let whole = tally(250, &hashes);
        assert!(tally(250, many).bits > 0 && tally(250, few).bits == 0);
        for (first, second) in [(few, many), (many, few)] {
            let mut sum = tally(250, first);
            sum.merge(tally(250, second));
            assert_eq!(sum, whole);
        }
    }

    #[test]
    fn nothing_is_dropped_before_it_must_be() {
        let hashes: Vec<u64> = (0..201).collect();
        assert_eq!(Coverage::of("x", &tally(200, &hashes[..200])).one_in, 1);
        assert_eq!(Coverage::of("x", &tally(200, &hashes)).one_in, 2);
    }

    /// The true chance of something new is known here, so one can see how often the interval holds it.
    #[test]
    fn the_interval_holds_the_truth() {
        const SAMPLES: u64 = 300;
        // unit * unit has the distribution function x (1 - ln x).
        let below = |x: f64| if x <= 0.0 { 0.0 } else { x * (1.0 - x.ln()) };
        for (classes, runs, most) in
            [(300u64, 400, MOST), (2_000, 500, MOST), (2_000, 2_000, MOST), (3_000, 3_000, 500)]
        {
            let mut held = 0;
            for seed in 0..SAMPLES {
                let seen = sequence(seed, classes, runs);
                let shown: BTreeSet<u64> = seen.iter().copied().collect();
                let missing: f64 = (0..classes)
                    .filter(|c| !shown.contains(c))
                    .map(|c| below((c + 1) as f64 / classes as f64) - below(c as f64 / classes as f64))
                    .sum();
                let new = Coverage::of("x", &tally(most, &seen)).new_class;
                assert!(new.low <= new.chance && new.chance <= new.high);
                held += u64::from(new.low <= missing && missing <= new.high);
            }
            // 95 % of 300 is 285; five standard deviations are 19.
            assert!(held >= 266, "{classes} classes, {runs} runs: held {held} times of {SAMPLES}");
            // An interval that always holds is too wide to say anything.
            assert!(held <= 298 || runs == 400, "{classes} classes, {runs} runs: held {held} times of {SAMPLES}");
        }
    }

    #[test]
    fn nothing_seen_once_is_no_proof() {
        let new = Coverage::of("x", &tally(MOST, &[5; 300])).new_class;
        assert_eq!((new.chance, new.low, new.high), (0.0, 0.0, 0.01));
        let new = Coverage::of("x", &tally(MOST, &[1, 2, 3])).new_class;
        assert_eq!((new.chance, new.high), (1.0, 1.0));
    }
}
