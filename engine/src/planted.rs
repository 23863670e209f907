//! Bugs that can be switched on, for the tests of the tests.
//!
//! Each is a small deviation of the kind that real ledgers and schedulers have had, at the place where they had it. The
//! switch is part of the configuration of one ledger or one execution, never global, so that runs with different bugs
//! do not disturb each other. Without the cargo feature `planted` no switch has any effect: [`Planted::is_active`] is
//! then constantly `false` and the deviating code is not compiled in.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A bug that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Planted {
    /// `add_tx` checks in one acquisition of the cache manager and reserves in another (item U12).
    CheckThenAct,
    /// A record that a transaction of another address uses is not rejected (item U23 is missing).
    NoCrossAddressCheck,
    /// One transaction may name the same input twice, in the pool and in a block (CVE-2018-17144).
    DuplicateInput,
    /// A transaction and its change enter the pool before its reservation is known to other addresses (item U26).
    ChangeBeforeReservation,
    /// The balance query takes the pool's lock before the cache manager's (item U10).
    ReversedLockOrder,
    /// The clean-up removes what conflicts with a block before what the block confirmed (item U28).
    CleanupOrder,
    /// Roll-back leaves the pool as it was (decision O8).
    RollbackForgetsPool,
    /// A change of the chain is acknowledged before the journal is on disk (decision O11; the kind of NATS 2.12.1).
    AckBeforeSync,
    /// A flush forgets blocks in memory before the store has them (decision O12).
    FlushForgetsFirst,
    /// A block is written to the journal before it is checked, so that a restart takes in what was refused.
    JournalBeforeCheck,
    /// Which branch is the heaviest is decided before the chain's lock is taken (decision O13).
    ForkChoiceStale,
    /// A node keeps its lock on its peers while it asks its ledger, and the other way round (bitcoin/bitcoin #4493).
    PeerLockOrder,
    /// A transaction that is evicted leaves those that use its change in the pool (decision O7).
    EvictionKeepsDependants,
    /// A transaction that is evicted from a full pool leaves the keys that it reserved (decision O7).
    EvictionKeepsReservation,
    /// A roll-back returns the block's transactions to the pool last one first (decision O8).
    ReturnInReverse,
    /// How deep a roll-back may go is checked before the chain's lock is taken (decision O9).
    RollBackDepthStale,
    /// A batch takes the window with it, so that nothing can be rolled back after it (decision O10).
    CommitTakesWindow,
    /// The pool is cleaned up after the block is visible, one step at a time (decision O15).
    CleanupInSteps,
    /// The age of a transaction counts from genesis and not from the tip when it was admitted (decision O16).
    AgeFromGenesis,
    /// The balance query reads the records in one acquisition of the cache manager and the pool in another (item U14).
    BalanceInTwoSteps,
    /// The WAVE scheduler ignores one dependency.
    WaveIgnoresDependency,
    /// The READY_QUEUE scheduler starts a successor before its parent's output is published.
    ReadyBeforePublish,
}

impl Planted {
    /// All of them, in the order of the enum.
    pub const ALL: [Self; 22] = [
        Self::CheckThenAct,
        Self::NoCrossAddressCheck,
        Self::DuplicateInput,
        Self::ChangeBeforeReservation,
        Self::ReversedLockOrder,
        Self::CleanupOrder,
        Self::RollbackForgetsPool,
        Self::AckBeforeSync,
        Self::FlushForgetsFirst,
        Self::JournalBeforeCheck,
        Self::ForkChoiceStale,
        Self::PeerLockOrder,
        Self::EvictionKeepsDependants,
        Self::EvictionKeepsReservation,
        Self::ReturnInReverse,
        Self::RollBackDepthStale,
        Self::CommitTakesWindow,
        Self::CleanupInSteps,
        Self::AgeFromGenesis,
        Self::BalanceInTwoSteps,
        Self::WaveIgnoresDependency,
        Self::ReadyBeforePublish,
    ];

    /// The name used on command lines and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CheckThenAct => "check-then-act",
            Self::NoCrossAddressCheck => "no-cross-address-check",
            Self::DuplicateInput => "duplicate-input",
            Self::ChangeBeforeReservation => "change-before-reservation",
            Self::ReversedLockOrder => "reversed-lock-order",
            Self::CleanupOrder => "cleanup-order",
            Self::RollbackForgetsPool => "rollback-forgets-pool",
            Self::AckBeforeSync => "ack-before-sync",
            Self::FlushForgetsFirst => "flush-forgets-first",
            Self::JournalBeforeCheck => "journal-before-check",
            Self::ForkChoiceStale => "fork-choice-stale",
            Self::PeerLockOrder => "peer-lock-order",
            Self::EvictionKeepsDependants => "eviction-keeps-dependants",
            Self::EvictionKeepsReservation => "eviction-keeps-reservation",
            Self::ReturnInReverse => "return-in-reverse",
            Self::RollBackDepthStale => "roll-back-depth-stale",
            Self::CommitTakesWindow => "commit-takes-window",
            Self::CleanupInSteps => "cleanup-in-steps",
            Self::AgeFromGenesis => "age-from-genesis",
            Self::BalanceInTwoSteps => "balance-in-two-steps",
            Self::WaveIgnoresDependency => "wave-ignores-dependency",
            Self::ReadyBeforePublish => "ready-before-publish",
        }
    }

    /// Whether this bug is the one that `switch` turns on. Constantly `false` without the feature `planted`.
    #[inline]
    #[must_use]
    pub fn is_active(self, switch: Option<Self>) -> bool {
        cfg!(feature = "planted") && switch == Some(self)
    }
}

impl fmt::Display for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no planted bug has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no planted bug is called `{given}`; there are: {}", Planted::ALL.map(Planted::name).join(", "))]
pub struct UnknownPlanted {
    /// What was given.
    pub given: String,
}

impl FromStr for Planted {
    type Err = UnknownPlanted;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|bug| bug.name() == given);
        found.ok_or_else(|| UnknownPlanted { given: given.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_read_back() {
        for bug in Planted::ALL {
            assert_eq!(bug.to_string().parse(), Ok(bug));
            assert!(bug.name().bytes().all(|b| b == b'-' || b.is_ascii_lowercase()), "{bug}");
        }
        let error = "check_then_act".parse::<Planted>().unwrap_err().to_string();
        assert!(error.contains("`check_then_act`") && error.contains("check-then-act"), "{error}");
    }

    #[test]
    fn a_switch_turns_on_one_bug_and_only_with_the_feature() {
        let switch = Some(Planted::CleanupOrder);
        assert_eq!(Planted::CleanupOrder.is_active(switch), cfg!(feature = "planted"));
        assert!(!Planted::CheckThenAct.is_active(switch));
        assert!(!Planted::CleanupOrder.is_active(None));
    }
}
