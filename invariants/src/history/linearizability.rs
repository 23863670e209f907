//! Some order of the calls, in which each takes effect between its beginning and its end, explains all answers.
//!
//! Reads: the calls of a history, and what one after the other would answer ([`Specification`]).
//!
//! The search of Wing and Gong (Testing and verifying concurrent objects, JPDC 1993): of the calls that may come next, one
//! is tried, and taken back when nothing follows. With the cache of Lowe (Testing for linearizability, CCPE 2017): the
//! same calls placed with the same state are not tried again. Exponential in the number of calls that are open at one
//! time, linear otherwise.

use std::collections::BTreeSet;
use std::fmt::Debug;

use interleaf::Violation;

use super::{Call, Misuse, check_is_history};
use crate::verdict::Verdict;

/// What an object does when it is called by one client after the other.
pub trait Specification {
    /// What can be asked.
    type Op: Debug;
    /// What can be answered.
    type Answer: PartialEq + Debug;
    /// What it remembers. The order is for the cache only: equal states must have equal futures.
    type State: Clone + Ord;

    /// What it remembers before the first call.
    fn start(&self) -> Self::State;

    /// What it answers to `op` in `state`, and what it remembers then.
    fn apply(&self, state: &Self::State, op: &Self::Op) -> (Self::Answer, Self::State);
}

/// Checks that the calls are linearizable to `specification`. `invariant` is the name that a violation gets. After
/// `most` states the search gives up: undecided.
///
/// # Errors
/// [`Misuse`] if the calls are no history.
pub fn check<S: Specification>(
    invariant: &str,
    specification: &S,
    calls: &[Call<S::Op, S::Answer>],
    most: u64,
) -> Result<Verdict, Misuse> {
    check_is_history(calls)?;
    Ok(Search::new(specification, calls, most).run(invariant))
}

/// The beginning or the end of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    /// Closed intervals: at one moment beginnings come before ends.
    is_end: bool,
    call: usize,
}

/// Before the first event, in the list.
const HEAD: usize = 0;

/// The search: events that are not placed are in a list that placed calls are lifted out of.
struct Search<'a, S: Specification> {
    specification: &'a S,
    calls: &'a [Call<S::Op, S::Answer>],
    /// Event `n` has place `n + 1` in the list.
    events: Vec<Event>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Place of each call's beginning, and of its end.
    places: Vec<(usize, Option<usize>)>,
    state: S::State,
    /// Calls placed, as bits and in their order with the state before each.
    placed: Vec<u64>,
    order: Vec<(usize, S::State)>,
    seen: BTreeSet<(Vec<u64>, S::State)>,
    most: u64,
    longest: Vec<usize>,
    stuck: Option<S::State>,
}

impl<'a, S: Specification> Search<'a, S> {
    fn new(specification: &'a S, calls: &'a [Call<S::Op, S::Answer>], most: u64) -> Self {
        let begins = calls.iter().zip(0..).map(|(c, call)| Event { time: c.begin, is_end: false, call });
        let ends = calls.iter().zip(0..).filter_map(|(c, call)| Some(Event { time: c.end?, is_end: true, call }));
        let mut events: Vec<Event> = begins.chain(ends).collect();
        events.sort_unstable();
        let mut places = vec![(HEAD, None); calls.len()];
        for (event, place) in events.iter().zip(1..) {
            if event.is_end {
                places[event.call].1 = Some(place);
            } else {
                places[event.call].0 = place;
            }
        }
        let around = events.len() + 1;
        Self {
            specification,
            calls,
            next: (1..=around).map(|n| n % around).collect(),
            previous: (0..around).map(|n| (n + around - 1) % around).collect(),
            events,
            places,
            state: specification.start(),
            placed: vec![0; calls.len().div_ceil(64)],
            order: Vec::new(),
            seen: BTreeSet::new(),
            most,
            longest: Vec::new(),
            stuck: None,
        }
    }

