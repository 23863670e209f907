//! Reads-from classes, noted by a monitor that shares nothing with the search for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use interleaf::monitor::{Event, Monitor, OpKind, Phase};
use interleaf::{Equivalence, Explorer, Report, Strategy, Violation};

/// An event by its thread and its place there.
pub(crate) type Name = (String, usize);
/// Whose write each event reads, if it reads; `None` for what was there from the beginning.
pub(crate) type Class = BTreeMap<Name, Option<Option<Name>>>;
pub(crate) type Classes = Arc<Mutex<BTreeSet<Class>>>;

/// Notes the class of the run that it watches.
struct Watcher {
    class: Class,
    places: BTreeMap<String, usize>,
    last: BTreeMap<u32, Name>,
    all: Classes,
}

impl Watcher {
    fn boxed(all: &Classes) -> Box<dyn Monitor> {
        Box::new(Self { class: Class::new(), places: BTreeMap::new(), last: BTreeMap::new(), all: Arc::clone(all) })
    }
}

impl Monitor for Watcher {
    fn step(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        let reads = matches!(event.kind, OpKind::Load | OpKind::Rmw | OpKind::Cas | OpKind::Lock | OpKind::TryLock);
        let writes = match event.kind {
            OpKind::Store | OpKind::Rmw | OpKind::Lock | OpKind::Unlock => true,
            OpKind::Cas | OpKind::TryLock => event.success,
            _ => false,
        };
        if event.phase == Phase::Executed && (reads || writes) {
            let place = self.places.entry(event.thread_name.to_owned()).or_default();
            let name = (event.thread_name.to_owned(), *place);
            *place += 1;
            self.class.insert(name.clone(), reads.then(|| self.last.get(&event.object).cloned()));
            if writes {
                self.last.insert(event.object, name);
            }
        }
        Ok(())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.all.lock().expect("not poisoned").insert(std::mem::take(&mut self.class));
    }
}

pub(crate) fn explorer<'a>(strategy: Strategy, limit: u64, classes: &Classes) -> Explorer<'a> {
    let classes = Arc::clone(classes);
    Explorer::new()
        .strategy(strategy)
        .seeds(0..limit)
        .every_operation(true)
        .whole_deadlocks(true)
        .check_determinism(false)
        .max_failures(usize::MAX)
        .monitor(move || Watcher::boxed(&classes))
}

pub(crate) fn by_class<'a>(limit: u64, classes: &Classes) -> Explorer<'a> {
    explorer(Strategy::Exhaustive { preemptions: None }, limit, classes).equivalence(Equivalence::ReadsFrom)
}

/// What is wrong with an exploration that should have made one run for each class of `all`.
pub(crate) fn difference(report: &Report, seen: &Classes, all: &BTreeSet<Class>) -> Option<String> {
    let seen = seen.lock().expect("not poisoned");
    let missed = all.difference(&seen).count();
    let good = report.complete
        && report.executions == all.len() as u64
        && missed == 0
        && report.exhaustive.redundant + report.blocked == 0;
    (!good).then(|| {
        let (runs, classes) = (report.executions, all.len());
        format!(
            "{runs} runs for {classes} classes, {missed} missed, complete {}, {:?}",
            report.complete, report.exhaustive
        )
    })
}
