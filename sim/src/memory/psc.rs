//! The SC axiom: the partial SC order is acyclic.
//!
//! As in the paper, with E^sc the SC events and F^sc the SC fences among them,
//!
//! ```text
//! scb = po ∪ (po ; hb ; po) ∪ hb|loc ∪ mo ∪ fr
//! psc = ([E^sc] ∪ [F^sc];hb?) ; scb ; ([E^sc] ∪ hb?;[F^sc])  ∪  [F^sc] ; (hb ∪ hb;eco;hb) ; [F^sc]
//! ```
//!
//! but for `po ; hb ; po`: the paper has po|≠loc in both places. C++20 (P0668R5, *strongly happens before*), whose rule is
//! Rust's, has not. The operations in the middle may be any: a spawn, a join, a lock, a channel.
//!
//! Kept are the reflexive and transitive closure of psc over the SC events, and for each event which SC events are
//! sources of an edge into it. A new event has no successors in program order and reads-from, so the new edges are
//! those into it, and those from it and from the SC fences before it to what it is before by mo and fr.

use std::sync::atomic::Ordering;

use super::bits::Bits;
use super::clock::Clock;
use super::graph::{Draft, Event, Graph, INIT, Id, Kind};

/// The order so far.
#[derive(Clone, Default)]
pub(crate) struct Psc {
    /// What can be reached from each SC event, itself included.
    reach: Vec<Bits>,
    fences: Vec<Fence>,
}

/// An SC fence.
#[derive(Clone)]
struct Fence {
    node: usize,
    thread: u32,
    position: u32,
    hb: Clock,
}

/// What a new event adds.
#[derive(Default)]
pub(crate) struct Edges {
    is_node: bool,
    fences_before: Bits,
    /// Sources of scb edges into it.
    into: Bits,
    /// SC fences that happen before something that is before it by eco.
    eco_into: Bits,
    /// Sources of psc edges into it, if it is an SC event.
    sources: Bits,
    /// Where psc edges from the new event go.
    targets: Bits,
    /// Where psc edges from the SC fences before it go, because of it.
    fence_targets: Bits,
    /// Events after it by mo or fr.
    after: Vec<Id>,
    /// Those after it by eco only.
    eco_after: Vec<Id>,
}

impl Psc {
    /// Whether there is nothing to watch: no SC event so far, and the next is none.
    pub(crate) fn is_idle(&self, order: Ordering) -> bool {
        self.reach.is_empty() && order != Ordering::SeqCst
    }

    /// The SC fences that happen after an event.
    fn fences_after(&self, e: &Event, out: &mut Bits) {
        for fence in &self.fences {
            if e.thread != INIT && fence.hb.includes(e.thread, e.position) {
                out.insert(fence.node);
            }
        }
    }

    fn reachable(&self, from: &Bits) -> Bits {
        let mut out = Bits::new();
        from.iter().for_each(|n| out.union(&self.reach[n]));
        out
    }

    /// Whether the edges leave the order acyclic.
    pub(crate) fn admits(&self, edges: &Edges) -> bool {
        if !edges.fences_before.is_empty() && self.reachable(&edges.fence_targets).meets(&edges.fences_before) {
            return false;
        }
        !edges.is_node || !self.reachable(&edges.targets).meets(&edges.sources)
    }
}

/// The event itself if it is SC, and the SC fences before it: what an scb edge out of it comes from.
fn sources(e: &Event, out: &mut Bits) {
    out.union(&e.fences_before);
    if let Some(node) = e.node {
        out.insert(node as usize);
    }
}

impl Edges {
    /// What the draft adds, if what `hb` includes happens before it.
    pub(crate) fn of(graph: &Graph, draft: &Draft, hb: &Clock) -> Self {
        let mut edges = Self { is_node: draft.order == Ordering::SeqCst, ..Self::default() };
        for fence in &graph.psc.fences {
            if hb.includes(fence.thread, fence.position) {
                edges.fences_before.insert(fence.node);
            }
        }
        edges.by_program_order(graph, draft);
        if draft.kind != Kind::Fence {
            edges.by_location(graph, draft, hb);
        }
        edges.sources.union(&edges.into);
        if draft.kind == Kind::Fence && edges.is_node {
            edges.by_hb_into_fence(graph, hb);
        }
        edges
    }

