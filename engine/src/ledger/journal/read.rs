//! What is found in the journal's files.

use redb::StorageBackend;

use super::entry::{Begin, Change, VERSION, Window};
use super::{JournalError, frame, name};
use crate::ledger::genesis::LedgerId;

/// The newest whole generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ledger) struct Found {
    pub(super) generation: u64,
    /// The number of the next record.
    pub(super) sequence: u64,
    /// Where the last whole record ends.
    pub(super) end: u64,
    /// What is in memory only, after all changes.
    pub(in crate::ledger) window: Window,
    /// Changes since the generation began.
    pub(in crate::ledger) changes: u64,
    /// Bytes of a record that was not written to its end.
    pub(in crate::ledger) torn_bytes: u64,
}

/// Reads both files. The newer generation counts if its first record is whole; if it is not, the crash came while it
/// was begun, and the older one holds everything.
pub(super) fn newest(files: [&dyn StorageBackend; 2], ledger: LedgerId) -> Result<Option<Found>, JournalError> {
    let bytes = [load(files[0], 'a')?, load(files[1], 'b')?];
    let begun = [0, 1].map(|place| frame::decode(&bytes[place]).filter(|first| first.sequence == 0));
    let generation = |place: usize| begun[place].map(|first| first.generation);
    let Some(newer) = [0, 1].into_iter().filter(|&place| begun[place].is_some()).max_by_key(|&p| generation(p)) else {
        // No generation begins, but records are there: they had a beginning once.
        return match [0, 1].into_iter().find_map(|p| frame::find(&bytes[p], |f| f.sequence > 0).map(|f| (p, f))) {
            Some((place, later)) => Err(damaged(place, 0, 0, later.sequence)),
            None => Ok(None),
        };
    };
    let older = 1 - newer;
    let later_than_newer = |f: &frame::Frame<'_>| Some(f.generation) > generation(newer) && f.sequence > 0;
    if let (None, Some(later)) = (begun[older], frame::find(&bytes[older], later_than_newer)) {
        return Err(damaged(older, 0, 0, later.sequence));
    }
    replay(newer, &bytes[newer], ledger).map(Some)
}

fn load(file: &dyn StorageBackend, name: char) -> Result<Vec<u8>, JournalError> {
    let read = || {
        let len = usize::try_from(file.len()?).map_err(std::io::Error::other)?;
        let mut bytes = vec![0; len];
        file.read(0, &mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| JournalError::Io {
        operation: "read",
        file: name,
        reason: error.to_string(),
    })
}

fn damaged(place: usize, offset: usize, sequence: u64, later: u64) -> JournalError {
    JournalError::Damaged { file: name(place), offset: offset as u64, sequence, later }
}

/// Reads a generation to its last whole record.
fn replay(place: usize, bytes: &[u8], ledger: LedgerId) -> Result<Found, JournalError> {
    let nonsense = |sequence, what: String| JournalError::Nonsense { file: name(place), sequence, what };
    let no_record = || nonsense(0, "no record".to_owned());
    let first = frame::decode(bytes).ok_or_else(no_record)?;
    // The version stands in front, so that it is read whatever follows.
    let (version, _) = postcard::take_from_bytes::<u32>(first.payload).map_err(|e| nonsense(0, e.to_string()))?;
    if version != VERSION {
        return Err(JournalError::Version { found: version, expected: VERSION });
    }
    let begin: Begin = postcard::from_bytes(first.payload).map_err(|e| nonsense(0, e.to_string()))?;
    if begin.ledger != ledger {
        return Err(JournalError::OtherLedger { found: begin.ledger, expected: ledger });
    }
    let (generation, mut sequence, mut end, mut window) = (first.generation, 1, first.len, begin.window);
    let is_next = |f: &frame::Frame<'_>, sequence| f.generation == generation && f.sequence == sequence;
    while let Some(next) = frame::decode(&bytes[end..]).filter(|f| is_next(f, sequence)) {
        let change: Change = postcard::from_bytes(next.payload).map_err(|e| nonsense(sequence, e.to_string()))?;
        if !window.apply(change) {
            return Err(nonsense(sequence, "it takes off more blocks than there are".to_owned()));
        }
        sequence += 1;
        end += next.len;
    }
    if let Some(later) = frame::find(&bytes[end..], |f| f.generation == generation && f.sequence > sequence) {
        return Err(damaged(place, end, sequence, later.sequence));
    }
    let torn_bytes = bytes[end..].iter().rposition(|&byte| byte != 0).map_or(0, |last| last as u64 + 1);
    Ok(Found { generation, sequence, end: end as u64, window, changes: sequence - 1, torn_bytes })
}
