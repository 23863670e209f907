//! The programs that come with this crate.

/// A program and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Fixture {
    /// Its name: that of its file, without `.prog`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The files are those of the library's own tests, in the order of their names.
macro_rules! fixtures {
    ($($name:literal)*) => {
        &[$(Fixture { name: $name, text: include_str!(concat!("../../sim/tests/programs/fixtures/", $name, ".prog")) }),*]
    };
}

/// All of them.
pub const FIXTURES: &[Fixture] = fixtures![
    "account"
    "broadcast_for_two"
    "claim_then_sign"
    "coherence"
    "counted_lock"
    "critical_section"
    "deque_of_one"
    "fetch_add"
    "first_resumes_first"
    "flags_and_reads"
    "full_and_empty"
    "guarded_store"
    "handed_over"
    "increment"
    "independent_reads"
    "last_nonzero"
    "last_resumes_first"
    "late_close"
    "limit"
    "lock_and_try"
    "lost_wakeup"
    "many_writers"
    "message_passing"
    "never_unlocked"
    "once"
    "once_flag_first"
    "one_signal_for_two"
    "one_writer"
    "opposite_order"
    "overdraft"
    "private_work"
    "read_locks"
    "relay_of_claims"
    "reordered_stores"
    "ring_of_loads"
    "ring_of_locks"
    "rounds"
    "sections_in_turn"
    "seqlock"
    "seqlock_unchecked"
    "six_against_six"
    "stack"
    "store_buffering"
    "token_ring"
    "try_lock"
    "two_cells"
    "two_locks_in_turn"
    "two_stages"
    "unlocked_by_luck"
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_left_out() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/tests/programs/fixtures");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = files.map(|name| name.strip_suffix(".prog").unwrap().to_owned()).collect();
        names.sort_unstable();
        assert_eq!(FIXTURES.iter().map(|f| f.name).collect::<Vec<_>>(), names);
    }
}
