//! The admission proof (items N11–N16, decision O5).

use std::fmt;

use sha2::{Digest, Sha256};

use super::signature::{Keys, SignatureError, SignedTx};

/// The version of the rules by which signatures are judged. Another version, another judgement (item N13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleVersion(pub u32);

/// «The signature of this content was verified by this process under these rules.»
///
/// Only a [`Prover`] of the same process makes sense of it: to anybody else it is 32 random bytes (items N12, N15). It
/// cannot be sent: it implements no serialisation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AdmissionProof([u8; 32]);

impl fmt::Debug for AdmissionProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdmissionProof")
    }
}

/// Makes and checks the proofs of one process.
///
/// The tag is SHA-256(salt ‖ rule version ‖ digest of content and signature). The salt is what makes the process: it is
/// drawn anew at each start and never leaves it.
#[derive(Clone)]
pub struct Prover {
    salt: [u8; 32],
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prover")
    }
}

impl Prover {
    /// The prover of a process with this `salt`: 32 bytes that nobody outside can guess, from the system's generator in
    /// production and from the seed in a simulation.
    #[must_use]
    pub fn new(salt: [u8; 32]) -> Self {
        Self { salt }
    }

    /// Verifies the signature of `signed` under `rules`; the proof of it. There is no other way to one.
    ///
    /// # Errors
    /// What is wrong with the signature.
    pub fn verify_and_prove(
        &self,
        keys: &Keys,
        signed: &SignedTx,
        rules: RuleVersion,
    ) -> Result<AdmissionProof, SignatureError> {
        keys.verify(signed)?;
        Ok(self.prove(signed, rules))
    }

    fn prove(&self, signed: &SignedTx, rules: RuleVersion) -> AdmissionProof {
        let tag =
            Sha256::new().chain_update(self.salt).chain_update(rules.0.to_be_bytes()).chain_update(signed.digest());
        AdmissionProof(tag.finalize().into())
    }

    /// Whether `proof` was made by this process for exactly this content under exactly these rules.
    #[must_use]
    pub fn holds(&self, proof: &AdmissionProof, signed: &SignedTx, rules: RuleVersion) -> bool {
        self.prove(signed, rules) == *proof
    }
}
