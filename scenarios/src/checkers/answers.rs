//! The ledger's answers against those of the naive ledger: whatever happens at the same time, some order of all calls
//! explains every answer (items U13–U20, U28, U32, U34, decisions O7–O10, O12–O16).
//!
//! A query that has seen half a block, a transaction that was checked against a state that had gone, a clean-up in
//! steps: each gives an answer that no order of whole calls gives.

use std::fmt;

use interleaf::note;
use interleaf::sync::Arc;
use interleaf_engine::ledger::{
    Address, Amount, Block, BlockId, Genesis, Ledger, LedgerConfig, NaiveLedger, OutPoint, Tx, TxId,
};
use interleaf_invariants::Verdict;
use interleaf_invariants::history::linearizability::{self, Specification};
use interleaf_invariants::history::{Call, Client, Clock};

/// The name of what [`check`] checks.
pub const NAME: &str = "ledger.answers_fit_one_order";

/// States after which a history is undecided. Those of the stories need some hundred.
const MOST: u64 = 200_000;

/// What a ledger can be asked.
#[derive(Clone, PartialEq, Eq)]
pub enum Op {
    /// `add_tx`.
    AddTx(Arc<Tx>),
    /// `add_block`, `roll_back` or `switch_fork`: how many blocks off, which on.
    Switch(usize, Vec<Arc<Block>>),
    /// `get_balance_available_with_pool`.
    Balance(Address),
    /// `get_utxo_with_pool`: whether the record can be spent now.
    CanBeSpent(OutPoint),
    /// `is_not_spent_key_with_pool`.
    IsNotSpent(OutPoint),
    /// `transaction_height`.
    Height(TxId),
    /// `pool_batch`, of everything.
    Batch,
    /// `current_block`, without a lock.
    Tip,
    /// `state`.
    Everything,
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddTx(tx) => write!(f, "add_tx {:?}", tx.id),
            Self::Switch(off, on) => {
                write!(f, "{off} off, on {:?}", on.iter().map(|block| block.id).collect::<Vec<_>>())
            }
            Self::Balance(owner) => write!(f, "balance of {owner:?}"),
            Self::CanBeSpent(key) => write!(f, "can be spent {key:?}"),
            Self::IsNotSpent(key) => write!(f, "is not spent {key:?}"),
            Self::Height(id) => write!(f, "height of {id:?}"),
            Self::Batch => f.write_str("pool"),
            Self::Tip => f.write_str("tip"),
            Self::Everything => f.write_str("everything"),
        }
    }
}

/// What a ledger can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Whether it was done, or whether it is so.
    Is(bool),
    /// How much.
    Amount(Amount),
    /// At which height, if anywhere.
    Height(Option<u64>),
    /// Which transactions, in order.
    Txs(Vec<TxId>),
    /// Which block.
    Block(BlockId),
    /// The newest block, the waiting transactions with their ages, what the blocks leave unspent.
    State(BlockId, Vec<(TxId, u64)>, Vec<OutPoint>),
}

impl Answer {
    /// Whether it was done.
    #[must_use]
    pub fn is_yes(&self) -> bool {
        *self == Self::Is(true)
    }
}

/// One who asks a ledger and remembers the answers.
#[derive(Debug)]
pub struct Asker<'a> {
    ledger: &'a Ledger,
    client: Client<'a, Op, Answer>,
}

impl<'a> Asker<'a> {
    /// One who has not asked yet.
    #[must_use]
    pub fn new(ledger: &'a Ledger, clock: &'a Clock, name: &'static str) -> Self {
        Self { ledger, client: Client::new(clock, name) }
    }

    /// Asks, and tells the trace.
    #[track_caller]
    pub fn ask(&mut self, op: Op) -> &Answer {
        let ledger = self.ledger;
        self.client.call(op, |op| {
            let answer = ask(ledger, op);
            note(|| format!("{op:?} → {answer:?}"));
            answer
        })
    }

    /// All that was asked.
    #[must_use]
    pub fn into_calls(self) -> Vec<Call<Op, Answer>> {
        self.client.into_calls()
    }
}

