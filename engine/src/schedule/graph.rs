//! Which transaction of a block must wait for which: the dependency graph (items N23, O4).

use petgraph::Directed;
use petgraph::csr::Csr;

use crate::digest_map::DigestMap;
use crate::ledger::block::Block;
use crate::ledger::tx::{OutPoint, Tx, TxId};

/// Why one transaction waits for another. Both reasons may hold at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// Outputs of the earlier transaction that the later one consumes.
    pub outputs: u32,
    /// Records that both want to consume, the later one being the next to try after the earlier. It must know whether
    /// the earlier succeeded.
    pub rivalries: u32,
}

/// Where an input of a transaction is to be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// The earlier transaction that creates the record, if it succeeds, and the position of the output in it.
    pub(super) creator: Option<(u32, u32)>,
    /// The last earlier transaction that wants the same record, and the position of the input in it.
    pub(super) rival: Option<(u32, u32)>,
}

/// The dependency graph of one block. Nodes are indices of transactions; every edge points to a higher index, so the
/// order of the block is a topological order.
///
/// It depends on the block alone, so one graph serves any number of executions.
#[derive(Clone, Debug)]
pub struct Graph {
    edges: Csr<(), Dependency, Directed, u32>,
    predecessors: Vec<u32>,
    levels: Vec<u32>,
    heights: Vec<u32>,
    depth: u32,
    /// Sources of all inputs of all transactions, one after the other.
    sources: Vec<Source>,
    /// Where the sources of each transaction start.
    first_source: Vec<u32>,
    /// For a transaction with the id of an earlier one: the index of the earlier one.
    twins: Vec<Option<u32>>,
    conflicts: u32,
}

impl Graph {
    /// Analyses `block`.
    ///
    /// # Panics
    /// If the block has more than `u32::MAX` transactions or inputs.
    #[must_use]
    pub fn new(block: &Block) -> Self {
        let mut analysis = Analysis::default();
        for tx in &block.txs {
            analysis.add(block, tx);
        }
        analysis.finish()
    }

    /// Number of transactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.predecessors.len()
    }

    /// Whether the block has no transactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.predecessors.is_empty()
    }

    /// The transactions that wait for `tx`, by ascending index.
    #[must_use]
    pub fn successors(&self, tx: u32) -> &[u32] {
        self.edges.neighbors_slice(tx)
    }

    /// For how many transactions `tx` waits.
    #[must_use]
    pub fn predecessors(&self, tx: u32) -> u32 {
        self.predecessors[tx as usize]
    }

    pub(super) fn predecessor_counts(&self) -> &[u32] {
        &self.predecessors
    }

    /// All edges as (earlier, later, why), ordered by the two indices.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, Dependency)> + '_ {
        (0u32..).take(self.len()).flat_map(|from| {
            self.successors(from).iter().zip(self.edges.edges_slice(from)).map(move |(&to, why)| (from, to, *why))
        })
    }

    /// Number of edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.edges.edge_count()
    }

    /// Number of transactions that wait for another one.
    #[must_use]
    pub fn dependent_count(&self) -> usize {
        self.predecessors.iter().filter(|&&n| n > 0).count()
    }

    /// Number of inputs that an earlier transaction of the block wants as well.
    #[must_use]
    pub fn conflict_count(&self) -> usize {
        self.conflicts as usize
    }

    /// Length of the critical path in transactions: the least number of waves, and the bound that no number of workers
    /// can beat (item N23). 0 for an empty block.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Length in transactions of the longest path that ends before `tx`: the wave in which it can run at the earliest.
    #[must_use]
    pub fn level(&self, tx: u32) -> u32 {
        self.levels[tx as usize]
    }

    /// Length in transactions of the longest path that starts with `tx`, itself included.
    #[must_use]
    pub fn height(&self, tx: u32) -> u32 {
        self.heights[tx as usize]
    }

    /// Number of transactions on each level: the widths of the waves.
    #[must_use]
    pub fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.depth as usize];
        for &level in &self.levels {
            widths[level as usize] += 1;
        }
        widths
    }

    pub(super) fn sources(&self, tx: u32) -> &[Source] {
        let i = tx as usize;
        let end = self.first_source.get(i + 1).map_or(self.sources.len(), |&e| e as usize);
        &self.sources[self.first_source[i] as usize..end]
    }

    pub(super) fn twin(&self, tx: u32) -> Option<u32> {
        self.twins[tx as usize]
    }
}

