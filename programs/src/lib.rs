//! Small concurrent programs with known numbers of interleavings: what an exploration is measured against.
//!
//! A program is a text in a small language (see the head of `language/mod.rs`) that says in comments what is known of it:
//!
//! ```text
//! #: N=3 complete=90 distinct=66 within=6/24/54/66
//! ```
//!
//! `distinct` is the number of distinguishable interleavings (Mazurkiewicz traces) with these parameters. The numbers
//! come from a program that shares no idea with an exploration; many are published ones of the literature on partial-order
//! reduction. [`Known`] reads such lines, [`measure`] explores a program and counts.
#![forbid(unsafe_code)]

mod fixtures;
mod known;
#[allow(dead_code, reason = "the tests of the library, whose language this is, use more of it")]
#[path = "../../sim/tests/programs/language/mod.rs"]
mod language;
mod measure;

pub use fixtures::{FIXTURES, Fixture};
pub use known::{Known, NotKnown, of_table};
pub use measure::{Measured, measure};
