//! A work item: the beginning of a run that stands for a part of all traces.

use serde::{Deserialize, Serialize};

use super::class::Class;
use super::record::{Access, places};

/// One step of the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Index into [`Item::threads`].
    pub(crate) thread: u16,
    /// Choices of values made in the step.
    pub(crate) choices: u16,
    /// The step may not be displaced by what comes later.
    pub(crate) forced: bool,
    /// The group that it is a member of: index into [`Item::groups`] plus one.
    pub(crate) group: u16,
}

/// Events that were brought before an event of another thread: that one is *displaced*.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    /// Index into [`Item::threads`] of the thread whose event is displaced.
    pub(crate) thread: u16,
    /// Number of events that this thread has had before.
    pub(crate) index: u32,
    /// What the displaced operation, when last seen, commuted with.
    pub(crate) class: Class,
    /// What came along with it, when it was displaced: objects, and whether they were only read.
    pub(crate) along: Vec<(u32, bool)>,
    /// It is a step of a wait. Once the thread has been woken it will do another one.
    pub(crate) waits: bool,
    /// Where it was displaced.
    pub(crate) from: u32,
}

/// How a member of the newest group must conflict with the displaced event, by its accesses: see
/// [`super::record::places`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Conflict {
    /// These accesses conflict in any case.
    pub(crate) always: u32,
    /// These conflict if they write.
    pub(crate) writing: u32,
}

impl Conflict {
    /// Whether one of these accesses conflicts as it must.
    pub(crate) fn is_in(self, accesses: &[Access]) -> bool {
        places(accesses).any(|(place, a)| self.always & place != 0 || self.writing & place != 0 && !a.reads)
    }
}

/// The beginning of a run. It carries all that another worker or process needs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Item {
    /// Threads by their place in the tree of threads.
    pub(crate) threads: Vec<u64>,
    pub(crate) steps: Vec<Step>,
    /// Choices of values, in order.
    pub(crate) choices: Vec<u8>,
    pub(crate) groups: Vec<Group>,
    /// Steps from here on are not those of the run that the item was found in.
    pub(crate) moved: u32,
    /// The members of the newest group begin here; the number of steps if the item has none.
    pub(crate) heads: u32,
    pub(crate) conflicts: Vec<Conflict>,
}

impl Item {
    pub(crate) fn thread(&mut self, key: u64) -> u16 {
        match self.threads.iter().position(|&k| k == key) {
            Some(at) => at as u16,
            None => {
                self.threads.push(key);
                (self.threads.len() - 1) as u16
            }
        }
    }
}

impl Item {
    /// Whether all that it refers to exists: it may come from a file.
    pub(crate) fn is_sound(&self) -> bool {
        let (threads, groups, steps) = (self.threads.len(), self.groups.len(), self.steps.len());
        let choices: usize = self.steps.iter().map(|s| s.choices as usize).sum();
        self.steps.iter().all(|s| (s.thread as usize) < threads && s.group as usize <= groups)
            && self.groups.iter().all(|g| (g.thread as usize) < threads)
            && self.moved as usize <= steps
            && self.heads as usize <= steps
            && self.moved <= self.heads
            && choices == self.choices.len()
            && (self.heads as usize == steps || self.conflicts.len() == steps - self.heads as usize)
    }
}
