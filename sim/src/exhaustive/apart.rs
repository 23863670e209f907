//! Steps of their own.
//!
//! That a thread ends, and that it begins to wait for a lock to write, is done on the way to its next announcement: it
//! belongs to the step before. Where nobody looks, that is no loss. But who asks `is_finished` sees the end, and who
//! tries to read sees a writer that waits, and then the step before would do two things of which the second depends on
//! what it has read in the first: the thread takes another branch and does not end yet. An exploration needs to know
//! what an announced operation accesses, whatever it reads. So once a run shows that somebody looks, the exploration
//! begins anew with these as steps of their own: one more for each thread, or for each write lock. Nothing is lost by
//! that, since the thread may be delayed in between.

use crate::monitor::OpKind;

use super::record::Record;

/// Whether in a run some thread asks whether another has ended.
pub(crate) fn ends_matter(record: &Record) -> bool {
    record.events.iter().any(|event| event.kind == OpKind::IsFinished)
}
