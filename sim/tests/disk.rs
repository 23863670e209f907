//! The simulated disk: what survives a crash is always explainable, faults fire when they are armed, and every image
//! follows from the seed.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use interleaf::disk::{Disk, FaultKind, File, Image, Options, Outcome, Plan, When};
use interleaf::{Explorer, Strategy as Schedules, thread};
use proptest::prelude::*;

const SECTOR: usize = 64;

fn disk(plan: Plan) -> Disk {
    Disk::new(Options { sector_size: SECTOR, plan, ..Options::default() })
}

/// An operation on one of two files.
#[derive(Clone, Debug)]
enum Step {
    Write { file: usize, at: u64, len: usize, byte: u8 },
    SetLen { file: usize, len: u64 },
    Sync { file: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2usize, 0..400u64, 1..200usize, 1..=u8::MAX)
            .prop_map(|(file, at, len, byte)| Step::Write { file, at, len, byte }),
        1 => (0..2usize, 0..500u64).prop_map(|(file, len)| Step::SetLen { file, len }),
        2 => (0..2usize).prop_map(|file| Step::Sync { file }),
    ]
}

/// What a file may hold after a crash: the contents that it had since its last sync, the synced one first.
#[derive(Clone, Default)]
struct Model {
    since_sync: Vec<Vec<u8>>,
}

impl Model {
    fn now(&self) -> Vec<u8> {
        self.since_sync.last().cloned().unwrap_or_default()
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut next = self.now();
        if self.since_sync.is_empty() {
            self.since_sync.push(Vec::new());
        }
        change(&mut next);
        self.since_sync.push(next);
    }

    fn sync(&mut self) {
        self.since_sync = vec![self.now()];
    }

    /// Whether each sector of `found` is one that the file had at some moment since the sync, and its length too. A part
    /// behind the end of a content counts as zeros.
    fn explains(&self, found: &[u8]) -> bool {
        let empty = [Vec::new()];
        let moments = if self.since_sync.is_empty() { &empty[..] } else { &self.since_sync[..] };
        let sector_of = |content: &[u8], sector: usize, len: usize| {
            let from = sector * SECTOR;
            (from..from + len).map(|at| content.get(at).copied().unwrap_or(0)).collect::<Vec<_>>()
        };
        moments.iter().any(|content| content.len() == found.len())
            && found
                .chunks(SECTOR)
                .enumerate()
                .all(|(sector, bytes)| moments.iter().any(|content| sector_of(content, sector, bytes.len()) == bytes))
    }
}

fn apply(file: &File, model: &mut Model, step: &Step) {
    match *step {
        Step::Write { at, len, byte, .. } => {
            file.write_at(at, &vec![byte; len]).unwrap();
            model.change(|content| {
                let end = at as usize + len;
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[at as usize..end].fill(byte);
            });
        }
        Step::SetLen { len, .. } => {
            file.set_len(len).unwrap();
            model.change(|content| content.resize(len as usize, 0));
        }
        Step::Sync { .. } => {
            file.sync().unwrap();
            model.sync();
        }
    }
}

proptest! {
    #[test]
    fn whatever_survives_a_crash_was_there_since_the_last_sync(steps in prop::collection::vec(step(), 1..30), seed: u64) {
        let disk = disk(Plan::default());
        let files = ["a", "b"].map(|name| disk.open(name));
        let mut models = [Model::default(), Model::default()];
        for step in &steps {
            let (Step::Write { file, .. } | Step::SetLen { file, .. } | Step::Sync { file }) = *step;
            apply(&files[file], &mut models[file], step);
        }
        for (file, model) in files.iter().zip(&models) {
            let mut seen = vec![0; file.len().unwrap() as usize];
            file.read_at(0, &mut seen).unwrap();
            prop_assert_eq!(seen, model.now(), "a read sees the last write");
        }
        for outcome in Outcome::all(seed).into_iter().chain((0..8).map(|n| Outcome::from_seed(seed ^ n))) {
            let found = disk.image_at(disk.operations(), outcome);
            for (name, model) in ["a", "b"].iter().zip(&models) {
                let bytes = found.read(name).unwrap();
                prop_assert!(model.explains(&bytes), "{outcome:?} left {bytes:?} of {name}");
                match outcome {
                    Outcome::AllKept => prop_assert_eq!(bytes, model.now()),
                    Outcome::AllLost => prop_assert_eq!(bytes, model.since_sync.first().cloned().unwrap_or_default()),
                    _ => {}
                }
            }
            // The same operations and the same outcome, the same bytes.
            prop_assert_eq!(found.digest(), disk.image_at(disk.operations(), outcome).digest());
        }
    }
}

