//! Whether events can be put in an order in which each read finds the write that it is to read: sequential consistency
//! of a partial execution. That is NP-complete (Gibbons and Korach, 1997), and easy for what programs do: an event that
//! writes nothing goes as soon as it can, a write only once all readers of the one before have had it, and what failed
//! once is not tried again.

use std::collections::BTreeSet;

use super::execution::{Cut, Execution, Id, Op};
use super::item::{Source, Spot};

/// What an event is to do other than in the execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) event: Id,
    pub(crate) source: Source<Id>,
    pub(crate) writes: bool,
}

/// The first `cut` events of each thread in an order in which they can be run; `None` if there is none. The same events
/// with the same sources give the same order, whatever execution they are part of. At its end the places of `finals` hold
/// what these sources left.
pub(crate) fn order(
    execution: &Execution,
    cut: &Cut,
    changes: &[Change],
    finals: &[(u32, Source<Id>)],
) -> Option<Vec<Id>> {
    let mut search = Search::new(execution, cut, changes);
    // Somebody is still to read them, so nobody may write there.
    for &(place, source) in finals {
        if let Some(slot) = execution.slot(source, place) {
            search.readers[slot] += 1;
        }
    }
    let last = |search: &[Source<Id>]| finals.iter().all(|&(place, source)| search[place as usize] == source);
    search.run().filter(|(_, left)| last(left)).map(|(order, _)| order)
}

/// What an event reads and whether it writes, with the changes.
pub(crate) fn changed(execution: &Execution, changes: &[Change], event: Id) -> (Source<Id>, bool) {
    match changes.iter().find(|c| c.event == event) {
        Some(change) => (change.source, change.writes),
        None => (execution.event(event).source, execution.event(event).writes),
    }
}

struct Search<'a> {
    execution: &'a Execution,
    cut: &'a Cut,
    changes: &'a [Change],
    done: Vec<u32>,
    order: Vec<Id>,
    /// Who wrote last, by place.
    last: Vec<Source<Id>>,
    /// How many events have still to read each write, and each first value.
    readers: Vec<u32>,
    failed: BTreeSet<Vec<u32>>,
}

/// A write has been chosen among those that can come next.
struct Branch {
    /// The next thread to try.
    next: usize,
    /// Length of the order before the write.
    mark: usize,
    before: Source<Id>,
}

impl<'a> Search<'a> {
    fn new(execution: &'a Execution, cut: &'a Cut, changes: &'a [Change]) -> Self {
        let mut search = Self {
            execution,
            cut,
            changes,
            done: vec![0; cut.len()],
            order: Vec::with_capacity(cut.iter().sum::<u32>() as usize),
            last: vec![Source::Initial; execution.places()],
            readers: vec![0; execution.events.len() + execution.places()],
            failed: BTreeSet::new(),
        };
        for (thread, &count) in cut.iter().enumerate() {
            for &id in &execution.by_thread[thread][..count as usize] {
                let source = changed(execution, changes, id).0;
                if let Some(slot) = execution.slot(source, execution.event(id).place) {
                    search.readers[slot] += 1;
                }
            }
        }
        search
    }

    /// The order, and who wrote last to each place.
    fn run(mut self) -> Option<(Vec<Id>, Vec<Source<Id>>)> {
        let total: u32 = self.cut.iter().sum();
        let mut branches = Vec::new();
        loop {
            self.read_all();
            if self.order.len() == total as usize {
                return Some((self.order, self.last));
            }
            if self.failed.is_empty() || !self.failed.contains(&self.state()) {
                branches.push(Branch { next: 0, mark: self.order.len(), before: Source::Initial });
            } else {
                self.back(branches.last()?);
            }
            while !self.branch(branches.last_mut()?) {
                branches.pop();
                let state = self.state();
                self.failed.insert(state);
                self.back(branches.last()?);
            }
        }
    }

    /// All events that write nothing and can come next do: that is never wrong.
    fn read_all(&mut self) {
        loop {
            let before = self.order.len();
            for thread in 0..self.cut.len() {
                while let Some((id, source, false)) = self.next(thread) {
                    let place = self.execution.event(id).place;
                    if source != Source::Nothing && self.last[place as usize] != source {
                        break;
                    }
                    self.take(id, source);
                }
            }
            if self.order.len() == before {
                return;
            }
        }
    }

