//! Whether a revisited graph is consistent: it is built once more, event by event, each of which must be admitted.

use super::clock::Clock;
use super::graph::{Draft, Graph, Id, Kind};
use super::guide::{Entry, Guide, Want};
use super::revisit::{Again, NEW, New};

impl Guide {
    /// Whether the revisited graph is RC11-consistent: it is built once more, event by event.
    pub(super) fn is_consistent(
        &self,
        graph: &Graph,
        kept: &[bool],
        again: (Id, Again),
        new: &New,
        behind: Id,
    ) -> bool {
        let orders: Vec<Vec<Id>> =
            (0..graph.mo.len()).map(|loc| self.order(graph, loc, kept, Some(again), new, behind)).collect();
        let mut build = Build {
            guide: self,
            old: graph,
            kept,
            again,
            new,
            orders,
            graph: Graph::default(),
            ids: vec![None; graph.events.len()],
            new_id: None,
            at: vec![0; self.logs.len()],
            begin: vec![None; self.logs.len()],
        };
        build.run()
    }
}

/// A graph that is built from a part of another.
struct Build<'a> {
    guide: &'a Guide,
    old: &'a Graph,
    kept: &'a [bool],
    again: (Id, Again),
    new: &'a New,
    orders: Vec<Vec<Id>>,
    graph: Graph,
    ids: Vec<Option<Id>>,
    new_id: Option<Id>,
    /// How far each thread has come in its log.
    at: Vec<usize>,
    /// What a started thread begins with.
    begin: Vec<Option<Clock>>,
}

/// How far a thread got.
enum Step {
    Done,
    Waits,
    Ends,
    Inconsistent,
}

impl Build<'_> {
    fn run(&mut self) -> bool {
        for mo in &self.old.mo {
            let e = self.old.event(mo[0]);
            self.graph.location(e.value, e.place);
            self.ids[mo[0] as usize] = Some(self.graph.events.len() as Id - 1);
        }
        let mut wanted = self.kept.iter().filter(|k| **k).count() + 1;
        wanted -= self.old.mo.len();
        let mut added = 0;
        loop {
            // Threads that start or end let others go on, too.
            let mut goes_on = false;
            for thread in 0..self.at.len() as u32 {
                loop {
                    let is_event = matches!(self.entry(thread), None | Some(Entry::Event(_)));
                    match self.step(thread) {
                        Step::Done => {
                            added += usize::from(is_event);
                            goes_on = true;
                        }
                        Step::Waits | Step::Ends => break,
                        Step::Inconsistent => return false,
                    }
                }
            }
            if !goes_on {
                return added == wanted;
            }
        }
    }

    fn entry(&self, thread: u32) -> Option<Entry> {
        self.guide.logs[thread as usize].get(self.at[thread as usize]).copied()
    }

    fn step(&mut self, thread: u32) -> Step {
        let Some(entry) = self.entry(thread) else {
            if thread != self.new.thread || self.new_id.is_some() {
                return Step::Ends;
            }
            return self.add_new();
        };
        match entry {
            Entry::Begin => {
                let Some(begin) = &self.begin[thread as usize] else { return Step::Waits };
                let begin = begin.clone();
                self.graph.view(thread).hb.join(&begin);
            }
            Entry::Spawn { child, position } => {
                let view = self.graph.view(thread);
                view.hb.raise(thread, position + 1);
                self.begin[child as usize] = Some(view.hb.clone());
            }
            Entry::Join { child, position } => {
                if self.entry(child).is_some() {
                    return Step::Waits;
                }
                let mut hb = self.graph.view(child).hb.clone();
                hb.raise(child, position + 1);
                self.graph.view(thread).hb.join(&hb);
            }
            Entry::Event(id) if !self.kept[id as usize] => return Step::Ends,
            Entry::Event(id) => match self.add_old(id) {
                Step::Done => {}
                other => return other,
            },
        }
        self.at[thread as usize] += 1;
        Step::Done
    }

    fn id(&self, id: Id) -> Option<Id> {
        if id == NEW { self.new_id } else { self.ids[id as usize] }
    }

    fn add_old(&mut self, id: Id) -> Step {
        let e = self.old.event(id);
        let (mut kind, mut order, mut source) = (e.kind, e.order, e.rf);
        if id == self.again.0
            && let Again::Reads(again, with) = self.again.1
        {
            source = Some(NEW);
            kind = again;
            if matches!(self.guide.marks[id as usize].want, Want::Cas { .. }) {
                order = with;
            }
        }
        let (thread, position) = (e.thread, e.position);
        match self.place(id, kind, e.loc, source) {
            Ok(at) => {
                let draft = Draft { thread, kind, loc: e.loc, order, at };
                if !self.graph.admits(&draft) {
                    return Step::Inconsistent;
                }
                self.ids[id as usize] = Some(self.graph.add(&draft, position, e.value, e.place));
                Step::Done
            }
            Err(step) => step,
        }
    }

    fn add_new(&mut self) -> Step {
        let new = *self.new;
        let source = new.kind.reads().then(|| self.old.mo[new.loc as usize][new.at]);
        match self.place(NEW, new.kind, new.loc, source) {
            Ok(at) => {
                let draft = Draft { thread: new.thread, kind: new.kind, loc: new.loc, order: new.order, at };
                if !self.graph.admits(&draft) {
                    return Step::Inconsistent;
                }
                let place = self.old.events[0].place;
                self.new_id = Some(self.graph.add(&draft, new.position, new.value, place));
                Step::Done
            }
            Err(step) => step,
        }
    }

    /// Where an event goes in the modification order of the new graph.
    fn place(&self, id: Id, kind: Kind, loc: u32, source: Option<Id>) -> Result<usize, Step> {
        if kind == Kind::Fence {
            return Ok(0);
        }
        let source = match source {
            Some(source) => Some(self.id(source).ok_or(Step::Waits)?),
            None => None,
        };
        let behind = if kind.writes() {
            let order = &self.orders[loc as usize];
            let at = order.iter().position(|&s| s == id).ok_or(Step::Inconsistent)?;
            // The first value is always there.
            order[..at].iter().rev().find_map(|&s| self.id(s))
        } else {
            source
        };
        match (behind, source) {
            // A read-modify-write behind another store than the one it reads.
            (Some(behind), Some(source)) if behind != source => Err(Step::Inconsistent),
            (Some(behind), _) => Ok(self.graph.place_of(behind)),
            (None, _) => Err(Step::Inconsistent),
        }
    }
}