    fn run(mut self, invariant: &str) -> Verdict {
        let mut open = self.calls.iter().filter(|call| call.end.is_some()).count();
        let mut at = self.next[HEAD];
        while open > 0 {
            let event = self.events[at - 1];
            if event.is_end {
                // Nobody may come after this end before its call is placed, and nothing before it fits.
                if self.stuck.is_none() {
                    self.stuck = Some(self.state.clone());
                }
                let Some((call, before)) = self.order.pop() else {
                    return Verdict::Violated(self.violation(invariant));
                };
                self.take_back(call, before);
                open += usize::from(self.calls[call].end.is_some());
                at = self.next[self.places[call].0];
            } else if let Some(state) = self.fits(event.call) {
                if self.seen.len() as u64 >= self.most {
                    return Verdict::Undecided { reason: format!("more than {} states of the search", self.most) };
                }
                self.place(event.call, state);
                open -= usize::from(self.calls[event.call].end.is_some());
                at = self.next[HEAD];
            } else {
                at = self.next[at];
            }
        }
        Verdict::Holds
    }

    /// The state after `call`, if its answer is the right one now and nobody has been there.
    fn fits(&mut self, call: usize) -> Option<S::State> {
        let Call { op, answer, .. } = &self.calls[call];
        let (would, state) = self.specification.apply(&self.state, op);
        if answer.as_ref().is_some_and(|answer| *answer != would) {
            return None;
        }
        let mut placed = self.placed.clone();
        placed[call / 64] |= 1 << (call % 64);
        self.seen.insert((placed, state.clone())).then_some(state)
    }

    fn place(&mut self, call: usize, state: S::State) {
        self.placed[call / 64] |= 1 << (call % 64);
        self.order.push((call, std::mem::replace(&mut self.state, state)));
        let (begin, end) = self.places[call];
        self.lift(begin);
        end.into_iter().for_each(|end| self.lift(end));
        if self.order.len() > self.longest.len() {
            self.longest = self.order.iter().map(|(call, _)| *call).collect();
            self.stuck = None;
        }
    }

    fn take_back(&mut self, call: usize, before: S::State) {
        self.placed[call / 64] &= !(1 << (call % 64));
        self.state = before;
        let (begin, end) = self.places[call];
        // In the opposite order: each finds its neighbours as it left them.
        end.into_iter().for_each(|end| self.put_back(end));
        self.put_back(begin);
    }

    fn lift(&mut self, place: usize) {
        let (previous, next) = (self.previous[place], self.next[place]);
        self.next[previous] = next;
        self.previous[next] = previous;
    }

    fn put_back(&mut self, place: usize) {
        let (previous, next) = (self.previous[place], self.next[place]);
        self.next[previous] = place;
        self.previous[next] = place;
    }

    /// The longest order that was found, and why nothing follows it.
    fn violation(&self, invariant: &str) -> Violation {
        let state = self.stuck.clone().unwrap_or_else(|| self.specification.start());
        let is_placed = |call: &usize| self.longest.contains(call);
        let left = || (0..self.calls.len()).filter(|call| !is_placed(call));
        // Whoever ends first must be next, or something that is open then.
        let first = left().filter_map(|n| Some((self.calls[n].end?, n))).min();
        let mut violation = Violation::new(invariant, "no order of the calls explains the answers");
        if let Some((end, n)) = first {
            let would = self.specification.apply(&state, &self.calls[n].op).0;
            violation = violation.expected(format_args!("{would:?} to {}", self.asked(n))).actual(self.answered(n));
            for (&call, place) in self.longest.iter().zip(1..) {
                violation = violation.event(format_args!("{place}. {} → {}", self.asked(call), self.answered(call)));
            }
            for other in left().filter(|&other| self.calls[other].begin <= end) {
                let would = self.specification.apply(&state, &self.calls[other].op).0;
                let (asked, answered) = (self.asked(other), self.answered(other));
                violation = violation.event(format_args!("does not follow: {asked} → {answered}, here {would:?}"));
            }
        }
        violation
    }

    fn asked(&self, call: usize) -> String {
        let Call { client, op, begin, end, .. } = &self.calls[call];
        let end = end.map_or_else(String::new, |end| end.to_string());
        format!("{client} {op:?} [{begin}, {end}]")
    }

