//! redb on a simulated disk: as on a real file, and after a crash at every operation. `--features redb`.

use std::collections::BTreeMap;

use interleaf::disk::{Disk, Image, Log, Options, Outcome, Plan, When};
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

const ROWS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("rows");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// What the database holds: the number of the last commit, and the rows.
type State = (u64, BTreeMap<u64, Vec<u8>>);

fn open(backend: impl StorageBackend) -> Result<Database, redb::DatabaseError> {
    redb::Builder::new().set_cache_size(1 << 20).create_with_backend(backend)
}

/// Commit `number`: some rows are written, some are removed, values are of all sizes up to some pages.
fn commit(db: &Database, number: u64, state: &mut State) -> Result<(), redb::Error> {
    let transaction = db.begin_write()?;
    {
        let mut rows = transaction.open_table(ROWS)?;
        for i in 0..6 {
            let key = (number * 7 + i * 13) % 61;
            let size = if i == 0 { 3_000 * (number as usize % 5) } else { 40 + i as usize };
            let value = vec![(number + i) as u8; size];
            rows.insert(key, &*value)?;
            state.1.insert(key, value);
        }
        let gone = number * 5 % 61;
        rows.remove(gone)?;
        state.1.remove(&gone);
        transaction.open_table(META)?.insert("commit", number)?;
    }
    transaction.commit()?;
    state.0 = number;
    Ok(())
}

fn read(db: &Database) -> Result<State, redb::Error> {
    let transaction = db.begin_read()?;
    let number = match transaction.open_table(META) {
        Ok(meta) => meta.get("commit")?.map_or(0, |number| number.value()),
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(State::default()),
        Err(error) => return Err(error.into()),
    };
    let mut rows = BTreeMap::new();
    for row in transaction.open_table(ROWS)?.iter()? {
        let (key, value) = row?;
        rows.insert(key.value(), value.value().to_vec());
    }
    Ok((number, rows))
}

/// A run that stores some commits: the log, the states, and for each commit the operations until it was acknowledged.
struct Run {
    log: Log,
    states: Vec<State>,
    acknowledged: Vec<u64>,
    created: u64,
}

fn run(commits: u64, plan: Plan) -> Run {
    let disk = Disk::new(Options { plan, ..Options::default() });
    let db = open(disk.open("rows.redb")).unwrap();
    let created = disk.operations();
    let (mut states, mut acknowledged) = (vec![State::default()], vec![0]);
    for number in 1..=commits {
        let mut state = states.last().unwrap().clone();
        commit(&db, number, &mut state).unwrap();
        states.push(state);
        acknowledged.push(disk.operations());
    }
    drop(db);
    Run { log: disk.log().unwrap(), states, acknowledged, created }
}

/// Opens what a crash has left, and says what is wrong with it.
fn check(run: &Run, point: u64, found: Image) -> Result<(), String> {
    let disk = Disk::from_image(found, Options { log: false, ..Options::default() });
    let mut db = open(disk.open("rows.redb")).map_err(|error| format!("does not open: {error}"))?;
    db.check_integrity().map_err(|error| format!("integrity: {error}"))?;
    let (number, rows) = read(&db).map_err(|error| format!("is not read: {error}"))?;
    let acknowledged = run.acknowledged.iter().rposition(|&since| since <= point).unwrap_or(0) as u64;
    if !(acknowledged..=acknowledged + 1).contains(&number) {
        return Err(format!("holds commit {number}; {acknowledged} was acknowledged"));
    }
    if rows != run.states[number as usize].1 {
        return Err(format!("commit {number} is not whole"));
    }
    Ok(())
}

/// Every crash point from `first` on under every outcome; what is wrong at the first bad ones, and how many were looked at.
fn crashes(run: &Run, first: u64) -> (Vec<String>, u64, u64) {
    let mut walk = run.log.walk();
    walk.go_to(first);
    let (mut wrong, mut images, mut lossy) = (Vec::new(), 0, 0);
    loop {
        let point = walk.point();
        for outcome in Outcome::all(point) {
            let found = walk.image(outcome);
            images += 1;
            lossy += u64::from(found.lost() > 0);
            if let Err(what) = check(run, point, found) {
                let operation = run.log.describe(point).unwrap_or_default();
                wrong.push(format!("crash after operation {point} ({operation}), {outcome:?}: {what}"));
            }
        }
        if !walk.advance() {
            return (wrong, images, lossy);
        }
    }
}

#[test]
fn a_disk_that_lies_about_syncs_is_found_out() {
    let run = run(10, Plan { lying_syncs: When::OneIn(3), ..Plan::default() });
    let (wrong, images, _) = crashes(&run, run.created);
    assert!(wrong.len() > 10, "{} of {images} wrong", wrong.len());
}

#[test]
fn redb_does_the_same_on_a_real_file() {
    // Parity: the same commits, closed and opened again.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.redb");
    let file = || {
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        redb::backends::FileBackend::new(file).unwrap()
    };
    let disk = Disk::new(Options::default());
    let exercise = |open: &dyn Fn() -> Database| {
        let mut state = State::default();
        for round in 0..3 {
            let mut db = open();
            assert_eq!(read(&db).unwrap(), state);
            for number in round * 4 + 1..=round * 4 + 4 {
                commit(&db, number, &mut state).unwrap();
            }
            assert!(db.check_integrity().unwrap());
        }
        state
    };
    let real = exercise(&|| open(file()).unwrap());
    let simulated = exercise(&|| open(disk.open("rows.redb")).unwrap());
    assert_eq!(real, simulated);
    assert_eq!(std::fs::read(&path).unwrap(), disk.image().read("rows.redb").unwrap(), "byte for byte");
}

#[test]
fn redb_loses_no_commit_at_any_crash_point() {
    let run = run(30, Plan::default());
    let (wrong, images, lossy) = crashes(&run, run.created);
    println!("{} operations, created after {}, {images} images, {lossy} lost something", run.log.len(), run.created);
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    assert!(lossy * 3 > images, "{lossy} of {images} crashes took something away");
}
