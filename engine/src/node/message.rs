//! What nodes say to each other.

use interleaf::sync::Arc;

use crate::ledger::{Block, BlockId, Tx};

/// The number of a node in its network.
pub type PeerId = usize;

/// What a node says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A transaction that waits.
    Tx(Arc<Tx>),
    /// A block: a new tip, or an answer.
    Block(Arc<Block>),
    /// Asks for a block.
    WantBlock {
        /// Which.
        id: BlockId,
        /// Its height.
        height: u64,
    },
    /// Asks for the tip: of a node that has just come.
    WantTip,
}

/// A message and who said it; `None` for a client of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Who.
    pub from: Option<PeerId>,
    /// What.
    pub message: Message,
}

/// To whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// One node.
    Peer(PeerId),
    /// All but whoever said it first.
    AllBut(Option<PeerId>),
}

/// What a node wants to say, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// To whom.
    pub to: To,
    /// What.
    pub message: Message,
}
