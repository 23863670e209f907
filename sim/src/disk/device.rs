//! The disk: files, faults, the log, and the crash.

use std::fmt;
use std::ops::RangeInclusive;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::monitor::OpKind;
use crate::rand::{Rng as _, Stream, stream};
use crate::runtime::entry;
use crate::runtime::objects::atomic::before;
use crate::runtime::objects::header::Header;

use super::counters::{Counters, FaultKind};
use super::file::File;
use super::image::Image;
use super::log::{Caches, Change, Entry, Log};
use super::outcome::Outcome;
use super::plan::{Plan, When};

/// How a disk is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The disk's name in traces. Its chance comes from the streams `faults/<name>/…`.
    pub name: &'static str,
    /// What the medium writes as a whole, in bytes: a power of two from 64 to 65,536. An [`Image`] brings its own.
    pub sector_size: usize,
    /// Whether operations are scheduling points of a simulated run and take virtual time. Off, nothing is switched
    /// inside of one: for code that holds locks of std around them which other threads want, too.
    pub scheduling_points: bool,
    /// Whether [`Disk::log`] is kept. It holds every byte that was ever written.
    pub log: bool,
    /// The faults.
    pub plan: Plan,
}

impl Default for Options {
    fn default() -> Self {
        Self { name: "disk", sector_size: 512, scheduling_points: true, log: true, plan: Plan::default() }
    }
}

/// A simulated block device with named files: see [the module](super). Clones are the same disk.
#[derive(Clone)]
pub struct Disk {
    pub(super) device: Arc<Device>,
}

/// What a disk and its open files share.
pub(super) struct Device {
    pub(super) header: Header,
    pub(super) options: Options,
    state: Mutex<State>,
}

/// What the device is at this moment.
pub(super) struct State {
    pub(super) caches: Caches,
    pub(super) counters: Counters,
    pub(super) lost_power: bool,
    /// The advisory locks on files: file, and the handle that has it.
    pub(super) locks: Vec<(usize, u64)>,
    pub(super) handles: u64,
    base: Image,
    entries: Option<Vec<Entry>>,
    streams: Vec<Stream>,
}

impl Disk {
    /// An empty disk.
    ///
    /// # Panics
    /// If no sector can have the size that is asked for.
    #[track_caller]
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::from_image(Image::empty(options.sector_size), options)
    }

    /// A disk that holds what an image holds, all of it durable. Sectors are as in the image.
    #[track_caller]
    #[must_use]
    pub fn from_image(mut image: Image, mut options: Options) -> Self {
        image.lost = 0;
        options.sector_size = image.geometry.sector;
        let streams = FaultKind::ALL.map(|kind| stream(&format!("faults/{}/{}", options.name, kind.name())));
        let state = State {
            caches: Caches::new(image.clone()),
            counters: Counters::of(&options.plan),
            lost_power: false,
            locks: Vec::new(),
            handles: 0,
            base: image,
            entries: options.log.then(Vec::new),
            streams: streams.into(),
        };
        let header = Header::new();
        entry::name(&header, options.name, |_run| ());
        Self { device: Arc::new(Device { header, options, state: Mutex::new(state) }) }
    }

    /// Opens a file, which is made, empty, if there is none. Names are durable at once. No scheduling point.
    #[must_use]
    pub fn open(&self, name: &str) -> File {
        let name: Arc<str> = name.into();
        let mut state = self.device.state();
        let file = state.caches.file(&name);
        state.handles += 1;
        let handle = state.handles;
        drop(state);
        File::new(Arc::clone(&self.device), file, handle, name)
    }

    /// How the disk was made, with the faults that are armed.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.device.options
    }

    /// What the disk has done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.device.state().counters
    }

    /// How many operations have changed what a crash leaves: the present crash point of [`Disk::log`].
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.device.state().caches.operations
    }

    /// The operations so far; `None` if the options say that no log is kept.
    #[must_use]
    pub fn log(&self) -> Option<Log> {
        let state = self.device.state();
        let entries = state.entries.as_ref()?.as_slice().into();
        Some(Log { base: state.base.clone(), names: state.caches.names.as_slice().into(), entries })
    }

    /// The disk as it would be found after a crash right after operation `point`: [`Log::image_at`] of [`Disk::log`].
    ///
    /// # Panics
    /// If there are fewer operations, or no log is kept.
    #[must_use]
    pub fn image_at(&self, point: u64, outcome: Outcome) -> Image {
        let Some(log) = self.log() else { panic!("interleaf: disk {:?} keeps no log", self.device.options.name) };
        log.image_at(point, outcome)
    }

    /// What is seen now, as if everything were synced and the disk copied.
    #[must_use]
    pub fn image(&self) -> Image {
        self.device.state().caches.image(Outcome::AllKept)
    }

    /// Power is lost, with one of all outcomes drawn from the disk's stream. See [`Disk::crash_with`].
    #[track_caller]
    #[must_use = "the image is all that is left"]
    pub fn crash(&self) -> Image {
        self.lose_power(None, Location::caller())
    }

    /// Power is lost: every later operation on the disk's files fails. Returns what is found afterwards. A scheduling
    /// point.
    #[track_caller]
    #[must_use = "the image is all that is left"]
    pub fn crash_with(&self, outcome: Outcome) -> Image {
        self.lose_power(Some(outcome), Location::caller())
    }

    fn lose_power(&self, outcome: Option<Outcome>, location: &'static Location<'static>) -> Image {
        let at_once = Duration::ZERO..=Duration::ZERO;
        let operation = Operation { kind: OpKind::Rmw, latency: &at_once, location };
        let describe = || String::from("power loss");
        self.device.operate(&operation, describe, |state| {
            let outcome = outcome.unwrap_or_else(|| Outcome::from_seed(state.draw(FaultKind::Crash)));
            state.crash(outcome)
        })
    }

    pub(crate) fn header(&self) -> &Header {
        &self.device.header
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("options", &self.device.options).finish_non_exhaustive()
    }
}

