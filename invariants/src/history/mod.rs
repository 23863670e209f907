//! Histories: who called what, when, and what the answer was.
//!
//! A call is open from its beginning to its end. Calls that are open at the same time may have taken effect in either
//! order; a call that ended before another began took effect before it. [`linearizability`] asks whether some order
//! that respects this explains all answers.
//!
//! Time is counted, not measured: [`Clock`] numbers beginnings and ends as they come. It lies outside of the simulation,
//! so that recording adds no scheduling point and makes no two threads dependent. For the exhaustive exploration this
//! means that runs that differ in nothing but which of two independent calls ended first are one run to it, and only one
//! of them is checked.

pub mod linearizability;

use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<O, A> {
    /// Who called: one client has one open call at a time.
    pub client: String,
    /// What was asked.
    pub op: O,
    /// What was answered; `None` if nobody knows.
    pub answer: Option<A>,
    /// When it began.
    pub begin: u64,
    /// When it ended; `None` if it never did. Then it may have taken effect at any time since, or not at all.
    pub end: Option<u64>,
}

/// Numbers the beginnings and ends of the calls of one history.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Records the calls of one client.
#[derive(Debug)]
pub struct Client<'a, O, A> {
    clock: &'a Clock,
    name: &'static str,
    calls: Vec<Call<O, A>>,
}

impl<'a, O, A> Client<'a, O, A> {
    /// A client who has called nothing yet.
    #[must_use]
    pub fn new(clock: &'a Clock, name: &'static str) -> Self {
        Self { clock, name, calls: Vec::new() }
    }

    /// Does `act` and records it as the call `op` with what `act` returned.
    pub fn call(&mut self, op: O, act: impl FnOnce(&O) -> A) -> &A {
        let begin = self.clock.tick();
        let answer = act(&op);
        let end = Some(self.clock.tick());
        self.calls.push(Call { client: self.name.to_owned(), op, answer: None, begin, end });
        let last = self.calls.len() - 1;
        self.calls[last].answer.insert(answer)
    }

    /// The calls so far, in their order.
    #[must_use]
    pub fn into_calls(self) -> Vec<Call<O, A>> {
        self.calls
    }
}

/// A list of calls that is no history: whoever recorded it made a mistake, and no checker can say anything.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Misuse {
    /// A call ends before it begins.
    #[error("call {call} of `{client}` ends at {end}, before it begins at {begin}")]
    EndsBeforeItBegins {
        /// Its place in the list, from 0.
        call: usize,
        /// Whose it is.
        client: String,
        /// Its beginning.
        begin: u64,
        /// Its end.
        end: u64,
    },
    /// A client begins a call while an earlier one of his is open.
    #[error("`{client}` begins call {second} at {begin}, while call {first} is open")]
    TwoOpenCalls {
        /// Whose they are.
        client: String,
        /// The place of the earlier one in the list, from 0.
        first: usize,
        /// The place of the later one.
        second: usize,
        /// When the later one begins.
        begin: u64,
    },
}

/// Checks that the calls can be a history.
///
/// # Errors
/// Which call is wrong, and how.
pub fn check_is_history<O, A>(calls: &[Call<O, A>]) -> Result<(), Misuse> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&n| (&calls[n].client, calls[n].begin, n));
    for &n in &order {
        let call = &calls[n];
        if let Some(end) = call.end.filter(|end| *end < call.begin) {
            return Err(Misuse::EndsBeforeItBegins { call: n, client: call.client.clone(), begin: call.begin, end });
        }
    }
    for pair in order.windows(2) {
        let [first, second] = [pair[0], pair[1]];
        let (earlier, later) = (&calls[first], &calls[second]);
        if earlier.client == later.client && earlier.end.is_none_or(|end| end > later.begin) {
            return Err(Misuse::TwoOpenCalls { client: later.client.clone(), first, second, begin: later.begin });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(client: &str, begin: u64, end: Option<u64>) -> Call<(), ()> {
        Call { client: client.to_owned(), op: (), answer: Some(()), begin, end }
    }

    #[test]
    fn a_client_records_what_it_did() {
        let clock = Clock::default();
        let (mut one, mut other) = (Client::new(&clock, "one"), Client::new(&clock, "other"));
        assert_eq!(*one.call("ask", |op| op.len()), 3);
        other.call("tell it", |op| one.call("in between", |_| 9).min(&op.len()).to_owned());
        let (one, other) = (one.into_calls(), other.into_calls());
        let times = |calls: &[Call<&str, usize>]| calls.iter().map(|c| (c.begin, c.end)).collect::<Vec<_>>();
        assert_eq!(times(&one), [(0, Some(1)), (3, Some(4))]);
        assert_eq!(times(&other), [(2, Some(5))]);
        assert_eq!((&*other[0].client, other[0].op, other[0].answer), ("other", "tell it", Some(7)));
    }

    #[test]
    fn a_list_that_is_no_history_is_refused() {
        // Of the kind of cases H41 and H43 of the research: malformed is no violation.
        let good = [call("a", 0, Some(3)), call("a", 3, None), call("b", 1, Some(1))];
        assert_eq!(check_is_history(&good), Ok(()));
        let backwards = [call("a", 5, Some(4))];
        let error = check_is_history(&backwards).unwrap_err();
        assert_eq!(error.to_string(), "call 0 of `a` ends at 4, before it begins at 5");
        for open in [Some(3), None] {
            let both = [call("b", 0, Some(9)), call("a", 2, Some(4)), call("a", 0, open)];
            let error = check_is_history(&both).unwrap_err();
            assert_eq!(error.to_string(), "`a` begins call 1 at 2, while call 2 is open");
        }
    }
}
