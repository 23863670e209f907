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
/// with the same sources give the same order, whatever execution they are part of.
pub(crate) fn order(execution: &Execution, cut: &Cut, changes: &[Change]) -> Option<Vec<Id>> {
    Search::new(execution, cut, changes).run()
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

    fn run(mut self) -> Option<Vec<Id>> {
        let total: u32 = self.cut.iter().sum();
        let mut branches = Vec::new();
        loop {
            self.read_all();
            if self.order.len() == total as usize {
                return Some(self.order);
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
/// execution. `promised` names mutexes that are kept for a thread: by thread, number of its event, and mutex.
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
        if event.op == Op::Local {
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
        let kept: Vec<_> = promised.iter().filter(|(spot, _)| self.done[spot.thread as usize] == spot.index).collect();
        let able = |thread: u16| {
            let spot = Spot { thread, index: self.done[thread as usize] };
            let id = self.execution.at(spot).filter(|_| self.execution.is_free(spot, &self.done))?;
            let event = self.execution.event(id);
            (event.op != Op::Lock || !self.held[event.place as usize]).then_some(id)
        };
        let keeps = kept.iter().find_map(|(spot, _)| able(spot.thread));
        keeps.or_else(|| {
            (0..self.done.len() as u16).filter_map(able).find(|&id| {
                let event = self.execution.event(id);
                event.op != Op::Lock || kept.iter().all(|&&(_, place)| place != event.place)
            })
        })
    }
}