/// An operation on a device, as a run sees it.
pub(super) struct Operation<'a> {
    /// `Load` if the order of two of them does not matter, else `Rmw`.
    pub(super) kind: OpKind,
    pub(super) latency: &'a RangeInclusive<Duration>,
    pub(super) location: &'static Location<'static>,
}

impl Device {
    /// Does an operation: inside a run a scheduling point comes first, and the time that it takes afterwards. So what is
    /// drawn for it depends on the order of the operations alone.
    pub(super) fn operate<R>(
        &self,
        operation: &Operation<'_>,
        describe: impl FnOnce() -> String,
        act: impl FnOnce(&mut State) -> R,
    ) -> R {
        let &Operation { kind, latency, location } = operation;
        let run = if self.options.scheduling_points { before(&self.header, kind, location) } else { None };
        let (result, delay) = {
            let mut state = self.state();
            (act(&mut state), state.delay(latency))
        };
        if let Some(run) = run {
            run.after(&self.header, kind, true, location);
        }
        entry::note(describe, location);
        if run.is_some() && delay > Duration::ZERO {
            entry::sleep(delay, location);
        }
        result
    }

    /// The state. Never held across a scheduling point.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A number from the stream of the fault.
    pub(super) fn draw(&mut self, kind: FaultKind) -> u64 {
        self.streams[kind as usize].next_u64()
    }

    /// Whether the fault fires at the operation with this number.
    pub(super) fn fires(&mut self, kind: FaultKind, when: &When, number: u64) -> bool {
        let fires = match when {
            When::Never | When::OneIn(0) => false,
            When::Always => true,
            When::OneIn(n) => self.draw(kind).is_multiple_of(u64::from(*n)),
            When::At(numbers) => numbers.contains(&number),
        };
        if fires {
            self.counters.fire(kind);
        }
        fires
    }

    /// Does an operation that changes what a crash leaves.
    pub(super) fn change(&mut self, file: usize, change: Change) {
        let entry = Entry { file, change };
        self.caches.apply(&entry);
        if let Some(entries) = &mut self.entries {
            entries.push(entry);
        }
    }

    /// How long the next operation takes.
    fn delay(&mut self, latency: &RangeInclusive<Duration>) -> Duration {
        let (least, most) = (*latency.start(), *latency.end());
        let spread = u64::try_from(most.saturating_sub(least).as_nanos()).unwrap_or(u64::MAX);
        let extra = if spread == 0 { 0 } else { self.draw(FaultKind::Latency) % spread.saturating_add(1) };
        let delay = least + Duration::from_nanos(extra);
        if delay > Duration::ZERO {
            self.counters.fire(FaultKind::Latency);
            self.counters.latency += delay;
        }
        delay
    }

    fn crash(&mut self, outcome: Outcome) -> Image {
        self.lost_power = true;
        self.locks.clear();
        self.counters.arm(FaultKind::Crash);
        let image = self.caches.image(outcome);
        if image.lost > 0 {
            self.counters.fire(FaultKind::Crash);
        }
        image
    }
}
