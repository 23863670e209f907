//! Admission: from a signed transaction to one that waits (items N4, N5), and the proof that spares the second
//! verification of its signature (items N11–N16, decision O5).
//!
//! * [`signature`]: signing, and who signed
//! * [`proof`]: the proof and what it is bound to
//! * [`desk`]: where transactions are taken in and blocks are checked

pub mod desk;
pub mod proof;
pub mod signature;

pub use self::desk::{Admission, AdmissionError, Checked};
pub use self::proof::{AdmissionProof, Prover, RuleVersion};
pub use self::signature::{Keys, SignatureError, SignedTx};
