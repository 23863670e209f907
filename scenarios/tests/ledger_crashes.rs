//! The ledger after a crash at every operation on its disk, under every outcome for what was not synced (decision O11).

mod durable;

use durable::{History, disk_of, next, open, run};
use interleaf::disk::{Image, Outcome, Plan, When};
use interleaf_engine::planted::Planted;

/// What is wrong with the ledger that a crash at `point` has left.
fn check(history: &History, point: u64, found: Image, planted: Option<Planted>, go_on: bool) -> Result<(), String> {
    let disk = disk_of(found);
    let (ledger, _) = open(&disk, planted).map_err(|error| format!("does not open: {error}"))?;
    let state = ledger.state().map_err(|error| format!("is not read: {error}"))?.confirmed;
    let last = history.acknowledged.iter().rposition(|(since, _)| *since <= point);
    // What was acknowledged last, or what was on its way.
    let allowed = &history.acknowledged[last.unwrap_or(0)..];
    let Some((_, whole)) = allowed.iter().take(2).find(|(_, whole)| whole.tip == state.tip) else {
        let acknowledged = &allowed[0].1.tip;
        return Err(format!(
            "has {:?} at height {}; {acknowledged:?} was acknowledged",
            state.tip.id, state.tip.height
        ));
    };
    if *whole != state {
        return Err(format!("the state at height {} is not whole", state.tip.height));
    }
    drop(ledger);
    // Recovery is idempotent, and the ledger goes on from there.
    let (ledger, _) = open(&disk, planted).map_err(|error| format!("does not open again: {error}"))?;
    let again = ledger.state().map_err(|error| format!("is not read again: {error}"))?.confirmed;
    if again != state {
        return Err("opened twice, the state differs".to_owned());
    }
    if go_on {
        let block = next(&state, 5_000);
        ledger.add_block(block.clone()).map_err(|error| format!("does not go on: {error}"))?;
        drop(ledger);
        let (ledger, _) = open(&disk, planted).map_err(|error| format!("does not open after going on: {error}"))?;
        if ledger.current_block().meta.id != block.id {
            return Err("lost what it acknowledged after the recovery".to_owned());
        }
    }
    Ok(())
}

/// What is wrong after crashes at every `step`-th point from `first` on; how many points and images were looked at, and
/// from how many something was taken away.
struct Crashes {
    wrong: Vec<String>,
    points: u64,
    images: u64,
    lossy: u64,
}

fn crashes(history: &History, (first, step): (u64, u64), planted: Option<Planted>) -> Crashes {
    let mut walk = history.log.walk();
    let mut all = Crashes { wrong: Vec::new(), points: 0, images: 0, lossy: 0 };
    loop {
        let point = walk.point();
        if point % step == first {
            all.points += 1;
            for outcome in Outcome::all(point) {
                let found = walk.image(outcome);
                all.images += 1;
                all.lossy += u64::from(found.lost() > 0);
                if let Err(what) = check(history, point, found, planted, point.is_multiple_of(7)) {
                    let operation = history.log.describe(point).unwrap_or_default();
                    all.wrong.push(format!("crash after operation {point} ({operation}), {outcome:?}: {what}"));
                }
            }
        }
        if !walk.advance() {
            return all;
        }
    }
}

const CHANGES: u64 = 100;

fn nothing_is_lost(half: u64) {
    let history = run(CHANGES, None, Plan::default());
    let tip = &history.acknowledged[history.acknowledged.len() - 1].1.tip;
    let found = crashes(&history, (half, 2), None);
    let Crashes { wrong, points, images, lossy } = found;
    println!(
        "{} operations, height {}: {points} points, {images} images, {lossy} lossy",
        history.log.len(),
        tip.height
    );
    assert!(wrong.is_empty(), "{} of {images} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    // The bar: 60 blocks with forks, 2,000 points, three outcomes and more.
    assert!(tip.height >= 60 && history.log.len() >= 2_000 && images >= 5 * points && points >= 1_000);
    assert!(lossy * 4 > images, "{lossy} of {images} crashes took something away");
}

#[test]
fn nothing_acknowledged_is_lost_at_even_crash_points() {
    nothing_is_lost(0);
}

#[test]
fn nothing_acknowledged_is_lost_at_odd_crash_points() {
    nothing_is_lost(1);
}

#[test]
fn an_acknowledgement_before_the_sync_is_found_out() {
    // Bug report 18, the kind of NATS 2.12.1; and the same of a disk that says that it has synced.
    let history = run(8, Some(Planted::AckBeforeSync), Plan::default());
    let found = crashes(&history, (0, 1), Some(Planted::AckBeforeSync));
    assert!(found.wrong.iter().any(|what| what.contains("was acknowledged")), "{:?}", found.wrong.first());
    let lying = Plan { lying_syncs: When::OneIn(2), ..Plan::default() };
    let found = crashes(&run(8, None, lying), (0, 1), None);
    assert!(!found.wrong.is_empty());
}

#[test]
fn a_block_that_was_refused_is_not_in_the_journal() {
    // Bug report 4: nodes that were restarted must agree with those that were not.
    let reopened = |planted| {
        let disk = interleaf::disk::Disk::new(interleaf::disk::Options::default());
        let (ledger, _) = open(&disk, planted).unwrap();
        let state = ledger.state().unwrap().confirmed;
        let mut block = next(&state, 3);
        let again = block.txs[0].clone();
        block = interleaf_engine::ledger::Block::new(block.parent, block.height, [block.txs, vec![again]].concat());
        ledger.add_block(block).expect_err("one transaction twice");
        let good = next(&state, 3);
        ledger.add_block(good.clone()).unwrap();
        let expected = ledger.state().unwrap().confirmed;
        drop(ledger);
        open(&disk, planted).is_ok_and(|(ledger, _)| ledger.state().unwrap().confirmed == expected)
    };
    assert!(reopened(None));
    assert!(!reopened(Some(Planted::JournalBeforeCheck)));
}
