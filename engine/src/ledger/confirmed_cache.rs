//! The referral tree and the node infos in memory (items U7, U37, U38).

use std::collections::BTreeMap;
use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use super::difference::BlockDiff;
use super::kind::{Kind, NodeInfo};
use super::store::{Store, StoreError};
use super::tx::{Address, OutPoint};

/// How an address came into the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Referral {
    /// Who brought it in; `None` for addresses of the genesis block.
    pub by: Option<Address>,
    /// The height of the block that says so.
    pub since_height: u64,
}

/// The node infos of one address, by the record that holds each.
pub type Nodes = BTreeMap<OutPoint, NodeInfo>;

/// Who brought whom into the confirmed ledger, a tree whose roots are the addresses of the genesis block, and where
/// nodes can be reached. All of it is in the store too, except what the blocks in memory change.
#[derive(Debug, Default)]
pub(super) struct ConfirmedCache {
    referrals: BTreeMap<Address, Referral>,
    nodes: BTreeMap<Address, Nodes>,
}

impl ConfirmedCache {
    /// What `store` holds.
    pub(super) fn load(store: &impl Store) -> Result<Self, StoreError> {
        let mut nodes: BTreeMap<Address, Nodes> = BTreeMap::new();
        for (owner, key, info) in store.nodes()? {
            nodes.entry(owner).or_default().insert(key, info);
        }
        Ok(Self { referrals: store.referrals()?.into_iter().collect(), nodes })
    }

    pub(super) fn referral(&self, address: Address) -> Option<Referral> {
        self.referrals.get(&address).copied()
    }

    pub(super) fn nodes(&self, owner: Address) -> Nodes {
        self.nodes.get(&owner).cloned().unwrap_or_default()
    }

    /// Whether the block of `diff` can change anything here.
    pub(super) fn concerns(diff: &BlockDiff) -> bool {
        let is_node = |kind| matches!(kind, Kind::Node(_));
        diff.created.values().any(|record| record.kind == Kind::Referral || is_node(record.kind))
            || diff.spent.values().any(|consumed| is_node(consumed.record.kind))
    }

    /// Enters what the block of `diff`, the next one, makes of referrals and node infos.
    pub(super) fn add_block(&mut self, diff: &BlockDiff) {
        let known = |address: &Address| Ok::<_, Infallible>(self.referrals.contains_key(address));
        let Ok(new) = diff.referrals(known);
        self.referrals.extend(new);
        for (owner, key, info) in diff.nodes_created() {
            self.nodes.entry(owner).or_default().insert(key, info);
        }
        for (owner, key, _) in diff.nodes_consumed() {
            self.remove_node(owner, &key);
        }
    }

    /// Takes out what the block of `diff`, the newest one, brought in, and brings back what it took out (item U32).
    pub(super) fn undo_block(&mut self, diff: &BlockDiff) {
        let referred = diff.created.values().filter(|record| record.kind == Kind::Referral);
        for record in referred {
            if self.referrals.get(&record.owner).is_some_and(|referral| referral.since_height == diff.meta.height) {
                self.referrals.remove(&record.owner);
            }
        }
        for (owner, key, info) in diff.nodes_consumed() {
            self.nodes.entry(owner).or_default().insert(key, info);
        }
        // Last: what the block both created and consumed did not exist before it.
        for (owner, key, _) in diff.nodes_created() {
            self.remove_node(owner, &key);
        }
    }

    fn remove_node(&mut self, owner: Address, key: &OutPoint) {
        if let Some(nodes) = self.nodes.get_mut(&owner) {
            nodes.remove(key);
            if nodes.is_empty() {
                self.nodes.remove(&owner);
            }
        }
    }

    /// Copies of the referrals and the node infos, for checkers.
    pub(super) fn snapshot(&self) -> (BTreeMap<Address, Referral>, BTreeMap<Address, Nodes>) {
        (self.referrals.clone(), self.nodes.clone())
    }
}
