//! What a record is good for: coin, stake, referral, node info (items U20, U37, U38).

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::tx::{Address, Amount};

/// What a record is good for.
///
/// Stakes, referrals and node infos are records like coins: transactions create and consume them, so that pool,
/// blocks, forks and roll-backs need no rule of their own for them. What differs is who may create and consume them
/// ([`check_output`](Self::check_output), [`check_input`](Self::check_input)).
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

/// What the kind of a record forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum KindError {
    /// A stake or a node info for somebody else.
    #[error("only {owner:?} may stake or announce a node for itself")]
    ForSomebodyElse {
        /// Whose record it would be.
        owner: Address,
    },
    /// A stake or a node info of somebody else.
    #[error("only {owner:?} may consume its stake or node info")]
    OfSomebodyElse {
        /// Whose record it is.
        owner: Address,
    },
    /// A referral of oneself.
    #[error("nobody brings in himself")]
    OwnReferral,
    /// A referral that is worth something: nobody could ever spend it.
    #[error("a referral is worth nothing, not {amount}")]
    ReferralOfWorth {
        /// What it would be worth.
        amount: Amount,
    },
    /// A referral as input.
    #[error("a referral stays for good")]
    ReferralConsumed,
}

impl Kind {
    /// Whether `sender` may create a record of this kind for `owner`, worth `amount`.
    ///
    /// # Errors
    /// What forbids it.
    pub fn check_output(self, sender: Address, owner: Address, amount: Amount) -> Result<(), KindError> {
        match self {
            Self::Coin => Ok(()),
            Self::Stake | Self::Node(_) if owner != sender => Err(KindError::ForSomebodyElse { owner }),
            Self::Stake | Self::Node(_) => Ok(()),
            Self::Referral if owner == sender => Err(KindError::OwnReferral),
            Self::Referral if amount != 0 => Err(KindError::ReferralOfWorth { amount }),
            Self::Referral => Ok(()),
        }
    }

    /// Whether `sender` may consume a record of this kind of `owner`.
    ///
    /// # Errors
    /// What forbids it.
    pub fn check_input(self, sender: Address, owner: Address) -> Result<(), KindError> {
        match self {
            Self::Coin => Ok(()),
            Self::Stake | Self::Node(_) if owner != sender => Err(KindError::OfSomebodyElse { owner }),
            Self::Stake | Self::Node(_) => Ok(()),
            Self::Referral => Err(KindError::ReferralConsumed),
        }
    }

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