#[track_caller]
fn ask(ledger: &Ledger, op: &Op) -> Answer {
    const READS: &str = "the store can be read";
    match op {
        Op::AddTx(tx) => Answer::Is(ledger.add_tx(Tx::clone(tx)).is_ok()),
        Op::Switch(0, on) if on.len() == 1 => Answer::Is(ledger.add_block(Block::clone(&on[0])).is_ok()),
        Op::Switch(1, on) if on.is_empty() => Answer::Is(ledger.roll_back().is_ok()),
        Op::Switch(off, on) => {
            let on = on.iter().map(|block| Block::clone(block)).collect();
            Answer::Is(ledger.switch_fork(*off, on).is_ok())
        }
        Op::Balance(owner) => Answer::Amount(ledger.get_balance_available_with_pool(*owner).expect(READS)),
        Op::CanBeSpent(key) => Answer::Is(ledger.get_utxo_with_pool(*key).expect(READS).is_some()),
        Op::IsNotSpent(key) => Answer::Is(ledger.is_not_spent_key_with_pool(*key).expect(READS)),
        Op::Height(id) => Answer::Height(ledger.transaction_height(*id).expect(READS)),
        Op::Batch => Answer::Txs(ledger.pool_batch(usize::MAX).iter().map(|tx| tx.id).collect()),
        Op::Tip => Answer::Block(ledger.current_block().meta.id),
        Op::Everything => {
            let state = ledger.state().expect(READS);
            let pool = state.pool.entries.iter().map(|entry| (entry.tx.id, entry.since_height)).collect();
            Answer::State(state.confirmed.tip.id, pool, state.confirmed.utxos.into_keys().collect())
        }
    }
}

/// What the naive ledger answers.
struct Naive(NaiveLedger);

impl Specification for Naive {
    type Op = Op;
    type Answer = Answer;
    type State = NaiveLedger;

    fn start(&self) -> NaiveLedger {
        self.0.clone()
    }

    fn apply(&self, state: &NaiveLedger, op: &Op) -> (Answer, NaiveLedger) {
        let mut after = state.clone();
        let is_change = |key: &OutPoint| {
            let parent = state.pool().iter().find(|(tx, _)| tx.id == key.tx);
            parent.is_some_and(|(tx, _)| tx.outputs.iter().any(|o| o.index == key.index && o.owner == tx.sender))
        };
        let is_unspent = |key: &OutPoint| state.unspent().contains_key(key) || is_change(key);
        let answer = match op {
            Op::AddTx(tx) => Answer::Is(after.add_tx(Arc::clone(tx))),
            Op::Switch(off, on) => Answer::Is(after.switch(*off, on)),
            Op::Balance(owner) => Answer::Amount(state.balance(*owner)),
            Op::CanBeSpent(key) => Answer::Is(is_unspent(key) && !state.is_reserved(key)),
            Op::IsNotSpent(key) => Answer::Is(is_unspent(key)),
            Op::Height(id) => {
                let holds = |block: &&Arc<Block>| block.txs.iter().any(|tx| tx.id == *id);
                Answer::Height(state.blocks().iter().find(holds).map(|block| block.height))
            }
            Op::Batch => Answer::Txs(state.pool().iter().map(|(tx, _)| tx.id).collect()),
            Op::Tip => Answer::Block(state.tip().id),
            Op::Everything => {
                let pool = state.pool().iter().map(|(tx, since)| (tx.id, *since)).collect();
                Answer::State(state.tip().id, pool, state.unspent().into_keys().collect())
            }
        };
        (answer, after)
    }
}

/// Checks that some order of `calls` explains the answers of a ledger that was opened so.
///
/// # Panics
/// With the violation, for the runtime to report; if the search gives up, because an undecided run is no pass.
#[track_caller]
pub fn check(config: &LedgerConfig, genesis: &Genesis, calls: &[Call<Op, Answer>]) {
    let naive = Naive(NaiveLedger::new(config, genesis));
    match linearizability::check(NAME, &naive, calls, MOST).expect("clients have one open call each") {
        Verdict::Holds => {}
        Verdict::Violated(violation) => violation.raise(),
        Verdict::Undecided { reason } => panic!("{NAME} is undecided: {reason}"),
    }
}