#[test]
fn the_log_walks_through_the_images_of_every_moment() {
    let disk = disk(Plan::default());
    let file = disk.open("a");
    let mut images = vec![disk.image().digest()];
    for n in 0..40u8 {
        match n % 3 {
            0 => file.write_at(u64::from(n) * 37, &[n; 100]).unwrap(),
            1 => file.set_len(u64::from(n) * 30).unwrap(),
            _ => file.sync().unwrap(),
        }
        images.push(disk.image().digest());
    }
    let log = disk.log().unwrap();
    let mut walk = log.walk();
    let mut walked = vec![walk.image(Outcome::AllKept).digest()];
    while walk.advance() {
        walked.push(walk.image(Outcome::AllKept).digest());
    }
    assert_eq!(walked, images);
    assert!(log.describe(1).unwrap().contains("write"), "{:?}", log.describe(1));
}

/// Ten writes and syncs; how many of them failed.
fn exercise(disk: &Disk) -> u32 {
    let file = disk.open("a");
    let mut failed = 0;
    for n in 0..10u8 {
        failed += u32::from(file.write_at(u64::from(n) * 100, &[n + 1; 100]).is_err());
        failed += u32::from(file.sync().is_err());
        failed += u32::from(file.read_at(0, &mut [0; 10]).is_err());
    }
    failed
}

#[test]
fn each_fault_alone_changes_what_happens_and_is_counted() {
    let quiet = disk(Plan::default());
    assert_eq!(exercise(&quiet), 0);
    assert_eq!(quiet.counters().never_fired().count(), 0);
    let plans: [(FaultKind, Plan); 6] = [
        (FaultKind::ReadError, Plan { read_errors: When::at(3), ..Plan::default() }),
        (FaultKind::WriteError, Plan { write_errors: When::at(3), ..Plan::default() }),
        (FaultKind::SyncError, Plan { sync_errors: When::at(3), ..Plan::default() }),
        (FaultKind::PowerLoss, Plan { power_losses: When::at(7), ..Plan::default() }),
        (FaultKind::DiskFull, Plan { capacity: Some(512), ..Plan::default() }),
        (FaultKind::LyingSync, Plan { lying_syncs: When::at(10), ..Plan::default() }),
    ];
    for (kind, plan) in plans {
        let disk = disk(plan);
        let failed = exercise(&disk);
        assert!(disk.counters().armed(kind) && disk.counters().fired(kind) > 0, "{kind:?}");
        let found = disk.crash_with(Outcome::AllLost).digest();
        let expected = quiet.image_at(quiet.operations(), Outcome::AllLost).digest();
        assert!(failed > 0 || found != expected, "{kind:?} changed nothing");
    }
    // Armed, but the run was over before.
    let late = disk(Plan { sync_errors: When::at(1_000), ..Plan::default() });
    exercise(&late);
    assert_eq!(late.counters().never_fired().collect::<Vec<_>>(), [FaultKind::SyncError]);
}

