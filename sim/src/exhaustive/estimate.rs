//! How many traces there will be: an estimate before the search has seen them.
//!
//! Knuth (Mathematics of Computation 29, 1975): follow a random path from the root; where a node has `d` children, the
//! next one counts `d` times as much. The sum over the path is an unbiased estimate of the number of nodes. Its
//! distribution is skewed (few paths lead into the large parts), so it comes with its standard error.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::guide::Verdict;
use super::item::Item;
use super::search::Searcher;

/// Items of one run among which a sample chooses; further ones are not seen (and the estimate is too low).
const MOST_ITEMS: usize = 10_000;

/// An estimate of the number of traces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Mean of the samples.
    pub traces: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Number of samples. Zero: none was made.
    pub samples: u32,
}

/// Samples `samples` paths, the same in each exploration of a program; fewer if the exploration is stopped meanwhile.
pub(super) fn sample<F: Fn() + Sync>(searcher: &mut Searcher<'_, '_, F>, samples: u32) -> Estimate {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x1975);
    let (mut sum, mut squares, mut made) = (0.0, 0.0, 0);
    while made < samples {
        // A path that was left halfway would be a small one.
        let Some(size) = one_path(searcher, &mut rng) else { break };
        sum += size;
        squares += size * size;
        made += 1;
    }
    let n = f64::from(made.max(1));
    let mean = sum / n;
    let variance = if made > 1 { (squares - n * mean * mean).max(0.0) / (n - 1.0) } else { 0.0 };
    Estimate { traces: mean, error: (variance / n).sqrt(), samples: made }
}

/// `None` if the exploration was stopped.
fn one_path<F: Fn() + Sync>(searcher: &mut Searcher<'_, '_, F>, rng: &mut Xoshiro256PlusPlus) -> Option<f64> {
    let (mut size, mut weight) = (0.0, 1.0);
    let mut item = Item::default();
    loop {
        if searcher.is_over() {
            return None;
        }
        let (_, verdict) = searcher.run(item);
        match verdict {
            Verdict::Canonical | Verdict::Livelock => size += weight,
            // Neither a trace nor a part of the tree.
            Verdict::Infeasible | Verdict::Redundant => {
                searcher.forget(None);
                return Some(size);
            }
            Verdict::Empty | Verdict::Tried => {}
        }
        let Some(mut run) = searcher.keep() else { return Some(size) };
        let mut items: Vec<Item> = std::iter::from_fn(|| run.next_item()).take(MOST_ITEMS).collect();
        searcher.forget(Some(run));
        if items.is_empty() {
            return Some(size);
        }
        weight *= items.len() as f64;
        let at = (rng.next_u64() % items.len() as u64) as usize;
        item = items.swap_remove(at);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use crate::sync::Mutex;
    use crate::{Explorer, Strategy, thread};

    /// Three threads take a lock: six traces.
    fn in_turn() {
        let turn = Mutex::new(());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| drop(turn.lock()));
            }
        });
    }

    #[test]
    fn sampling_ends_when_the_exploration_is_stopped() {
        let (stop, runs) = (AtomicBool::new(false), AtomicU64::new(0));
        let explorer = || Explorer::new().strategy(Strategy::Exhaustive { preemptions: None }).stop_when(&stop);
        // No run of the exploration itself.
        let sampled = explorer().seeds(0..0).estimate(200).run(in_turn);
        assert_eq!((sampled.exhaustive.estimate.samples, sampled.executions), (200, 0));
        let off = (sampled.exhaustive.estimate.traces - 6.0).abs();
        assert!(off < 4.0 * sampled.exhaustive.estimate.error, "{:?}", sampled.exhaustive);
        // Stopped in the middle: the samples so far, whole ones only.
        let some = explorer().estimate(1_000_000).run(|| {
            stop.store(runs.fetch_add(1, Ordering::Relaxed) > 50, Ordering::Relaxed);
            in_turn();
        });
        let estimate = some.exhaustive.estimate;
        assert!((5..60).contains(&estimate.samples) && estimate.traces >= 1.0, "{estimate:?}");
    }
}
