//! How results are shown and stored.
//!
//! * [`terminal`]: status words, colours, where output goes
//! * [`ledger_bench`]: what `bench ledger` measured
//! * [`progress`]: the progress bar
//! * [`table`]: aligned columns
//! * [`exploration`]: an exploration of all interleavings
//! * [`failure_block`]: a failure for people
//! * [`interleaving`]: the few rows of a trace that show who came between whom
//! * [`json`]: messages for programs
//! * [`campaign`]: the summary of a campaign, as a table, JSON and Markdown
//! * [`coverage`]: what each strategy has seen, and how likely something new is
//! * [`run_folder`]: the files of a run
//! * [`failure_file`]: the files of a failure
//! * [`provenance`]: which code this is

pub mod campaign;
pub mod coverage;
pub mod exploration;
pub mod failure_block;
pub mod failure_file;
pub mod interleaving;
pub mod json;
pub mod ledger_bench;
pub mod progress;
pub mod provenance;
pub mod run_folder;
pub mod table;
pub mod terminal;
