//! A hash of the confirmed state.

use interleaf_engine::ledger::{ConfirmedState, Kind, Record};
use sha2::{Digest, Sha256};

/// SHA-256 over tip, records, consumed outpoints, referrals and node infos of `state`, as hex. Blocks enter through the
/// tip's id, which is a hash over all of them.
#[must_use]
pub fn of(state: &ConfirmedState) -> String {
    let mut hash = Sha256::new();
    hash.update(state.tip.id.0);
    for number in [state.tip.height, state.tip.fees_burnt, state.issued, state.blocks.len() as u64] {
        hash.update(number.to_be_bytes());
    }
    section(&mut hash, state.utxos.len());
    for (key, record) in &state.utxos {
        hash.update(key.tx.0);
        hash.update(key.index.to_be_bytes());
        add_record(&mut hash, record);
    }
    section(&mut hash, state.spent.len());
    for (key, spent) in &state.spent {
        hash.update(key.tx.0);
        hash.update(key.index.to_be_bytes());
        hash.update(spent.by.0);
        hash.update(spent.height.to_be_bytes());
    }
    section(&mut hash, state.referrals.len());
    for (address, referral) in &state.referrals {
        hash.update(address.0);
        hash.update([u8::from(referral.by.is_some())]);
        hash.update(referral.by.unwrap_or_default().0);
        hash.update(referral.since_height.to_be_bytes());
    }
    section(&mut hash, state.nodes.len());
    for (owner, nodes) in &state.nodes {
        hash.update(owner.0);
        section(&mut hash, nodes.len());
        for (key, info) in nodes {
            hash.update(key.tx.0);
            hash.update(key.index.to_be_bytes());
            hash.update(info.host.octets());
            hash.update(info.port.to_be_bytes());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lengths keep one list from running into the next.
fn section(hash: &mut Sha256, len: usize) {
    hash.update((len as u64).to_be_bytes());
}

fn add_record(hash: &mut Sha256, record: &Record) {
    hash.update(record.owner.0);
    hash.update(record.amount.to_be_bytes());
    match record.kind {
        Kind::Coin => hash.update([0]),
        Kind::Stake => hash.update([1]),
        Kind::Referral => hash.update([2]),
        Kind::Node(info) => {
            hash.update([3]);
            hash.update(info.host.octets());
            hash.update(info.port.to_be_bytes());
        }
    }
}
