//! One run from start to tear-down, and the machine that makes many.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::choice;
use crate::explore::failure::FailureKind;
use crate::memory::MemoryModel;
use crate::memory::guide::Guide;
use crate::memory::item::Item;
use crate::memory::state::Memory;
use crate::monitor::Monitor;
use crate::strategy::{Active, Plan};
use crate::trace::{Trace, TraceObject};

use super::claim::Seat;
use super::rt::{Mode, NOBODY, RUNNER, Rt, SLOW_ASKED, Settings, current, install};
use super::{abort, context, inlined, locals, overflow, panic_hook, point, record, teardown, threads, watchdog, weak};

const SCHEDULE: u64 = choice::name_hash("schedule");

/// What is to be noted of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    /// One byte a step.
    Choices,
    /// Also the hash of the happens-before order, and the monitor's view.
    Order,
    /// Everything: trace, names, decisions, backtraces.
    Full,
}

/// How a run ended.
pub(crate) struct Outcome {
    pub(crate) failure: Option<Box<FailureKind>>,
    pub(crate) steps: u32,
    /// Hash of the happens-before order, if it was asked for.
    pub(crate) interleaving: u64,
    /// The run must be repeated with every release of a lock a scheduling point.
    pub(crate) observed_late: bool,
    /// Armed faults that fired: spurious wake-ups, weak compare-and-swap failures.
    pub(crate) fired: [u32; 2],
}

/// The runtime of one exploring OS thread. While it exists, no other may on the same OS thread.
pub(crate) struct Machine {
    rt: Box<Rt>,
    seat: Seat,
    _watched: watchdog::Watched,
}

impl Machine {
    /// # Panics
    /// Inside a simulation: a run cannot explore.
    pub(crate) fn new(settings: Settings) -> Self {
        assert!(current().is_null(), "interleaf: an exploration was started inside a simulated run");
        panic_hook::install();
        overflow::install();
        abort::install();
        let rt = Rt::new(settings);
        let watched = watchdog::watch(&rt);
        Self { rt, seat: Seat::take(), _watched: watched }
    }

    pub(crate) fn rt(&self) -> &Rt {
        &self.rt
    }

    /// The choices of the last run: a thread slot or a value per step.
    pub(crate) fn choices(&self) -> &[u8] {
        self.rt.choices()
    }

    /// The settings that the last run was made with.
    pub(crate) fn settings_of_last_run(&self) -> Settings {
        Settings { every_operation: self.rt.every_operation, ..self.rt.settings }
    }

    /// Takes back the strategy that the last run used, to keep its state for the next.
    pub(crate) fn take_active(&mut self) -> Active {
        std::mem::replace(&mut self.rt.active, Active::None)
    }

    /// Forgets what profile runs have shown. Those that follow also learn who uses which object, if that is wanted.
    pub(crate) fn forget_profile(&mut self, objects: bool) {
        self.rt.inlined.forget(objects);
    }

    /// The last run was a profile run ([`Plan::Learn`]): keeps what it showed.
    pub(crate) fn learn_profile(&mut self) {
        self.rt.inlined.learn();
    }

    /// The alternatives that the last run has put aside, if it was one of the search over execution graphs.
    /// And why it could not be finished.
    pub(crate) fn take_items(&mut self) -> (Vec<Item>, Option<String>) {
        let guide = self.rt.memory.as_mut().and_then(|memory| memory.guide.as_mut());
        guide.map_or_else(Default::default, |guide| (std::mem::take(&mut guide.found), guide.error.take()))
    }

    /// Whether the last run ended because a thread waits in a loop for what it has chosen not to see.
    pub(crate) fn was_blocked(&self) -> bool {
        super::deadlock::only_this_run(&self.rt)
    }

    /// Makes every release of a lock a scheduling point from now on, or goes back to the setting.
    pub(crate) fn every_operation(&mut self, on: bool) {
        self.rt.every_operation = on || self.rt.settings.every_operation;
    }

    /// Runs `f` once.
    #[inline(always)]
    pub(crate) fn run<F: Fn()>(
        &mut self,
        f: &F,
        seed: u64,
        plan: Plan,
        detail: Detail,
        monitor: Option<Box<dyn Monitor>>,
    ) -> Outcome {
        self.begin(seed, plan, detail, monitor);
        let r: *mut Rt = &raw mut *self.rt;
        install(r);
        // SAFETY: `r` is installed as this OS thread's runtime and lives in `self`; `f` outlives the run, since every
        // thread has ended or been unwound when `unwind_all` returns.
        unsafe {
            threads::spawn_main(r, f);
            let first = point::next_thread(r);
            context::run(r, first);
            if (*r).alive != 0 {
                teardown::unwind_all(r);
            }
        }
        install(std::ptr::null_mut());
        self.end()
    }