    /// po and po ; hb ; po.
    fn by_program_order(&mut self, graph: &Graph, draft: &Draft) {
        let Some(view) = graph.views.get(draft.thread as usize) else { return };
        if let Some(&last) = view.events.last() {
            self.into.union(&graph.event(last).sum);
        }
        for (thread, other) in graph.views.iter().enumerate().filter(|(t, _)| *t != draft.thread as usize) {
            // The last of the thread's operations that happen before the draft's predecessor is the one that
            // synchronises. What comes before that one counts; it may be no event: a spawn, the end of a thread, …
            let before = view.hb.get(thread as u32).saturating_sub(1);
            let end = other.events.partition_point(|&id| graph.event(id).position < before);
            if let Some(&x) = other.events[..end].last() {
                self.into.union(&graph.event(x).sum);
            }
        }
    }

    /// hb|loc, mo, fr and eco.
    fn by_location(&mut self, graph: &Graph, draft: &Draft, hb: &Clock) {
        let writes = draft.kind.writes();
        for (i, &store) in graph.mo[draft.loc as usize].iter().enumerate() {
            let s = graph.event(store);
            if i <= draft.at {
                self.eco_into.union(&s.fences_before);
                if writes || graph.known(hb, store) {
                    sources(s, &mut self.into);
                }
            } else {
                self.after.push(store);
                graph.psc.fences_after(s, &mut self.targets);
                if let Some(node) = s.node {
                    self.targets.insert(node as usize);
                }
            }
            for &reader in &s.readers {
                let r = graph.event(reader);
                // From-read into a write; into a load by way of a store between.
                let before = i < draft.at || writes && i == draft.at;
                if before {
                    self.eco_into.union(&r.fences_before);
                }
                if before && writes || graph.known(hb, reader) {
                    sources(r, &mut self.into);
                }
                if i > draft.at && r.kind == Kind::Load {
                    self.eco_after.push(reader);
                    graph.psc.fences_after(r, &mut self.fence_targets);
                }
            }
        }
        self.fence_targets.union(&self.targets);
    }

    /// Everything that has an edge to a new SC fence.
    fn by_hb_into_fence(&mut self, graph: &Graph, hb: &Clock) {
        self.sources.union(&self.fences_before);
        for e in graph.events.iter().filter(|e| e.thread != INIT && hb.includes(e.thread, e.position)) {
            self.sources.union(&e.into);
            self.sources.union(&e.eco_into);
        }
    }
}

/// The event joins the order.
pub(crate) fn enter(graph: &mut Graph, event: &mut Event, edges: Edges) {
    let mut from_fences = graph.psc.reachable(&edges.fence_targets);
    let mut from_event = graph.psc.reachable(&edges.targets);
    if edges.is_node {
        let node = graph.psc.reach.len();
        event.node = Some(node as u32);
        from_event.insert(node);
        if from_fences.meets(&edges.sources) {
            from_fences.union(&from_event);
        }
        for reach in &mut graph.psc.reach {
            if reach.meets(&edges.sources) {
                reach.union(&from_event);
            }
        }
        graph.psc.reach.push(from_event);
        if event.kind == Kind::Fence {
            let (thread, position, hb) = (event.thread, event.position, event.hb.clone());
            graph.psc.fences.push(Fence { node, thread, position, hb });
        }
    }
    if !edges.fences_before.is_empty() && !from_fences.is_empty() {
        for reach in &mut graph.psc.reach {
            if reach.meets(&edges.fences_before) {
                reach.union(&from_fences);
            }
        }
    }
    event.fences_before = edges.fences_before;
    event.into = edges.into;
    event.eco_into = edges.eco_into;
    let mut own = Bits::new();
    sources(event, &mut own);
    event.sum.union(&own);
    for id in edges.after {
        graph.events[id as usize].into.union(&own);
        graph.events[id as usize].eco_into.union(&event.fences_before);
    }
    for id in edges.eco_after {
        graph.events[id as usize].eco_into.union(&event.fences_before);
    }
}
