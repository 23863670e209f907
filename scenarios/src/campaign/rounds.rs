//! How the runs of a campaign are dealt out.
//!
//! Scenarios take turns in rounds that grow, so that a campaign that is cut by its budget has run a part of each
//! scenario and not all of some. The rounds depend on nothing but weights and limits: which seeds are run does not
//! depend on time or on the number of workers, unless the campaign is cut.

/// Runs of the first round.
const FIRST_ROUND: u64 = 20_000;

/// Most runs of a round.
const LARGEST_ROUND: u64 = 1_000_000;

/// How much of a campaign one scenario gets.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Relative to the other scenarios; at least 1.
    pub weight: u64,
    /// Most runs.
    pub limit: u64,
    /// All in the first round: a fixed small number, or a depth-first search, which cannot be continued.
    pub at_once: bool,
}

/// The rounds of a campaign.
#[derive(Clone, Debug)]
pub struct Rounds {
    shares: Vec<Share>,
    dealt: Vec<u64>,
    size: u64,
}

impl Rounds {
    /// Rounds in which each scenario gets runs by its weight until it has reached its limit.
    #[must_use]
    pub fn new(shares: Vec<Share>) -> Self {
        let dealt = vec![0; shares.len()];
        Self { shares, dealt, size: FIRST_ROUND }
    }

    /// Takes a scenario out of the following rounds.
    pub fn finish(&mut self, index: usize) {
        self.shares[index].limit = self.dealt[index];
    }

    /// The number of runs of each scenario in the next round, in order; `None` when all limits are reached.
    pub fn deal(&mut self) -> Option<Vec<u64>> {
        let total: u64 = self.shares.iter().map(|s| s.weight).sum();
        let size = self.size;
        self.size = (size * 2).min(LARGEST_ROUND);
        let runs: Vec<u64> = self
            .shares
            .iter()
            .zip(&self.dealt)
            .map(|(s, dealt)| {
                let left = s.limit - dealt;
                if s.at_once { left } else { part(size, s.weight, total).min(left) }
            })
            .collect();
        self.dealt.iter_mut().zip(&runs).for_each(|(dealt, runs)| *dealt += runs);
        runs.iter().any(|runs| *runs > 0).then_some(runs)
    }
}

/// The part of `whole` that a weight of `weight` in `total` gets, rounded down, but at least 1.
#[must_use]
pub fn part(whole: u64, weight: u64, total: u64) -> u64 {
    let part = u128::from(whole) * u128::from(weight) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(weight: u64, limit: u64) -> Share {
        Share { weight, limit, at_once: false }
    }

    #[test]
    fn limits_are_reached_exactly() {
        let mut rounds = Rounds::new(vec![share(3, 70_000), share(1, 10), share(1, 0)]);
        let mut sum = [0, 0, 0];
        while let Some(runs) = rounds.deal() {
            sum.iter_mut().zip(runs).for_each(|(s, r)| *s += r);
        }
        assert_eq!(sum, [70_000, 10, 0]);
    }

    #[test]
    fn the_first_round_runs_something_of_each() {
        let mut rounds = Rounds::new(vec![share(1_000_000, u64::MAX), share(1, u64::MAX)]);
        assert_eq!(rounds.deal(), Some(vec![19_999, 1]));
        assert_eq!(rounds.deal(), Some(vec![39_999, 1]));
    }

    #[test]
    fn a_search_is_dealt_at_once_and_a_finished_scenario_gets_no_more() {
        let mut rounds = Rounds::new(vec![Share { at_once: true, ..share(1, 500_000) }, share(1, 50_000)]);
        assert_eq!(rounds.deal(), Some(vec![500_000, 10_000]));
        rounds.finish(1);
        assert_eq!(rounds.deal(), None);
    }
}