    #[inline(always)]
    fn begin(&mut self, seed: u64, plan: Plan, detail: Detail, monitor: Option<Box<dyn Monitor>>) {
        let epoch = self.seat.next_epoch();
        let r = &mut *self.rt;
        r.epoch = epoch;
        r.seed = seed;
        r.cur = RUNNER;
        r.enabled = 0;
        r.eager = 0;
        r.before_eager = NOBODY;
        r.slow = 0;
        r.alive = 0;
        r.tokens = 0;
        r.parked = 0;
        r.unwinding = 0;
        r.cancelled = 0;
        r.panicked_in_drop = 0;
        r.aborted = 0;
        r.patience = teardown::PATIENCE;
        r.cancel = false;
        r.objects = 0;
        r.now = Duration::ZERO;
        r.sleepers = 0;
        r.observed_late = false;
        r.spurious_left = r.settings.spurious_wakeups;
        r.weak_left = r.settings.weak_cas_failures;
        r.fired = [0; 2];
        r.threads.clear();
        if !(r.names.is_empty() && r.unobserved.is_empty() && r.taken.is_empty() && r.panics.is_empty()) {
            r.names.clear();
            r.unobserved.clear();
            r.taken.clear();
            r.panics.clear();
        }
        r.recursive.clear();
        if !r.cells.is_empty() {
            // Not freed: see `per_run`.
            r.cells.clear();
        }
        if r.with_locals != 0 {
            locals::forget(r);
        }
        r.steps.store(0, Ordering::Relaxed);
        r.rng = Xoshiro256PlusPlus::seed_from_u64(choice::seed_of(seed, SCHEDULE));
        let named = detail == Detail::Full || monitor.is_some();
        let weak = r.settings.memory_model != MemoryModel::Sc;
        let track = detail != Detail::Choices || named || weak;
        if track || r.track {
            r.tracks.reset(detail == Detail::Full, named);
        }
        record::set_tracking(r, track);
        if weak || r.memory.is_some() {
            r.memory = weak.then(|| Box::new(Memory::new(r.settings.memory_model)));
        }
        if monitor.is_some() || r.monitor.is_some() {
            r.monitor = monitor;
        }
        r.capture_backtraces = detail == Detail::Full;
        r.adopt(plan);
    }

    #[inline(always)]
    fn end(&mut self) -> Outcome {
        let r = &mut *self.rt;
        if r.failure.is_none()
            && let Some(mut monitor) = r.monitor.take()
            && let Err(violation) = monitor.end()
        {
            r.failure = Some(Box::new(FailureKind::Violation(violation)));
        }
        if r.monitor.is_some() {
            r.monitor = None;
        }
        if r.failure.is_none() && !r.unobserved.is_empty() {
            let (number, panic) = r.unobserved.remove(0);
            r.failure = Some(Box::new(FailureKind::Panic { thread: threads::label(r, number), panic }));
        }
        Outcome {
            failure: r.failure.take(),
            steps: r.step(),
            interleaving: if r.track { weak::interleaving(r) } else { 0 },
            observed_late: r.observed_late,
            fired: r.fired,
        }
    }

    /// The trace of the last run, if it was made with [`Detail::Full`].
    pub(crate) fn trace(&mut self) -> Trace {
        let tracks = &mut self.rt.tracks;
        Trace {
            threads: tracks.thread_names(),
            objects: tracks.objects.iter().map(|o| TraceObject { name: o.name, created: o.created }).collect(),
            events: tracks.events.take().unwrap_or_default(),
            decisions: std::mem::take(&mut tracks.decisions),
            stale: std::mem::take(&mut tracks.stale),
        }
    }
}

impl Rt {
    /// Sets up the strategy for the run that begins.
    #[inline(always)]
    fn adopt(&mut self, plan: Plan) {
        self.above = u64::MAX;
        self.next_change = u32::MAX;
        match plan {
            Plan::Random => self.mode = Mode::Random,
            Plan::Pct { depth, length } => {
                self.mode = Mode::Pct;
                self.draw_changes(depth, length);
            }
            Plan::Asked(active) => {
                self.mode = Mode::Asked;
                self.slow |= SLOW_ASKED;
                self.active = active;
                if let (Active::Graph(item), Some(memory)) = (&mut self.active, &mut self.memory) {
                    memory.guide = item.take().map(|item| Box::new(Guide::new(*item)));
                }
            }
            Plan::Pos => self.adopt_inlined(Mode::Pos),
            Plan::Urw => self.adopt_inlined(Mode::Urw),
            Plan::Surw => self.adopt_inlined(Mode::Surw),
            Plan::Learn => self.adopt_inlined(Mode::Learn),
        }
    }

    /// `above` is full and stays so: the scheduling point's own paths do not apply.
    #[cold]
    fn adopt_inlined(&mut self, mode: Mode) {
        self.mode = mode;
        inlined::begin(self);
    }

    /// PCT (Burckhardt et al., ASPLOS 2010): `depth - 1` change points at uniform steps of `0..length`, whose
    /// priorities `1..depth` are dealt in random order, *independent of when the points are reached*. Dealing them in
    /// the order of time would make some bugs of that depth unreachable.
    fn draw_changes(&mut self, depth: u32, length: u32) {
        self.lowest = 0;
        self.change_index = 0;
        self.changes.clear();
        for priority in 1..depth as i32 {
            // Steps are uniform and independent, so the priorities stand in random order once sorted by step; for
            // equal steps the order is the one of the priorities, and the last one stays.
            let step = self.below(length.max(1));
            self.changes.push((step, priority));
        }
        self.changes.sort_unstable();
        self.next_change = self.changes.first().map_or(u32::MAX, |c| c.0);
    }
}
