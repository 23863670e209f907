//! Where chance comes from: one seed, named streams.
//!
//! Every stream of a run (`schedule`, `workload`, whatever a program asks for with [`crate::rand::stream`]) is a
//! generator of its own, seeded from the run's seed and the stream's *name*. A draw more in one stream leaves all
//! others as they were, so adding one does not invalidate what was found before.

/// The seed of the stream `name` in the run with seed `seed`.
///
/// FNV-1a over the name, then the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Fixed for ever: seeds
/// mean the same on every platform and in every version.
#[must_use]
pub const fn stream_seed(seed: u64, name: &str) -> u64 {
    seed_of(seed, name_hash(name))
}

/// The part of [`stream_seed`] that depends on the name only.
pub(crate) const fn name_hash(name: &str) -> u64 {
    let (bytes, mut hash, mut i) = (name.as_bytes(), 0xCBF2_9CE4_8422_2325_u64, 0);
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        i += 1;
    }
    finalise(hash)
}

/// The seed of the stream whose name has this hash.
#[inline]
pub(crate) const fn seed_of(seed: u64, name_hash: u64) -> u64 {
    finalise(seed.wrapping_add(name_hash))
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of `x`.
#[must_use]
pub(crate) const fn finalise(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_independent() {
        // Pinned: a change here would give every stored seed another meaning.
        assert_eq!(stream_seed(0, "schedule"), stream_seed(0, "schedule"));
        assert_ne!(stream_seed(0, "schedule"), stream_seed(0, "workload"));
        assert_ne!(stream_seed(0, "schedule"), stream_seed(1, "schedule"));
        assert_eq!(finalise(0), 0xE220_A839_7B1D_CDAF);
    }
}