    /// The next write, if one is left to try.
    fn branch(&mut self, branch: &mut Branch) -> bool {
        while branch.next < self.cut.len() {
            let thread = branch.next;
            branch.next += 1;
            let Some((id, source, true)) = self.next(thread) else { continue };
            let place = self.execution.event(id).place;
            let last = self.last[place as usize];
            let reads = source != Source::Nothing;
            let others = self.execution.slot(last, place).map_or(0, |slot| self.readers[slot])
                - u32::from(reads && source == last);
            if others > 0 || reads && source != last {
                continue;
            }
            branch.before = last;
            self.take(id, source);
            self.last[place as usize] = Source::Event(id);
            return true;
        }
        false
    }

    /// The next event of a thread, what it reads and whether it writes; `None` if it has to wait for a start or join.
    fn next(&self, thread: usize) -> Option<(Id, Source<Id>, bool)> {
        let index = self.done[thread];
        let spot = Spot { thread: thread as u16, index };
        if index >= self.cut[thread] || !self.execution.is_free(spot, &self.done) {
            return None;
        }
        let id = self.execution.at(spot)?;
        let (source, writes) = changed(self.execution, self.changes, id);
        Some((id, source, writes))
    }

    fn take(&mut self, id: Id, source: Source<Id>) {
        let event = self.execution.event(id);
        if let Some(slot) = self.execution.slot(source, event.place) {
            self.readers[slot] -= 1;
        }
        self.done[event.spot.thread as usize] += 1;
        self.order.push(id);
    }

    /// Takes back the write of a branch and what followed it.
    fn back(&mut self, branch: &Branch) {
        while self.order.len() > branch.mark {
            let Some(id) = self.order.pop() else { break };
            let event = self.execution.event(id);
            let (source, writes) = changed(self.execution, self.changes, id);
            if let Some(slot) = self.execution.slot(source, event.place) {
                self.readers[slot] += 1;
            }
            self.done[event.spot.thread as usize] -= 1;
            if writes {
                self.last[event.place as usize] = branch.before;
            }
        }
    }

    /// What decides whether the rest can be done.
    fn state(&self) -> Vec<u32> {
        let last = self.last.iter().map(|&source| match source {
            Source::Event(id) => id,
            _ => u32::MAX,
        });
        self.done.iter().copied().chain(last).collect()
    }
}

/// Whether a run that begins with `order`, goes on with `event` and then always with the first thread that can is the
/// execution. `promised` are the acquisitions of mutexes that are kept for them.
pub(crate) fn is_completed_by_default(
    execution: &Execution,
    order: &[Id],
    event: Id,
    promised: &[(Spot, u32)],
) -> bool {
    let mut run = Run {
        execution,
        done: vec![0; execution.threads.len()],
        last: vec![Source::Initial; execution.places()],
        held: vec![false; execution.places()],
        made: 0,
    };
    if !order.iter().chain([&event]).all(|&id| run.does(id)) {
        return false;
    }
    loop {
        match run.next(promised) {
            None => return run.made == execution.executed,
            Some(id) => {
                if !execution.is_executed(id) || !run.does(id) {
                    return false;
                }
            }
        }
    }
}

struct Run<'a> {
    execution: &'a Execution,
    done: Vec<u32>,
    last: Vec<Source<Id>>,
    held: Vec<bool>,
    made: usize,
}

