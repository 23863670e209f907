//! The attribute `#[interleaf::test]`.
