//! Running a closure many times, each time under another schedule.
//!
//! * [`explorer`]: the builder [`Explorer`](explorer::Explorer) and its report
//! * [`worker`]: what one OS thread does: profile, run, confirm a failure with everything on
//! * [`shared_work`]: what the workers of a search share
//! * [`failure`]: how a run can fail, and how that reads
//! * [`token`]: a run in one line of text
//! * [`replay`]: that line run again
//! * [`check`]: the entry points for tests
//! * [`distinct`]: how many different interleavings were seen
//! * [`coverage`]: what each strategy has seen of them, and how likely something new is

pub(crate) mod check;
pub(crate) mod coverage;
mod distinct;
pub(crate) mod explorer;
pub(crate) mod failure;
pub(crate) mod replay;
pub(crate) mod shared_work;
pub(crate) mod token;
pub(crate) mod worker;
