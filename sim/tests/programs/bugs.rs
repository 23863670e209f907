//! Programs with a bug, and how often each strategy must find it.

use std::path::Path;
use std::sync::Arc;

use interleaf::Strategy;

use crate::language::program::Program;
use crate::language::run::measure;

/// A fixture with a bug.
pub(crate) struct Bug {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [(&'static str, i64)],
    /// Exact probability that one random walk shows it.
    pub(crate) random: f64,
    /// Mean number of executions until each of [`MEASURED`] shows it, from an independent simulator of the algorithms
    /// (20,000 runs; 8,000 of the largest three). Those of the uniform walks on `six_against_six` are exact: one of 1,716
    /// interleavings is wrong; those on `reordered_stores` depend on whether a profile run has met the
    /// checker's long way; they are for what the profile here shows. (9 setters: 4.4 and 8.9 runs if one has, 14.1 and 18.8
    /// if none has; 19 setters: 6.8 and 17.0, or 26.5 and 30.9.)
    pub(crate) reference: [f64; 5],
}

/// The strategies of [`Bug::reference`].
pub(crate) const MEASURED: [Strategy; 5] =
    [Strategy::Pct { depth: 2 }, Strategy::Pct { depth: 3 }, Strategy::Pos, Strategy::Urw, Strategy::Surw];

/// Nobody has counted, or the bug was met too rarely to say.
const UNKNOWN: f64 = f64::NAN;

const fn bug(name: &'static str, parameters: &'static [(&'static str, i64)], random: f64, reference: [f64; 5]) -> Bug {
    Bug { name, parameters, random, reference }
}

pub(crate) const BUGS: &[Bug] = &[
    bug("account", &[], 1.0 / 3.0, [3.0, 3.0, 3.0, 3.0, 3.0]),
    bug("limit", &[], 1.0 / 3.0, [3.0, 3.0, 3.0, 2.4, 3.0]),
    bug("counted_lock", &[], 0.5, [4.0, 2.4, 2.0, 1.51, 1.71]),
    bug("opposite_order", &[], 0.5, [8.3, 4.3, 2.9, 1.74, 2.6]),
    bug("nested_in_opposite_order", &[], 0.5, [11.8, 6.4, 2.9, 1.84, 2.4]),
    bug("token_ring", &[], 1.0 / 6.0, [5.9, 5.9, 6.0, 11.0, 6.0]),
    bug("ring_of_locks", &[], 1.0 / 3.0, [24.3, 11.7, 5.1, 2.4, 3.8]),
    bug("lost_wakeup", &[], 0.125, [18.5, 10.3, 6.0, 8.4, 7.1]),
    bug("one_signal_for_two", &[], 1.0 / 3.0, [3.0, 3.0, 3.0, 2.2, 2.6]),
    bug("reordered_stores", &[("S", 2)], 0.123_456_790, [23.9, 12.3, 6.1, 3.9, 4.7]),
    bug("reordered_stores", &[("S", 3)], 0.111_328_125, [39.4, 19.9, 7.2, 3.7, 5.2]),
    bug("reordered_stores", &[("S", 4)], UNKNOWN, [61.5, 30.2, 8.1, 3.6, 6.0]),
    bug("reordered_stores", &[("S", 9)], UNKNOWN, [210.5, 95.2, 12.8, 4.4, 8.9]),
    bug("reordered_stores", &[("S", 19)], UNKNOWN, [UNKNOWN, 400.0, 23.2, 26.5, 30.9]),
    bug("two_stages", &[("A", 1)], 1.0 / 64.0, [9.3, 6.7, 11.6, 43.2, 13.6]),
    bug("two_stages", &[("A", 2)], 0.013_946_045, [20.7, 12.6, 15.1, 54.6, 16.5]),
    bug("two_stages", &[("A", 20)], UNKNOWN, [UNKNOWN, 421.1, 86.0, 242.4, 85.1]),
    bug("stack", &[("K", 3)], 0.25, [5.9, 4.3, 4.1, 3.2, 3.7]),
    bug("stack", &[("K", 5)], 0.429_687_5, [5.0, 3.5, 2.3, 1.99, 2.2]),
    bug("six_against_six", &[("N", 6)], 1.0 / 64.0, [3.3, 5.1, 63.7, 1716.0, 1716.0]),
    bug("short_against_long", &[("N", 25)], 1.0 / 33_554_432.0, [26.6, 47.5, UNKNOWN, 25.1, 25.5]),
    bug("rounds", &[("N", 1)], 0.5, [4.0, 2.4, 3.0, 1.49, 1.5]),
    bug("rounds", &[("N", 2)], 0.8125, [4.1, 2.3, 1.58, 1.09, 1.09]),
    bug("rounds", &[("N", 3)], 0.933_593_75, [3.9, 2.3, 1.24, 1.02, 1.02]),
    bug("overdraft", &[], 0.375, [8.0, 4.3, 2.8, 2.9, 2.9]),
    bug("once_flag_first", &[], 1.0 / 32.0, [14.3, 10.2, 7.4, 30.3, 29.6]),
    bug("seqlock_unchecked", &[], 0.054_687_5, [16.5, 13.9, 14.3, 13.9, 12.1]),
    bug("late_close", &[], 0.25, [9.7, 5.7, 4.0, 3.4, 3.4]),
    bug("first_resumes_first", &[], 0.032_083_524, [UNKNOWN, 165.3, 76.3, 13.7, 30.0]),
    bug("last_resumes_first", &[], 0.026_596_555, [UNKNOWN, 178.6, 67.8, 15.2, 30.2]),
    bug("unlocked_by_luck", &[], 5.0 / 6.0, [1.19, 1.21, 1.19, 1.2, 1.2]),
];

impl Bug {
    fn program(&self) -> Arc<Program> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/fixtures");
        let text = std::fs::read_to_string(fixtures.join(format!("{}.prog", self.name))).expect("a fixture");
        Arc::new(Program::read(&text, self.parameters).expect("a program"))
    }

    /// How many of `runs` runs show it.
    pub(crate) fn hits(&self, strategy: &Strategy, runs: u64) -> u64 {
        measure(&self.program(), strategy, runs).wrong
    }

    /// The share of runs that show it.
    pub(crate) fn rate(&self, strategy: &Strategy, runs: u64) -> f64 {
        self.hits(strategy, runs) as f64 / runs as f64
    }

    /// The least mean number of executions, over all strategies.
    pub(crate) fn best(&self) -> f64 {
        self.reference.iter().fold(1.0 / self.random, |best, &mean| best.min(mean))
    }
}
