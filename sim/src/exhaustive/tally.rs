//! Adding up what all traces stand for, from all of them or from a sample.

/// Traces before the first stratum of a sample: all of them are looked at. Workers share them, so that many do not look
/// at more than one does.
const FIRST: u64 = 64;
/// But each looks at some.
const FIRST_MIN: u64 = 8;

/// Sums numbers of schedules.
///
/// The sample of one worker is the same in every exploration of a program: each trace whose ordinal is below 64, each
/// second one up to 128, each fourth one up to 256, and so on; of several workers each begins with less. The traces between two powers of two are a stratum, whose sum is
/// estimated from the mean of its sample.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// A power of two.
    first: u64,
    traces: u64,
    /// The strata before the present one; `None` if some trace of the sample had too many schedules.
    sum: Option<u128>,
    exact: bool,
    stratum: Stratum,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stratum {
    sum: u128,
    samples: u64,
    traces: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self::of_workers(1)
    }
}

impl Stratum {
    fn estimate(self) -> Option<u128> {
        if self.samples == self.traces {
            return Some(self.sum);
        }
        // In two parts, so that the product stays small.
        let (n, traces) = (u128::from(self.samples), u128::from(self.traces));
        let (mean, rest) = (self.sum.checked_div(n)?, self.sum.checked_rem(n)?);
        mean.checked_mul(traces)?.checked_add(rest * traces / n)
    }
}

impl Tally {
    /// The tally of one of so many workers.
    pub(crate) fn of_workers(workers: usize) -> Self {
        let first = (FIRST >> workers.next_power_of_two().ilog2().min(u64::BITS - 1)).max(FIRST_MIN);
        Self { first, traces: 0, sum: Some(0), exact: true, stratum: Stratum::default() }
    }

    /// Whether the next trace is one of the sample.
    pub(crate) fn samples_next(&self) -> bool {
        self.traces < self.first || self.traces.trailing_zeros() > self.traces.ilog2() - self.first.ilog2()
    }

    /// Adds a trace: not looked at, or looked at with or without result.
    pub(crate) fn add(&mut self, schedules: Option<Option<u128>>) {
        if self.traces >= self.first && self.traces.is_power_of_two() {
            self.sum = self.estimate();
            self.stratum = Stratum::default();
        }
        self.traces += 1;
        self.stratum.traces += 1;
        match schedules {
            None => self.exact = false,
            Some(n) => {
                self.stratum.samples += 1;
                match n.and_then(|n| self.stratum.sum.checked_add(n)) {
                    Some(sum) => self.stratum.sum = sum,
                    None => (self.sum, self.exact) = (None, false),
                }
            }
        }
    }

    fn estimate(&self) -> Option<u128> {
        self.sum?.checked_add(self.stratum.estimate()?)
    }

    /// The sum, and whether it is exact.
    pub(crate) fn total(&self) -> (Option<u128>, bool) {
        (self.estimate(), self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(numbers: impl Iterator<Item = u128>, every: bool) -> (u64, (Option<u128>, bool)) {
        let (mut tally, mut looked) = (Tally::default(), 0);
        for n in numbers {
            let wanted = every || tally.samples_next();
            looked += u64::from(wanted);
            tally.add(wanted.then_some(Some(n)));
        }
        (looked, tally.total())
    }

    #[test]
    fn every_trace_gives_the_exact_sum() {
        assert_eq!(tally(0..1_000, true), (1_000, (Some(499_500), true)));
        assert_eq!(tally(0..64, false), (64, (Some(2_016), true)), "the first ones are all looked at");
    }

    #[test]
    fn a_sample_is_small_and_equal_numbers_are_estimated_exactly() {
        let (looked, total) = tally(std::iter::repeat_n(7, 100_000), false);
        assert_eq!(total, (Some(700_000), false));
        assert_eq!(looked, 64 + 32 * 10 + 34_464_u64.div_ceil(2_048));
        let (_, (total, _)) = tally((0..4_096).map(|n| n * 1_000), false);
        let exact = 4_096 * 4_095 / 2 * 1_000;
        let error = total.unwrap().abs_diff(exact) as f64 / exact as f64;
        assert!(error < 0.03, "{error}");
    }

    #[test]
    fn many_workers_do_not_look_at_more_than_one_does() {
        let looked = |workers: usize| {
            let mut tally = Tally::of_workers(workers);
            let (mut looked, traces) = (0, 131_072 / workers as u64);
            for _ in 0..traces {
                let wanted = tally.samples_next();
                looked += u64::from(wanted);
                tally.add(wanted.then_some(Some(3)));
            }
            assert_eq!(tally.total().0, Some(u128::from(traces) * 3));
            looked * workers as u64
        };
        let one = looked(1);
        assert!((2..=8).all(|workers| looked(workers) <= one), "{one} {:?}", [2, 4, 8].map(looked));
    }

    #[test]
    fn what_could_not_be_counted_is_not_made_up() {
        let mut tally = Tally::default();
        tally.add(Some(Some(5)));
        tally.add(Some(None));
        tally.add(Some(Some(5)));
        assert_eq!(tally.total(), (None, false));
        let mut tally = Tally::default();
        tally.add(Some(Some(u128::MAX)));
        tally.add(Some(Some(1)));
        assert_eq!(tally.total(), (None, false));
    }
}
