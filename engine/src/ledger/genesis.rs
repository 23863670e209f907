//! The state a ledger starts from.

use std::collections::BTreeMap;
use std::fmt;

use interleaf::sync::Arc;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::block::{Block, BlockId};
use super::block_meta::BlockMeta;
use super::difference::BlockDiff;
use super::record::Record;
use super::tx::{Address, Amount, OutPoint, Output, Tx};

/// Which ledger it is: SHA-256 of everything that its genesis holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LedgerId(pub [u8; 32]);

impl fmt::Debug for LedgerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ledger:{:02x}{:02x}{:02x}{:02x}", self.0[0], self.0[1], self.0[2], self.0[3])
    }
}

/// The records a ledger starts with: outputs of the genesis transaction, and base records under any outpoint, such as
/// the outputs of other blocks that a real block consumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Genesis {
    /// Owners and amounts of the genesis transaction's outputs, with indices from 0.
    pub outputs: Vec<(Address, Amount)>,
    /// Further records.
    pub base: Vec<(OutPoint, Record)>,
}

impl Genesis {
    /// A genesis block with these outputs.
    #[must_use]
    pub fn of(outputs: &[(Address, Amount)]) -> Self {
        Self { outputs: outputs.to_vec(), base: Vec::new() }
    }

    /// The genesis transaction: the only one without inputs.
    #[must_use]
    pub fn tx(&self) -> Tx {
        let outputs = self.outputs.iter().zip(0..);
        let outputs = outputs.map(|(&(owner, amount), index)| Output::coin(index, owner, amount)).collect();
        Tx::new(0, Address::default(), Vec::new(), outputs)
    }

    /// Which ledger begins with this.
    #[must_use]
    pub fn id(&self) -> LedgerId {
        let mut h = Sha256::new();
        h.update(self.tx().digest());
        for (key, record) in self.base.iter().map(|(key, record)| (key, record)).collect::<BTreeMap<_, _>>() {
            h.update(key.tx.0);
            h.update(key.index.to_be_bytes());
            h.update(record.owner.0);
            h.update(record.amount.to_be_bytes());
            record.kind.hash_into(|bytes| h.update(bytes));
        }
        LedgerId(h.finalize().into())
    }

    /// The difference that the genesis block makes to the empty ledger, and the value that is issued for good.
    ///
    /// # Panics
    /// If the amounts do not add up within [`Amount`], or a base record is named twice.
    pub(super) fn into_diff(self) -> (BlockDiff, Amount) {
        let tx = self.tx();
        let created = tx.outputs.iter().map(|output| (tx.outpoint(output.index), Record::from(output)));
        let count = self.outputs.len() + self.base.len();
        let created: BTreeMap<OutPoint, Record> = created.chain(self.base).collect();
        assert_eq!(created.len(), count, "a base record is named twice");
        let issued = created.values().try_fold(0, |sum: Amount, record| sum.checked_add(record.amount));
        let block = Block::new(BlockId::default(), 0, vec![tx]);
        let meta = BlockMeta { id: block.id, parent: block.parent, height: 0, tx_count: 1, fees: 0, fees_burnt: 0 };
        let diff = BlockDiff::new(Arc::new(block), meta, created, BTreeMap::new());
        (diff, issued.expect("the issued amounts overflow"))
    }
}
