//! What a record is good for: coin, stake, referral, node info (items U20, U37, U38).

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

/// What a record is good for.
///
/// Stakes, referrals and node infos are records like coins: transactions create and consume them, so that pool,
/// blocks, forks and roll-backs need no rule of their own for them. What differs is who may create and consume them
/// ([`Tx::check_outputs`](super::Tx), [`Tx::check_input`](super::Tx)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Value to spend.
    #[default]
    Coin,
    /// Value that its owner has staked (item U20). Only the owner stakes for himself, and only he consumes it.
    Stake,
    /// The sender of the transaction brings in the owner of the record (item U37). It is worth nothing and stays for
    /// good. Of several for one owner the first that is confirmed counts, and only if the sender is in the tree then.
    Referral,
    /// Where a node of the owner can be reached (item U38); what it is worth is a deposit. To change it, its owner
    /// consumes the record and creates another.
    Node(NodeInfo),
}

/// Where a node can be reached. An IPv4 address is written as mapped into IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeInfo {
    /// The host.
    pub host: Ipv6Addr,
    /// The port.
    pub port: u16,
}

impl Kind {
    /// Adds the kind to the bytes that a transaction's id is the hash of.
    pub(super) fn hash_into(self, mut update: impl FnMut(&[u8])) {
        match self {
            Self::Coin => update(&[0]),
            Self::Stake => update(&[1]),
            Self::Referral => update(&[2]),
            Self::Node(info) => {
                update(&[3]);
                update(&info.host.octets());
                update(&info.port.to_be_bytes());
            }
        }
    }
}
