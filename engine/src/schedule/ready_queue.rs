//! The transactions that can be started now, in the order in which they should be.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::graph::Graph;
use super::policy::Order;

/// A queue of ready transactions.
#[derive(Debug)]
pub(super) enum ReadyQueue {
    /// First in, first out.
    Fifo(VecDeque<u32>),
    /// Lowest index first.
    Index(BinaryHeap<Reverse<u32>>),
    /// Longest path of dependants first, then lowest index.
    CriticalPath(BinaryHeap<(u32, Reverse<u32>)>),
}

impl ReadyQueue {
    pub(super) fn new(order: Order) -> Self {
        match order {
            Order::Fifo => Self::Fifo(VecDeque::new()),
            Order::Index => Self::Index(BinaryHeap::new()),
            Order::CriticalPath => Self::CriticalPath(BinaryHeap::new()),
        }
    }

    pub(super) fn push(&mut self, tx: u32, graph: &Graph) {
        match self {
            Self::Fifo(queue) => queue.push_back(tx),
            Self::Index(heap) => heap.push(Reverse(tx)),
            Self::CriticalPath(heap) => heap.push((graph.height(tx), Reverse(tx))),
        }
    }

    pub(super) fn pop(&mut self) -> Option<u32> {
        match self {
            Self::Fifo(queue) => queue.pop_front(),
            Self::Index(heap) => heap.pop().map(|Reverse(tx)| tx),
            Self::CriticalPath(heap) => heap.pop().map(|(_, Reverse(tx))| tx),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fifo(queue) => queue.len(),
            Self::Index(heap) => heap.len(),
            Self::CriticalPath(heap) => heap.len(),
        }
    }
}