    fn answered(&self, call: usize) -> String {
        self.calls[call].answer.as_ref().map_or_else(|| "?".to_owned(), |answer| format!("{answer:?}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const NAME: &str = "test.linearizable";

    /// A register that also can be swapped, and a queue.
    #[derive(Clone, Copy, Debug)]
    enum Op {
        Write(u8),
        Read,
        Swap(u8, u8),
        Put(u8),
        Take,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Answer {
        Done,
        Value(u8),
        Is(bool),
        Item(Option<u8>),
    }

    struct Object;

    impl Specification for Object {
        type Op = Op;
        type Answer = Answer;
        type State = (u8, VecDeque<u8>);

        fn start(&self) -> Self::State {
            (0, VecDeque::new())
        }

        fn apply(&self, state: &Self::State, op: &Op) -> (Answer, Self::State) {
            let (mut register, mut queue) = state.clone();
            let answer = match *op {
                Op::Write(value) => {
                    register = value;
                    Answer::Done
                }
                Op::Read => Answer::Value(register),
                Op::Swap(old, new) => {
                    let is = register == old;
                    register = if is { new } else { register };
                    Answer::Is(is)
                }
                Op::Put(value) => {
                    queue.push_back(value);
                    Answer::Done
                }
                Op::Take => Answer::Item(queue.pop_front()),
            };
            (answer, (register, queue))
        }
    }

    type Told = (&'static str, Op, Option<Answer>, u64, Option<u64>);

    fn verdict(calls: &[Told], most: u64) -> Verdict {
        let calls: Vec<_> = calls
            .iter()
            .map(|&(client, op, answer, begin, end)| Call { client: client.to_owned(), op, answer, begin, end })
            .collect();
        check(NAME, &Object, &calls, most).expect("a history")
    }

    fn done(client: &'static str, op: Op, answer: Answer, begin: u64, end: u64) -> Told {
        (client, op, Some(answer), begin, Some(end))
    }

    use Answer::{Done, Is, Item, Value};
    use Op::{Put, Read, Swap, Take, Write};

    #[test]
    fn what_some_order_explains_is_accepted() {
        // Two readers may disagree inside a long write.
        let inside =
            [done("w", Write(7), Done, 0, 90), done("r", Read, Value(7), 20, 60), done("s", Read, Value(0), 30, 50)];
        assert_eq!(verdict(&inside, 100), Verdict::Holds);
        // Intervals are closed: the two touch at 10.
        assert_eq!(
            verdict(&[done("w", Write(7), Done, 0, 10), done("r", Read, Value(0), 10, 20)], 100),
            Verdict::Holds
        );
        // A write of which nobody has heard takes effect late, or never.
        for second in [7, 0] {
            let late =
                [("w", Write(7), None, 0, None), done("r", Read, Value(0), 5, 6), done("r", Read, Value(second), 7, 8)];
            assert_eq!(verdict(&late, 100), Verdict::Holds);
        }
        // An answer that was not recorded says nothing.
        assert_eq!(verdict(&[("r", Read, None, 0, Some(1)), done("w", Write(1), Done, 2, 3)], 100), Verdict::Holds);
        assert_eq!(verdict(&[], 0), Verdict::Holds);
    }

    #[test]
    fn what_no_order_explains_is_refused_and_explained() {
        let Verdict::Violated(violation) = verdict(
            &[
                done("w", Write(1), Done, 0, 1),
                done("v", Write(2), Done, 2, 9),
                done("r", Read, Value(2), 3, 4),
                done("s", Read, Value(1), 5, 6),
            ],
            100,
        ) else {
            panic!("accepted")
        };
        assert_eq!(violation.invariant, NAME);
        assert_eq!((&*violation.expected, &*violation.actual), ("Value(2) to s Read [5, 6]", "Value(1)"));
        assert_eq!(
            violation.events,
            [
                "1. w Write(1) [0, 1] → Done",
                "2. v Write(2) [2, 9] → Done",
                "3. r Read [3, 4] → Value(2)",
                "does not follow: s Read [5, 6] → Value(1), here Value(2)"
            ]
        );
        // Explained at the longest order, not at the first that got stuck.
        let Verdict::Violated(violation) = verdict(
            &[
                done("w", Write(1), Done, 0, 10),
                done("v", Write(2), Done, 0, 10),
                done("r", Read, Value(1), 20, 21),
                done("r", Read, Value(5), 22, 23),
            ],
            100,
        ) else {
            panic!("accepted")
        };
        assert_eq!((&*violation.expected, &*violation.actual), ("Value(1) to r Read [22, 23]", "Value(5)"));
        let bad: [&[Told]; 5] = [
            &[done("w", Write(7), Done, 0, 9), done("r", Read, Value(0), 10, 20)],
            // Somebody took what nobody else could take, too.
            &[
                done("p", Put(1), Done, 0, 1),
                done("t", Take, Item(Some(1)), 2, 3),
                done("u", Take, Item(Some(1)), 2, 3),
            ],
            &[done("p", Put(1), Done, 0, 1), done("t", Take, Item(None), 2, 3)],
            // A swap that failed has no effect, and says that it had none.
            &[done("s", Swap(1, 2), Is(false), 0, 1), done("r", Read, Value(2), 2, 3)],
            // Nothing was ever written, by nobody.
            &[("w", Write(3), None, 0, None), done("r", Read, Value(4), 2, 3)],
        ];
        for calls in bad {
            assert!(matches!(verdict(calls, 100), Verdict::Violated(_)), "{calls:?}");
        }
    }

    #[test]
    fn a_search_that_gives_up_is_undecided() {
        let mut calls: Vec<Told> = Vec::new();
        let writers = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        calls.extend(writers.iter().zip(1..).map(|(name, value)| (*name, Write(value), None, 0, None)));
        calls.extend((1..=10).map(|n| done("r", Read, Value(n as u8), 10 * n, 10 * n + 1)));
        assert_eq!(verdict(&calls, 100_000), Verdict::Holds);
        calls.push(done("r", Read, Value(1), 200, 201));
        assert!(matches!(verdict(&calls, 100), Verdict::Undecided { .. }));
    }

    /// Every order that respects time, one by one.
    fn by_brute_force(
        calls: &[Call<Op, Answer>],
        placed: &mut Vec<usize>,
        state: &<Object as Specification>::State,
    ) -> bool {
        let left = || (0..calls.len()).filter(|n| !placed.contains(n));
        if left().all(|n| calls[n].end.is_none()) {
            return true;
        }
        let first_end = left().filter_map(|n| calls[n].end).min().expect("one has ended");
        let next: Vec<usize> = left().filter(|&n| calls[n].begin <= first_end).collect();
        next.into_iter().any(|n| {
            let (answer, after) = Object.apply(state, &calls[n].op);
            if calls[n].answer.is_some_and(|told| told != answer) {
                return false;
            }
            placed.push(n);
            let found = by_brute_force(calls, placed, &after);
            placed.pop();
            found
        })
    }

    fn op() -> impl Strategy<Value = (Op, Answer)> {
        let value = 1..3u8;
        prop_oneof![
            value.clone().prop_map(|v| (Write(v), Done)),
            (0..3u8).prop_map(|v| (Read, Value(v))),
            (0..3u8, value.clone(), any::<bool>()).prop_map(|(a, b, is)| (Swap(a, b), Is(is))),
            value.clone().prop_map(|v| (Put(v), Done)),
            prop::option::of(value).prop_map(|v| (Take, Item(v))),
        ]
    }

    /// Clients whose calls follow each other after waits; a last one may stay open.
    fn history() -> impl Strategy<Value = Vec<Call<Op, Answer>>> {
        let calls = prop::collection::vec((op(), 0..6u64, 0..8u64, prop::bool::weighted(0.9)), 0..4);
        prop::collection::vec((calls, prop::bool::weighted(0.2)), 1..4).prop_map(|clients| {
            let mut all = Vec::new();
            for ((calls, stays_open), name) in clients.into_iter().zip(["a", "b", "c"]) {
                let (mut now, count) = (0, calls.len());
                for (n, ((op, answer), wait, takes, is_told)) in calls.into_iter().enumerate() {
                    let begin = now + wait;
                    now = begin + takes + 1;
                    let is_open = stays_open && n + 1 == count;
                    let end = (!is_open).then_some(begin + takes);
                    let answer = (is_told && !is_open).then_some(answer);
                    all.push(Call { client: name.to_owned(), op, answer, begin, end });
                }
            }
            all
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn the_search_says_what_brute_force_says(calls in history()) {
            let found = by_brute_force(&calls, &mut Vec::new(), &Object.start());
            let verdict = check(NAME, &Object, &calls, u64::MAX).expect("a history");
            prop_assert_eq!(verdict.is_pass(), found, "{}", verdict);
        }
    }
}
