//! Signed transactions: recoverable ECDSA over secp256k1 (item N5).

use std::fmt;

use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{All, Message, PublicKey, Secp256k1, SecretKey};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::ledger::{Address, Tx};

/// A transaction and its sender's signature of the content: 64 bytes and the recovery id.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedTx {
    /// What is signed.
    pub tx: Tx,
    /// The compact signature, then the recovery id (0 to 3).
    pub signature: [u8; 65],
}

impl fmt::Debug for SignedTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedTx").field("tx", &self.tx).finish_non_exhaustive()
    }
}

impl SignedTx {
    /// SHA-256 of content and signature: what an admission proof is bound to (item N13).
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::new().chain_update(self.tx.digest()).chain_update(self.signature).finalize().into()
    }
}

/// Why a signature does not make a transaction its sender's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// Not a signature at all.
    #[error("the signature is malformed")]
    Malformed,
    /// Somebody else signed, or something else was signed.
    #[error("signed by {signer:?}, not by the sender {sender:?}")]
    WrongSigner {
        /// Whom the signature belongs to, for this content.
        signer: Address,
        /// Whose transaction it would be.
        sender: Address,
    },
    /// The id is not that of the content.
    #[error("the id is not the hash of the content")]
    WrongId,
}

/// The tables that signing and recovery compute with.
pub struct Keys(Secp256k1<All>);

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

impl Default for Keys {
    fn default() -> Self {
        Self::new()
    }
}

impl Keys {
    /// Computes the tables, which takes a moment.
    #[must_use]
    pub fn new() -> Self {
        // Not randomised against side channels: a node recovers keys and keeps no secret.
        Self(Secp256k1::new())
    }

    /// The address of whoever holds `secret`.
    #[must_use]
    pub fn address(&self, secret: &SecretKey) -> Address {
        address_of(&PublicKey::from_secret_key(&self.0, secret))
    }

    /// Signs `tx` with `secret` (deterministically, RFC 6979).
    #[must_use]
    pub fn sign(&self, tx: Tx, secret: &SecretKey) -> SignedTx {
        let signed = self.0.sign_ecdsa_recoverable(&Message::from_digest(tx.digest()), secret);
        let (id, compact) = signed.serialize_compact();
        let mut signature = [0; 65];
        signature[..64].copy_from_slice(&compact);
        // A recovery id is 0 to 3.
        signature[64] = id.to_i32() as u8;
        SignedTx { tx, signature }
    }

    /// Checks that the sender of `signed` signed its content. Recovering the key proves the signature: if the key's
    /// hash is the sender, nobody but the sender made it, and a second verification would add nothing.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn verify(&self, signed: &SignedTx) -> Result<(), SignatureError> {
        if !signed.tx.has_its_id() {
            return Err(SignatureError::WrongId);
        }
        let malformed = |_| SignatureError::Malformed;
        let id = RecoveryId::from_i32(i32::from(signed.signature[64])).map_err(malformed)?;
        let compact = RecoverableSignature::from_compact(&signed.signature[..64], id).map_err(malformed)?;
        let message = Message::from_digest(signed.tx.digest());
        let key = self.0.recover_ecdsa(&message, &compact).map_err(malformed)?;
        let (signer, sender) = (address_of(&key), signed.tx.sender);
        if signer == sender { Ok(()) } else { Err(SignatureError::WrongSigner { signer, sender }) }
    }
}

/// The first twenty bytes of the SHA-256 of the compressed key.
fn address_of(key: &PublicKey) -> Address {
    let digest = Sha256::digest(key.serialize());
    let mut address = [0; 20];
    address.copy_from_slice(&digest[..20]);
    Address(address)
}
