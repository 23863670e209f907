//! Where signed transactions are taken in and the signatures of blocks are checked (items N4–N6, N14, N15).

use std::collections::{BTreeMap, BTreeSet};

use interleaf::sync::RwLock;
use interleaf::sync::atomic::{AtomicU32, Ordering};
use thiserror::Error;

use super::proof::{AdmissionProof, Prover, RuleVersion};
use super::signature::{Keys, SignatureError, SignedTx};
use crate::ledger::store::Store;
use crate::ledger::{Amount, Ledger, TxError, TxId};

/// Why a transaction is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdmissionError {
    /// Its signature is not its sender's.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// It breaks a rule of the ledger.
    #[error(transparent)]
    State(#[from] TxError),
}

/// How the signature of a transaction was found to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// A proof of this process for this content under today's rules: no calculation.
    Reused,
    /// The signature was verified (again).
    Verified,
}

/// Takes transactions in and remembers which signatures it has verified.
///
/// A proof spares the calculation and nothing else: what depends on the state is checked by the ledger, in the pool and
/// in the block (item N14).
#[derive(Debug)]
pub struct Admission {
    keys: Keys,
    prover: Prover,
    rules: AtomicU32,
    /// The proofs of waiting transactions, and until the next [`tidy`](Self::tidy) of some that have left.
    proofs: RwLock<BTreeMap<TxId, AdmissionProof>>,
}

const POISONED: &str = "a thread panicked while it changed the proofs";

impl Admission {
    /// An admission of a process with this `salt` (see [`Prover::new`]), under `rules`.
    #[must_use]
    pub fn new(salt: [u8; 32], rules: RuleVersion) -> Self {
        let admission = Self {
            keys: Keys::new(),
            prover: Prover::new(salt),
            rules: AtomicU32::new(rules.0),
            proofs: RwLock::new(BTreeMap::new()),
        };
        interleaf::name(&admission.proofs, "Admission");
        admission
    }

    /// The rules that hold now.
    #[must_use]
    pub fn rules(&self) -> RuleVersion {
        RuleVersion(self.rules.load(Ordering::SeqCst))
    }

    /// From now on other rules hold. Proofs made before do not hold under them: what waits is verified again when its
    /// block is checked (decision O5).
    pub fn set_rules(&self, rules: RuleVersion) {
        self.rules.store(rules.0, Ordering::SeqCst);
    }

    /// Verifies the signature of `signed`, puts its transaction into the pool of `ledger` and keeps the proof. Returns
    /// the fee.
    ///
    /// # Errors
    /// What is wrong with the signature, else which rule of the ledger it breaks; then nothing is kept.
    pub fn admit<S: Store>(&self, ledger: &Ledger<S>, signed: &SignedTx) -> Result<Amount, AdmissionError> {
        // Before the verification: the proof is for the rules under which it was begun, never for later ones.
        let rules = self.rules();
        let proof = self.prover.verify_and_prove(&self.keys, signed, rules)?;
        // Before the pool: from there a block may confirm it and [`tidy`](Self::tidy) look for its proof.
        let is_new = self.proofs.write().expect(POISONED).insert(signed.tx.id, proof).is_none();
        let admitted = ledger.add_tx(signed.tx.clone());
        if admitted.is_err() && is_new {
            self.proofs.write().expect(POISONED).remove(&signed.tx.id);
        }
        Ok(admitted?)
    }

    /// Checks the signature of `signed`, by its proof if there is one that holds.
    ///
    /// A transaction in a block of another node brings no proof along; if this process admitted the same content before,
    /// its own proof counts (item N15).
    ///
    /// # Errors
    /// What is wrong with the signature.
    pub fn check(&self, signed: &SignedTx) -> Result<Checked, SignatureError> {
        let proof = self.proofs.read().expect(POISONED).get(&signed.tx.id).copied();
        if proof.is_some_and(|proof| self.prover.holds(&proof, signed, self.rules())) {
            return Ok(Checked::Reused);
        }
        self.keys.verify(signed)?;
        Ok(Checked::Verified)
    }

    /// Forgets the proofs of what does not wait in `ledger` any more: after a block, or now and then. A proof that is
    /// lost to a transaction just being admitted costs a verification, nothing else.
    pub fn tidy<S: Store>(&self, ledger: &Ledger<S>) {
        let waiting: BTreeSet<TxId> = ledger.pool_batch(usize::MAX).iter().map(|tx| tx.id).collect();
        self.proofs.write().expect(POISONED).retain(|id, _| waiting.contains(id));
    }

    /// How many proofs are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.proofs.read().expect(POISONED).len()
    }
}