/// The graph while the block is read from its start to its end.
#[derive(Default)]
struct Analysis {
    ids: DigestMap<TxId, u32>,
    last_spender: DigestMap<OutPoint, (u32, u32)>,
    edges: Vec<(u32, u32, Dependency)>,
    sources: Vec<Source>,
    first_source: Vec<u32>,
    twins: Vec<Option<u32>>,
    conflicts: u32,
}

impl Analysis {
    fn add(&mut self, block: &Block, tx: &Tx) {
        let at = u32::try_from(self.twins.len()).expect("a block has at most 2^32 - 1 transactions");
        let start = u32::try_from(self.sources.len()).expect("a block has at most 2^32 - 1 inputs");
        self.first_source.push(start);
        let twin = self.ids.get(&tx.id).copied();
        self.twins.push(twin);
        if twin.is_some() {
            // It fails whatever the others do, so it waits for nobody.
            self.sources.resize(self.sources.len() + tx.inputs.len(), Source::default());
            return;
        }
        for (position, outpoint) in (0u32..).zip(&tx.inputs) {
            let source = Source { creator: self.creator(block, outpoint), rival: self.rival(at, position, outpoint) };
            if let Some((creator, _)) = source.creator {
                self.edges.push((creator, at, Dependency { outputs: 1, rivalries: 0 }));
            }
            if let Some((rival, _)) = source.rival {
                self.edges.push((rival, at, Dependency { outputs: 0, rivalries: 1 }));
                self.conflicts += 1;
            }
            self.sources.push(source);
        }
        // Only now: a transaction cannot consume its own outputs.
        self.ids.insert(tx.id, at);
    }

    fn creator(&self, block: &Block, outpoint: &OutPoint) -> Option<(u32, u32)> {
        let &creator = self.ids.get(&outpoint.tx)?;
        let outputs = &block.txs[creator as usize].outputs;
        (0u32..).zip(outputs).find(|(_, o)| o.index == outpoint.index).map(|(position, _)| (creator, position))
    }

    fn rival(&mut self, at: u32, position: u32, outpoint: &OutPoint) -> Option<(u32, u32)> {
        let last = self.last_spender.get(outpoint).copied();
        match last {
            // The same record twice in one transaction: what counts is who wanted it before this transaction.
            Some((same, first)) if same == at => {
                self.sources[self.first_source[at as usize] as usize + first as usize].rival
            }
            _ => {
                self.last_spender.insert(*outpoint, (at, position));
                last
            }
        }
    }

    fn finish(self) -> Graph {
        let n = self.twins.len();
        let edges = build(n, self.edges);
        let mut predecessors = vec![0; n];
        let mut levels = vec![0; n];
        let mut heights = vec![1; n];
        for from in 0..n {
            for &to in edges.neighbors_slice(from as u32) {
                predecessors[to as usize] += 1;
                levels[to as usize] = levels[to as usize].max(levels[from] + 1);
            }
        }
        for from in (0..n).rev() {
            let below = edges.neighbors_slice(from as u32).iter().map(|&to| heights[to as usize]).max();
            heights[from] = 1 + below.unwrap_or(0);
        }
        let depth = levels.iter().max().map_or(0, |deepest| deepest + 1);
        Graph {
            edges,
            predecessors,
            levels,
            heights,
            depth,
            sources: self.sources,
            first_source: self.first_source,
            twins: self.twins,
            conflicts: self.conflicts,
        }
    }
}

fn build(nodes: usize, mut edges: Vec<(u32, u32, Dependency)>) -> Csr<(), Dependency, Directed, u32> {
    edges.sort_unstable_by_key(|&(from, to, _)| (from, to));
    edges.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2.outputs += next.2.outputs;
            kept.2.rivalries += next.2.rivalries;
        }
        same
    });
    let mut graph = Csr::from_sorted_edges(&edges).expect("sorted and without repetitions");
    while graph.node_count() < nodes {
        graph.add_node(());
    }
    graph
}
