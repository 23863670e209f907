//! Signatures are verified once, and again whenever the proof of it does not hold (items N5, N11–N16, decision O5).

mod ledger_fixture;

use interleaf_engine::admission::{Admission, AdmissionError, Checked, Keys, RuleVersion, SignatureError, SignedTx};
use interleaf_engine::ledger::{Address, Ledger, OutPoint, TxError};
use ledger_fixture::{A, add, ledger, tx};
use secp256k1::SecretKey;

const RULES: RuleVersion = RuleVersion(1);

struct Wallet {
    keys: Keys,
    secret: SecretKey,
    address: Address,
}

impl Wallet {
    fn numbered(n: u8) -> Self {
        let keys = Keys::new();
        let secret = SecretKey::from_slice(&[n; 32]).unwrap();
        let address = keys.address(&secret);
        Self { keys, secret, address }
    }

    fn pay(&self, time_ms: u64, inputs: &[OutPoint], amount: u64) -> SignedTx {
        self.keys.sign(tx(time_ms, self.address, inputs, &[(A, amount)]), &self.secret)
    }
}

fn opened(wallet: &Wallet) -> (Ledger, Vec<OutPoint>, Admission) {
    let (ledger, keys) = ledger(&[(wallet.address, 5), (wallet.address, 5)]);
    (ledger, keys, Admission::new([7; 32], RULES))
}

#[test]
fn only_the_senders_signature_of_this_content_is_admitted() {
    // N4, N5
    let (wallet, thief) = (Wallet::numbered(1), Wallet::numbered(2));
    let (ledger, keys, admission) = opened(&wallet);
    let good = wallet.pay(1, &keys[..1], 4);

    let stolen = thief.keys.sign(good.tx.clone(), &thief.secret);
    let wrong = SignatureError::WrongSigner { signer: thief.address, sender: wallet.address };
    assert_eq!(admission.admit(&ledger, &stolen), Err(wrong.into()));
    let mut broken = good.clone();
    broken.signature[64] = 9;
    assert_eq!(admission.admit(&ledger, &broken), Err(SignatureError::Malformed.into()));
    let mut zero = good.clone();
    zero.signature = [0; 65];
    assert_eq!(admission.admit(&ledger, &zero), Err(SignatureError::Malformed.into()));
    let mut forged = good.clone();
    forged.tx.outputs[0].amount = 5;
    assert_eq!(admission.admit(&ledger, &forged), Err(SignatureError::WrongId.into()));
    let other = SignedTx { tx: wallet.pay(1, &keys[..1], 5).tx, ..good.clone() };
    assert!(matches!(
        admission.admit(&ledger, &other),
        Err(AdmissionError::Signature(SignatureError::WrongSigner { sender, .. })) if sender == wallet.address
    ));
    assert_eq!((admission.kept(), ledger.pool_batch(9).len()), (0, 0));

    assert_eq!(admission.admit(&ledger, &good), Ok(1));
    assert_eq!(admission.check(&good), Ok(Checked::Reused));
    // N14: a proof does not skip what depends on the state.
    assert_eq!(admission.admit(&ledger, &good), Err(TxError::AlreadyInPool.into()));
    let again = wallet.pay(2, &keys[..1], 4);
    assert!(matches!(admission.admit(&ledger, &again), Err(AdmissionError::State(TxError::ReservedInput { .. }))));
    assert_eq!(admission.kept(), 1);
}

#[test]
fn a_proof_holds_for_its_process_its_content_and_its_rules() {
    // N12, N13, N15, O5
    let wallet = Wallet::numbered(1);
    let (ledger, keys, admission) = opened(&wallet);
    let signed = wallet.pay(1, &keys[..1], 4);
    admission.admit(&ledger, &signed).unwrap();

    // Content: another signature of the same transaction is other content.
    let mut other = signed.clone();
    other.signature[0] ^= 1;
    assert!(admission.check(&other).is_err());
    // Rules: they change while it waits; then it is verified again, and under the old rules the proof holds again.
    admission.set_rules(RuleVersion(2));
    assert_eq!(admission.check(&signed), Ok(Checked::Verified));
    admission.set_rules(RULES);
    assert_eq!(admission.check(&signed), Ok(Checked::Reused));
    // Process: another one, or this one after a restart, has another salt and no proofs.
    let elsewhere = Admission::new([8; 32], RULES);
    assert_eq!(elsewhere.check(&signed), Ok(Checked::Verified));
    assert_eq!(elsewhere.kept(), 0, "a check of a foreign block leaves no proof");
    // N16: the first verification is not spared, and what has left the pool is verified again.
    admission.tidy(&ledger);
    assert_eq!((admission.check(&signed), admission.kept()), (Ok(Checked::Reused), 1));
    add(&ledger, std::slice::from_ref(&signed.tx));
    admission.tidy(&ledger);
    assert_eq!((admission.check(&signed), admission.kept()), (Ok(Checked::Verified), 0));
}

#[test]
fn a_proof_of_another_process_is_worth_nothing_even_if_it_is_handed_over() {
    // N12: the tag is bound to the salt.
    use interleaf_engine::admission::Prover;
    let wallet = Wallet::numbered(1);
    let (ledger, keys, _) = opened(&wallet);
    let signed = wallet.pay(1, &keys[1..], 5);
    let (here, there) = (Prover::new([1; 32]), Prover::new([2; 32]));
    let proof = here.verify_and_prove(&wallet.keys, &signed, RULES).unwrap();
    assert!(here.holds(&proof, &signed, RULES));
    assert!(!there.holds(&proof, &signed, RULES));
    assert!(!here.holds(&proof, &signed, RuleVersion(2)));
    assert!(!here.holds(&proof, &wallet.pay(2, &keys[1..], 5), RULES));
    assert!(ledger.pool_batch(1).is_empty());
}
