//! Coverage-guided targets: bytes become a transaction order, a schedule and faults.
//!
//! * [`ledger_order`]: a small ledger under operations, schedule and faults that all come from the input
//!
//! Each target is an ordinary test (`cargo test -p interleaf-fuzz`) that bolero feeds with random inputs; with
//! `cargo bolero` the same test is driven by libFuzzer on the stable toolchain. See the book, "Fuzz transaction
//! orderings".
#![forbid(unsafe_code)]

pub mod ledger_order;

// libFuzzer's runtime must be linked into every test binary that is built with its instrumentation, this one included.
#[cfg(test)]
use bolero as _;
