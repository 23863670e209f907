//! How many operations each thread has, learnt from the profile runs.
//!
//! A thread is known by its place in the tree of threads (the second child of the first child of the main thread), which
//! does not depend on the interleaving, as its slot and its number do. What is kept is the *most* operations that it had
//! in any profile run: a run in which a thread happens to return early would otherwise make its longer way
//! unreachable. The profile runs have fixed seeds, so that what a seed does depends neither on the seeds that were run
//! before nor on the number of workers.

use crate::runtime::rt::MAX_THREADS;

/// No thread of the profile runs.
pub(crate) const UNKNOWN: u32 = u32::MAX;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    parent: u32,
    /// By ordinal.
    children: Vec<u32>,
    /// Most operations in a run.
    own: u32,
    /// `own`, and that of all threads below.
    total: u32,
    /// Operations in the profile run that goes on.
    now: u32,
}

/// The tree of all threads of the profile runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// A parent comes before its children.
    nodes: Vec<Node>,
    /// The node of each slot's present thread.
    node: [u32; MAX_THREADS],
}

impl Counts {
    pub(crate) const fn new() -> Self {
        Self { nodes: Vec::new(), node: [UNKNOWN; MAX_THREADS] }
    }

    /// A thread begins in `slot`, as child number `ordinal` of that in `parent`. A place that is not in the tree yet is
    /// added if this is a profile run.
    pub(crate) fn enlisted(&mut self, slot: usize, parent: Option<usize>, ordinal: u32, learn: bool) {
        let parent = match parent {
            None if self.nodes.is_empty() && learn => self.add(UNKNOWN),
            None => 0,
            Some(slot) => self.child(self.node[slot], ordinal as usize, learn),
        };
        self.node[slot] = if (parent as usize) < self.nodes.len() { parent } else { UNKNOWN };
    }

    fn child(&mut self, parent: u32, ordinal: usize, learn: bool) -> u32 {
        let Some(node) = self.nodes.get(parent as usize) else { return UNKNOWN };
        match node.children.get(ordinal) {
            Some(&child) => child,
            // Children are started in the order of their ordinals.
            None if learn => self.add(parent),
            None => UNKNOWN,
        }
    }

    fn add(&mut self, parent: u32) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { parent, ..Node::default() });
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            parent.children.push(node);
        }
        node
    }

    /// The place of the slot's thread, or [`UNKNOWN`].
    pub(crate) const fn node(&self, slot: usize) -> u32 {
        self.node[slot]
    }

    /// Operations of the slot's thread, and those with the threads that it will start; 0 if it is not known.
    pub(crate) fn of(&self, slot: usize) -> (u32, u32) {
        self.nodes.get(self.node[slot] as usize).map_or((0, 0), |n| (n.own, n.total))
    }

    /// Most steps of a run, about: the sum of all.
    pub(crate) fn sum(&self) -> u32 {
        self.nodes.first().map_or(0, |root| root.total)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds what each node has to what its parent has.
    pub(crate) fn add_up(&self, values: &mut [u32]) {
        for node in (1..self.nodes.len()).rev() {
            let parent = self.nodes[node].parent as usize;
            values[parent] = values[parent].saturating_add(values[node]);
        }
    }

    /// A profile run: the thread in `slot` makes a step.
    pub(crate) fn step(&mut self, slot: usize) {
        if let Some(node) = self.nodes.get_mut(self.node[slot] as usize) {
            node.now = node.now.saturating_add(1);
        }
    }

    /// A profile run has ended.
    pub(crate) fn learn(&mut self) {
        for node in &mut self.nodes {
            node.own = node.own.max(std::mem::take(&mut node.now));
        }
        let mut totals: Vec<u32> = self.nodes.iter().map(|n| n.own).collect();
        self.add_up(&mut totals);
        for (node, total) in self.nodes.iter_mut().zip(totals) {
            node.total = total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in which the main thread starts threads in slots 1, 2, … and each thread makes the given steps.
    fn run(counts: &mut Counts, steps: &[u32]) {
        for (slot, &n) in steps.iter().enumerate() {
            counts.enlisted(slot, (slot > 0).then_some(0), slot.saturating_sub(1) as u32, true);
            (0..n).for_each(|_| counts.step(slot));
        }
        counts.learn();
    }

    #[test]
    fn the_most_steps_are_kept_and_added_up() {
        let mut counts = Counts::new();
        run(&mut counts, &[2, 5, 1]);
        run(&mut counts, &[1, 3, 4]);
        run(&mut counts, &[0, 0]);
        assert_eq!((0..3).map(|slot| counts.of(slot)).collect::<Vec<_>>(), [(2, 11), (5, 5), (4, 4)]);
        assert_eq!(counts.sum(), 11);
    }

    #[test]
    fn a_thread_is_known_by_its_place_not_by_its_slot() {
        let mut counts = Counts::new();
        run(&mut counts, &[0, 7, 3]);
        // The other order of slots, as when one is used again.
        counts.enlisted(9, None, 0, false);
        counts.enlisted(4, Some(9), 1, false);
        counts.enlisted(5, Some(9), 0, false);
        counts.enlisted(6, Some(9), 2, false);
        counts.enlisted(7, Some(5), 0, false);
        assert_eq!([4, 5, 6, 7].map(|slot| counts.of(slot)), [(3, 3), (7, 7), (0, 0), (0, 0)]);
        assert_eq!(counts.len(), 3, "only profile runs add places");
    }
}