impl Run<'_> {
    /// Makes an event; false if it would not read what it does in the execution.
    fn does(&mut self, id: Id) -> bool {
        let event = self.execution.event(id);
        self.done[event.spot.thread as usize] += 1;
        self.made += 1;
        if matches!(event.op, Op::Local | Op::Yield) {
            return true;
        }
        let place = event.place as usize;
        if event.op.reads() && self.last[place] != event.source {
            return false;
        }
        if event.writes {
            self.last[place] = Source::Event(id);
        }
        match event.op {
            Op::Lock | Op::TryLock => self.held[place] |= event.writes,
            Op::Unlock => self.held[place] = false,
            _ => {}
        }
        true
    }

    fn next(&self, promised: &[(Spot, u32)]) -> Option<Id> {
        let able = |thread: u16| {
            let spot = Spot { thread, index: self.done[thread as usize] };
            let id = self.execution.at(spot).filter(|_| self.execution.is_free(spot, &self.done))?;
            let event = self.execution.event(id);
            (event.op != Op::Lock || !self.held[event.place as usize]).then_some(id)
        };
        let kept = promised.iter().filter(|(spot, _)| self.done[spot.thread as usize] == spot.index);
        let keeps = kept.into_iter().find_map(|(spot, _)| able(spot.thread));
        // A mutex that is free and promised is taken by whom it is promised to.
        keeps.or_else(|| (0..self.done.len() as u16).find_map(able))
    }
}

#[cfg(test)]
mod tests {
    use super::super::execution::Sketch;
    use super::*;

    /// Splitmix64.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        crate::choice::finalise(*state)
    }

    /// Threads of loads, stores and read-modify-writes whose sources are any write of the place, or the first value.
    fn events(state: &mut u64) -> Vec<Vec<Sketch>> {
        let mut threads: Vec<Vec<Sketch>> = Vec::new();
        for _ in 0..3 {
            let n = 1 + random(state) % 4;
            let event = |state: &mut u64| {
                let op = [Op::Load, Op::Load, Op::Store, Op::Rmw][(random(state) % 4) as usize];
                (op, (random(state) % 2) as u32, Source::Nothing, op != Op::Load)
            };
            threads.push((0..n).map(|_| event(state)).collect());
        }
        let all: Vec<_> = threads.iter().flatten().copied().collect();
        for (id, event) in threads.iter_mut().flatten().enumerate().filter(|(_, e)| e.0 != Op::Store) {
            let writes = (0..all.len()).filter(|&w| w != id && all[w].1 == event.1 && all[w].3);
            let sources: Vec<_> = writes.map(|w| Source::Event(w as Id)).chain([Source::Initial]).collect();
            event.2 = sources[random(state) as usize % sources.len()];
        }
        threads
    }

    /// Whether the events that are left can be run in any order at all.
    fn can_go_on(execution: &Execution, done: &mut Vec<u32>, last: &mut Vec<Source<Id>>) -> bool {
        let next = |thread: usize, done: &[u32]| execution.at(Spot { thread: thread as u16, index: done[thread] });
        if (0..done.len()).all(|thread| next(thread, done).is_none()) {
            return true;
        }
        (0..done.len()).any(|thread| {
            let Some(id) = next(thread, done) else { return false };
            let event = execution.event(id);
            let place = event.place as usize;
            if event.op.reads() && last[place] != event.source {
                return false;
            }
            let before = last[place];
            done[thread] += 1;
            if event.writes {
                last[place] = Source::Event(id);
            }
            let good = can_go_on(execution, done, last);
            done[thread] -= 1;
            last[place] = before;
            good
        })
    }

    #[test]
    fn an_order_is_found_if_there_is_one() {
        let (mut state, mut possible, mut searched) = (7, 0, 0);
        for _ in 0..20_000 {
            let execution = Execution::of_events(&events(&mut state), 2);
            let cut: Cut = execution.by_thread.iter().map(|events| events.len() as u32).collect();
            let expected = can_go_on(&execution, &mut vec![0; 3], &mut vec![Source::Initial; 2]);
            let found = order(&execution, &cut, &[], &[]);
            assert_eq!(found.is_some(), expected, "{:?}", execution.events);
            possible += u32::from(expected);
            let Some(found) = found else { continue };
            searched += u32::from(!found.is_sorted());
            let mut last = [Source::Initial; 2];
            for &id in &found {
                let event = execution.event(id);
                assert!(!event.op.reads() || last[event.place as usize] == event.source);
                if event.writes {
                    last[event.place as usize] = Source::Event(id);
                }
            }
        }
        assert!(possible > 500 && searched > 300, "{possible} possible, {searched} in another order than the threads");
    }
}
