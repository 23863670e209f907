//! Which traces are within the bound, and how many schedules they stand for.
//!
//! A trace is within a bound if *some* schedule of it is, whatever the schedule that it was run with. A run that is
//! beyond the bound may still lead to traces within it, so it is made, but not counted; unless the events that all
//! traces behind it have in common cannot be ordered with so few preemptions: then those are not looked at.

use crate::explore::explorer::{Exhaustive, Explorer};
use crate::strategy::Strategy;

use super::candidates::Run;
use super::orders::{Orders, TooMany};
use super::record::{Record, merge, set};
use super::tally::Tally;

/// Configurations of one trace that are looked at for a bound.
pub(crate) const MAX_JUDGED: usize = 1 << 18;
/// Likewise, for totals that nobody has asked for.
const MAX_SAMPLED: usize = 1 << 12;
/// Likewise, if somebody has.
const MAX_COUNTED: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    None,
    Preemptions(u32),
    Delays(u32),
}

/// What is to become of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ruling {
    /// It is one of the runs that were asked for.
    pub(crate) counts: bool,
    /// Runs that it leads to may be.
    pub(crate) leads_on: bool,
}

/// Rules on the runs of one exploration.
pub(crate) struct Judge {
    bound: Bound,
    /// Bounds on preemptions are tried in turn.
    in_turn: bool,
    every: bool,
    tally: Tally,
}

impl Judge {
    /// `turn` is the present bound, if bounds are tried in turn.
    pub(crate) fn new(explorer: &Explorer<'_>, turn: u32) -> Self {
        let (bound, in_turn) = match explorer.strategy {
            Strategy::Exhaustive { preemptions: Some(k) } => (Bound::Preemptions(k), false),
            Strategy::Iterative { .. } => (Bound::Preemptions(turn), true),
            Strategy::Delays { delays } => (Bound::Delays(delays), false),
            _ => (Bound::None, false),
        };
        Self { bound, in_turn, every: explorer.schedules, tally: Tally::of_workers(explorer.workers) }
    }

    /// Rules on a run that stands for a trace.
    pub(crate) fn rule(&mut self, run: &Run, deadlocked: bool, found: &mut Exhaustive) -> Ruling {
        let sampled = self.every || self.tally.samples_next();
        let orders = if self.bound == Bound::None && !sampled {
            None
        } else {
            let orders = Orders::new(&run.record, run.wishes());
            found.unjudged += u64::from(orders.is_none() && self.bound != Bound::None);
            orders
        };
        if let Some(orders) = &orders {
            let ruling = self.within(orders, run, found);
            if !ruling.counts {
                return ruling;
            }
        }
        *(if deadlocked { &mut found.deadlocked } else { &mut found.traces }) += 1;
        let limit = if self.every { MAX_COUNTED } else { MAX_SAMPLED };
        self.tally.add(sampled.then(|| orders.and_then(|o| o.schedules(limit))));
        Ruling { counts: true, leads_on: true }
    }

    fn within(&mut self, orders: &Orders<'_>, run: &Run, found: &mut Exhaustive) -> Ruling {
        let within = match self.bound {
            Bound::None => {
                if let Ok(needed) = fewest_preemptions(orders, u32::MAX, MAX_SAMPLED) {
                    found.preemptions = found.preemptions.max(needed.unwrap_or(0));
                }
                true
            }
            Bound::Preemptions(bound) => {
                let needed = match fewest_preemptions(orders, bound, MAX_JUDGED) {
                    Ok(needed) => needed,
                    Err(TooMany) => {
                        found.unjudged += 1;
                        Some(orders.preemptions_made().min(bound))
                    }
                };
                if let Some(needed) = needed.filter(|&n| n <= bound) {
                    found.preemptions = found.preemptions.max(needed);
                    if self.in_turn && needed < bound {
                        found.again += 1;
                        return Ruling { counts: false, leads_on: true };
                    }
                    true
                } else {
                    false
                }
            }
            Bound::Delays(bound) => match orders.delays(bound, MAX_JUDGED) {
                Ok(needed) => needed.is_some(),
                Err(TooMany) => {
                    found.unjudged += 1;
                    true
                }
            },
        };
        if within {
            return Ruling { counts: true, leads_on: true };
        }
        found.beyond += 1;
        // Each preemption is at least one delay.
        let (Bound::Preemptions(bound) | Bound::Delays(bound)) = self.bound else {
            return Ruling { counts: false, leads_on: true };
        };
        let gaps = orders.gaps(&common(&run.record), &run.displaced(), bound, MAX_JUDGED);
        Ruling { counts: false, leads_on: gaps != Ok(None) }
    }

    /// Writes the totals.
    pub(crate) fn finish(&self, found: &mut Exhaustive) {
        (found.schedules, found.schedules_are_exact) = self.tally.total();
    }
}

/// The fewest preemptions of a trace, if they are at most `cap`.
fn fewest_preemptions(orders: &Orders<'_>, cap: u32, limit: usize) -> Result<Option<u32>, TooMany> {
    let made = orders.preemptions_made();
    if made == 0 {
        return Ok(Some(0));
    }
    let fewer = orders.preemptions(cap.min(made - 1), limit)?;
    Ok(fewer.or((made <= cap).then_some(made)))
}

/// The events that a run has in common with all traces that are found from it: the forced ones and what comes before
/// them. Of an event whose choices of values are still open, only what its thread had to wait for.
fn common(record: &Record) -> Vec<u64> {
    let mut row = vec![0; record.words];
    for (x, event) in record.events.iter().enumerate().filter(|(_, e)| e.forced) {
        if record.choices_of(x).len() > event.fixed_choices as usize {
            merge(&mut row, record.hard(x));
        } else {
            merge(&mut row, record.past(x));
            set(&mut row, x);
        }
    }
    row
}
