//! Maps from outpoints and ids.

#[expect(clippy::disallowed_types, reason = "only ever used with the fixed hasher below")]
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes ids that are digests already: FNV over words with a fixed start, so that every run on every platform builds
/// the same map. Not for keys that an opponent may choose freely.
#[derive(Clone, Copy, Debug)]
pub struct DigestHasher(u64);

impl Default for DigestHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(23) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

/// A hash map with a fixed hash: no ambient randomness, same order in every run. O(1) look-ups (item U23).
#[expect(clippy::disallowed_types, reason = "the hasher is fixed, so the order is the same in every run")]
pub type DigestMap<K, V> = HashMap<K, V, BuildHasherDefault<DigestHasher>>;
