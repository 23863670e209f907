//! Maps from outpoints and ids, for look-ups only.

#[expect(clippy::disallowed_types, reason = "the hasher has no ambient randomness, and nobody sees the order")]
use std::collections::HashMap;

use foldhash::quality::FixedState;

/// A map whose order nobody may ask for: O(1) look-ups (item U23).
///
/// The hash has a fixed key, so that every run does the same. Keys hold digests of whole transactions: to make many of them
/// collide one would have to search for each, and would slow down one block's look-ups.
#[expect(clippy::disallowed_types, reason = "the hasher has no ambient randomness, and nobody sees the order")]
pub(super) type KeyMap<K, V> = HashMap<K, V, FixedState>;