#[test]
fn after_a_failed_sync_later_ones_promise_nothing_for_the_same_data() {
    let disk = disk(Plan { sync_errors: When::at(1), ..Plan::default() });
    let file = disk.open("a");
    file.write_at(0, b"first").unwrap();
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_ne!(disk.image_at(disk.operations(), Outcome::AllLost).read("a").unwrap(), b"first");
    file.write_at(0, b"again").unwrap();
    file.sync().unwrap();
    assert_eq!(disk.image_at(disk.operations(), Outcome::AllLost).read("a").unwrap(), b"again");
}

#[test]
fn inside_a_run_the_seed_decides_and_operations_interleave() {
    // The same seed gives the same images; two threads on one file come in both orders.
    let found = |seeds| {
        let found = Mutex::new(Vec::new());
        let report = Explorer::new().seeds(seeds).strategy(Schedules::Random).run(|| {
            let disk = disk(Plan { write_errors: When::OneIn(5), ..Plan::default() });
            let (first, second) = (disk.open("a"), disk.open("a"));
            let other = thread::spawn(move || (0..4u8).for_each(|n| drop(first.write_at(u64::from(n), &[1]))));
            (0..4u8).for_each(|n| drop(second.write_at(u64::from(n), &[2])));
            other.join().unwrap();
            found.lock().unwrap().push(disk.crash().digest());
        });
        assert!(report.failures.is_empty());
        found.into_inner().unwrap()
    };
    let once = found(0..50);
    assert_eq!(once, found(0..50));
    let distinct: std::collections::BTreeSet<_> = once.iter().collect();
    assert!(distinct.len() > 8, "{}", distinct.len());
    assert_ne!(once, found(100..150));
}

#[test]
fn latency_passes_in_virtual_time() {
    let second = std::time::Duration::from_secs(1);
    let plan = Plan { write_latency: second..=second, sync_latency: 2 * second..=2 * second, ..Plan::default() };
    let report = Explorer::new().seeds(0..20).run(move || {
        let disk = disk(plan.clone());
        let file = disk.open("a");
        let before = interleaf::time::Instant::now();
        file.write_at(0, b"x").unwrap();
        file.sync().unwrap();
        assert!(before.elapsed() >= 3 * second);
        assert_eq!(disk.counters().latency, 3 * second);
    });
    assert!(report.failures.is_empty(), "{:?}", report.first_failure());
}

/// An append-only log of lines: the same code on a real file and on a simulated one.
trait Lines {
    fn append(&mut self, line: &[u8]) -> u64;
    fn all(&mut self) -> Vec<u8>;
    fn cut(&mut self, len: u64);
}

impl Lines for std::fs::File {
    fn append(&mut self, line: &[u8]) -> u64 {
        let at = self.seek(SeekFrom::End(0)).unwrap();
        self.write_all(line).unwrap();
        self.sync_data().unwrap();
        at
    }

    fn all(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.rewind().unwrap();
        self.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn cut(&mut self, len: u64) {
        self.set_len(len).unwrap();
    }
}

impl Lines for File {
    fn append(&mut self, line: &[u8]) -> u64 {
        let at = self.len().unwrap();
        self.write_at(at, line).unwrap();
        self.sync().unwrap();
        at
    }

    fn all(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; self.len().unwrap() as usize];
        self.read_at(0, &mut bytes).unwrap();
        bytes
    }

    fn cut(&mut self, len: u64) {
        self.set_len(len).unwrap();
    }
}

#[test]
fn a_simulated_file_does_what_a_real_one_does() {
    fn exercise(mut lines: impl Lines) -> (Vec<u64>, Vec<u8>) {
        let mut places: Vec<u64> = [&b"one"[..], b"two", b"", b"three"].map(|line| lines.append(line)).into();
        lines.cut(4);
        places.push(lines.append(b"four"));
        lines.cut(40);
        (places, lines.all())
    }
    let real = exercise(tempfile::tempfile().unwrap());
    assert_eq!(exercise(disk(Plan::default()).open("lines")), real);
    let image = Image::empty(512);
    assert_eq!(exercise(Disk::from_image(image, Options::default()).open("lines")), real);
}
