//! One checksummed record of the journal.
//!
//! ```text
//! magic 4 | length 4 | generation 8 | sequence 8 | sum 16 | payload
//! ```
//!
//! Numbers are little-endian. The sum is the first half of the SHA-256 of everything else. Since generation and sequence
//! are part of it, what an earlier use of the file has left behind is never taken for a record of this one.

use sha2::{Digest, Sha256};

const MAGIC: [u8; 4] = *b"ILJ1";
/// Bytes before the payload.
const HEADER: usize = 40;

/// A record that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) generation: u64,
    pub(super) sequence: u64,
    pub(super) payload: &'a [u8],
    /// Bytes of the whole record.
    pub(super) len: usize,
}

fn sum(head: &[u8], payload: &[u8]) -> [u8; 16] {
    let digest = Sha256::new().chain_update(head).chain_update(payload).finalize();
    let mut sum = [0; 16];
    sum.copy_from_slice(&digest[..16]);
    sum
}

/// The bytes of a record. `None` if the payload does not fit into four gigabytes.
pub(super) fn encode(generation: u64, sequence: u64, payload: &[u8]) -> Option<Vec<u8>> {
    let len = u32::try_from(payload.len()).ok()?;
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend(MAGIC);
    bytes.extend(len.to_le_bytes());
    bytes.extend(generation.to_le_bytes());
    bytes.extend(sequence.to_le_bytes());
    let sum = sum(&bytes, payload);
    bytes.extend(sum);
    bytes.extend(payload);
    Some(bytes)
}

/// The record at the beginning of `bytes`, if it is whole.
pub(super) fn decode(bytes: &[u8]) -> Option<Frame<'_>> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if bytes.get(..4)? != MAGIC {
        return None;
    }
    let len = HEADER + u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize;
    let payload = bytes.get(HEADER..len)?;
    let whole = sum(&bytes[..24], payload) == bytes[24..HEADER];
    Some(Frame { generation: number(8)?, sequence: number(16)?, payload, len }).filter(|_| whole)
}

/// The first whole record anywhere behind the first byte of `bytes` that `wanted` accepts.
pub(super) fn find<'a>(bytes: &'a [u8], wanted: impl Fn(&Frame<'_>) -> bool) -> Option<Frame<'a>> {
    let starts = (1..bytes.len().saturating_sub(HEADER - 1)).filter(|&at| bytes[at..].starts_with(&MAGIC));
    starts.filter_map(|at| decode(&bytes[at..])).find(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_no_bit_of_it_may_differ() {
        let bytes = encode(7, 3, b"payload").unwrap();
        assert_eq!(decode(&bytes), Some(Frame { generation: 7, sequence: 3, payload: b"payload", len: 47 }));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(encode(0, 0, b"").map(|b| decode(&b).unwrap().len), Some(HEADER));
    }

    #[test]
    fn a_later_record_is_found_behind_rubbish() {
        let mut bytes = b"ILJ1 and other rubbish".to_vec();
        bytes.extend(encode(7, 4, b"later").unwrap());
        assert_eq!(find(&bytes, |_| true).unwrap().sequence, 4);
        assert_eq!(find(&bytes, |f| f.generation == 6), None);
        assert_eq!(find(&bytes[..bytes.len() - 1], |_| true), None);
    }
}
