//! Transactions: consume outpoints, create new ones (specification items N1, U24, U36).

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::kind::Kind;

/// Value in the smallest unit of the ledger.
pub type Amount = u64;

/// An owner. Twenty bytes, as a hashed public key or script has; the ledger gives them no meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Address(pub [u8; 20]);

impl Address {
    /// The address numbered `n`: for workloads that need many distinct owners.
    #[must_use]
    pub const fn numbered(n: u32) -> Self {
        let b = n.to_be_bytes();
        let mut a = [0; 20];
        a[16] = b[0];
        a[17] = b[1];
        a[18] = b[2];
        a[19] = b[3];
        Self(a)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = u32::from_be_bytes([self.0[16], self.0[17], self.0[18], self.0[19]]);
        if self.0[..16].iter().all(|&b| b == 0) { write!(f, "addr#{short}") } else { write!(f, "addr:{short:08x}") }
    }
}

/// The id of a transaction: eight bytes of its timestamp (big-endian milliseconds), then 24 bytes of the SHA-256
/// of its content, so that ids sort by time (item U36).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct TxId(pub [u8; 32]);

impl TxId {
    /// The timestamp that the id carries, in milliseconds.
    #[must_use]
    pub fn timestamp_ms(&self) -> u64 {
        let mut b = [0; 8];
        b.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(b)
    }
}

impl fmt::Debug for TxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tx:{:02x}{:02x}{:02x}{:02x}", self.0[8], self.0[9], self.0[10], self.0[11])
    }
}

/// One output of one transaction: the key of a record (UTXO) of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct OutPoint {
    /// The transaction that created the output.
    pub tx: TxId,
    /// The output's index in it.
    pub index: u32,
}

impl fmt::Debug for OutPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}", self.tx, self.index)
    }
}

/// A new record: who owns it, how much it is worth, what it is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Output {
    /// Index inside the transaction. Stated, not implied, hence checked for duplicates (item U24).
    pub index: u32,
    /// Who may spend it.
    pub owner: Address,
    /// What it is worth.
    pub amount: Amount,
    /// What it is good for.
    pub kind: Kind,
}

impl Output {
    /// Value to spend.
    #[must_use]
    pub const fn coin(index: u32, owner: Address, amount: Amount) -> Self {
        Self { index, owner, amount, kind: Kind::Coin }
    }
}

/// A transaction. What its inputs bring beyond what its outputs take is the fee.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tx {
    /// Hash of the content; [`Tx::new`] computes it.
    pub id: TxId,
    /// Whose reservation pool the transaction belongs to (items U22, U25).
    pub sender: Address,
    /// The records it consumes.
    pub inputs: Vec<OutPoint>,
    /// The records it creates.
    pub outputs: Vec<Output>,
}

impl Tx {
    /// Builds a transaction and computes its id from the content and `timestamp_ms`.
    #[must_use]
    pub fn new(timestamp_ms: u64, sender: Address, inputs: Vec<OutPoint>, outputs: Vec<Output>) -> Self {
        let id = id_of(timestamp_ms, &digest_of(timestamp_ms, &sender, &inputs, &outputs));
        Self { id, sender, inputs, outputs }
    }

    /// SHA-256 of the whole content: what a signature signs (items N5, N13).
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        digest_of(self.id.timestamp_ms(), &self.sender, &self.inputs, &self.outputs)
    }

    /// Whether the id is the one that the content has. What comes from others must be asked; the ledger trusts it.
    #[must_use]
    pub fn has_its_id(&self) -> bool {
        self.id == id_of(self.id.timestamp_ms(), &self.digest())
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let inputs = self.inputs.capacity() * size_of::<OutPoint>();
        size_of::<Self>() + inputs + self.outputs.capacity() * size_of::<Output>()
    }

    /// The outpoint of the output with index `index`.
    #[must_use]
    pub fn outpoint(&self, index: u32) -> OutPoint {
        OutPoint { tx: self.id, index }
    }
}

fn digest_of(timestamp_ms: u64, sender: &Address, inputs: &[OutPoint], outputs: &[Output]) -> [u8; 32] {
    let mut h = Sha256::new();
    h.update(timestamp_ms.to_be_bytes());
    h.update(sender.0);
    h.update((inputs.len() as u64).to_be_bytes());
    for i in inputs {
        h.update(i.tx.0);
        h.update(i.index.to_be_bytes());
    }
    h.update((outputs.len() as u64).to_be_bytes());
    for o in outputs {
        h.update(o.index.to_be_bytes());
        h.update(o.owner.0);
        h.update(o.amount.to_be_bytes());
    }
    // Behind everything, so that what moves nothing but coins has the id that it would have without kinds.
    for (place, o) in (0u64..).zip(outputs).filter(|(_, o)| o.kind != Kind::Coin) {
        h.update(place.to_be_bytes());
        o.kind.hash_into(|bytes| h.update(bytes));
    }
    h.finalize().into()
}

fn id_of(timestamp_ms: u64, digest: &[u8; 32]) -> TxId {
    let mut id = [0; 32];
    id[..8].copy_from_slice(&timestamp_ms.to_be_bytes());
    id[8..].copy_from_slice(&digest[..24]);
    TxId(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::kind::NodeInfo;

    #[test]
    fn an_id_belongs_to_one_content() {
        // U36: whatever differs, the id does, and it sorts by time.
        let node = |port| Kind::Node(NodeInfo { host: "::1".parse().unwrap(), port });
        let tx = |time, sender, index, amount, kind| {
            let output = Output { index, owner: Address::numbered(1), amount, kind };
            Tx::new(time, Address::numbered(sender), vec![OutPoint { tx: TxId([7; 32]), index: 1 }], vec![output])
        };
        let all = [
            tx(1, 1, 0, 5, Kind::Coin),
            tx(2, 1, 0, 5, Kind::Coin),
            tx(1, 2, 0, 5, Kind::Coin),
            tx(1, 1, 1, 5, Kind::Coin),
            tx(1, 1, 0, 6, Kind::Coin),
            tx(1, 1, 0, 5, Kind::Stake),
            tx(1, 1, 0, 5, Kind::Referral),
            tx(1, 1, 0, 5, node(1)),
            tx(1, 1, 0, 5, node(2)),
        ];
        let ids: std::collections::BTreeSet<_> = all.iter().map(|tx| tx.id).collect();
        assert_eq!(ids.len(), all.len());
        assert!(all.iter().all(Tx::has_its_id));
        assert_eq!(all.iter().max_by_key(|tx| tx.id).unwrap().id.timestamp_ms(), 2);
        let mut forged = all[0].clone();
        forged.outputs[0].amount = 500;
        assert!(!forged.has_its_id());
    }
}
