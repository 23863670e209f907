//! The referral tree in memory (items U7, U37, U38).

use std::collections::BTreeMap;

use super::block::Block;
use super::tx::Address;

/// How an address came into the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Referral {
    /// The sender of the first confirmed transaction that paid the address; `None` for addresses of the genesis block.
    pub by: Option<Address>,
    /// The height of that transaction's block.
    pub since_height: u64,
}

/// Who brought whom into the confirmed ledger: a tree whose roots are the addresses of the genesis block.
#[derive(Debug, Default)]
pub(super) struct ConfirmedCache {
    referrals: BTreeMap<Address, Referral>,
}

impl ConfirmedCache {
    pub(super) fn referral(&self, address: Address) -> Option<Referral> {
        self.referrals.get(&address).copied()
    }

    pub(super) fn add_root(&mut self, address: Address) {
        self.referrals.insert(address, Referral { by: None, since_height: 0 });
    }

    /// Whether `block` can bring in anybody: whether it pays anyone but the senders themselves.
    pub(super) fn concerns(block: &Block) -> bool {
        block.txs.iter().any(|tx| tx.outputs.iter().any(|output| output.owner != tx.sender))
    }

    /// Enters the addresses that `block` pays for the first time.
    pub(super) fn add_block(&mut self, block: &Block) {
        for tx in &block.txs {
            for output in tx.outputs.iter().filter(|output| output.owner != tx.sender) {
                let referral = Referral { by: Some(tx.sender), since_height: block.height };
                self.referrals.entry(output.owner).or_insert(referral);
            }
        }
    }

    /// Takes out the addresses that `block`, the newest one, brought in.
    pub(super) fn undo_block(&mut self, block: &Block) {
        for output in block.txs.iter().flat_map(|tx| &tx.outputs) {
            if self.referrals.get(&output.owner).is_some_and(|r| r.since_height == block.height) {
                self.referrals.remove(&output.owner);
            }
        }
    }

    pub(super) fn snapshot(&self) -> BTreeMap<Address, Referral> {
        self.referrals.clone()
    }
}
