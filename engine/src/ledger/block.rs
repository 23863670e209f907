//! Blocks: an ordered list of transactions on top of a parent.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::tx::Tx;

/// The id of a block: SHA-256 of height, parent and transaction ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct BlockId(pub [u8; 32]);

impl fmt::Debug for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block:{:02x}{:02x}{:02x}{:02x}", self.0[0], self.0[1], self.0[2], self.0[3])
    }
}

/// A block of transactions in their given order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Hash of the rest; [`Block::new`] computes it.
    pub id: BlockId,
    /// The block below.
    pub parent: BlockId,
    /// Distance from genesis.
    pub height: u64,
    /// The transactions, in order.
    pub txs: Vec<Tx>,
}

impl Block {
    /// Builds a block and computes its id.
    #[must_use]
    pub fn new(parent: BlockId, height: u64, txs: Vec<Tx>) -> Self {
        Self { id: id_of(parent, height, &txs), parent, height, txs }
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.txs.iter().map(Tx::memory_bytes).sum::<usize>()
    }

    /// Whether its id, and that of each transaction, is the one that the content has. What comes from others must be
    /// asked; the ledger trusts it.
    #[must_use]
    pub fn has_its_id(&self) -> bool {
        self.id == id_of(self.parent, self.height, &self.txs) && self.txs.iter().all(Tx::has_its_id)
    }
}

fn id_of(parent: BlockId, height: u64, txs: &[Tx]) -> BlockId {
    let mut h = Sha256::new();
    h.update(parent.0);
    h.update(height.to_be_bytes());
    for t in txs {
        h.update(t.id.0);
    }
    BlockId(h.finalize().into())
}
