//! The command line of Interleaf.
fn main() {}
