//! A wallet behind a lock holds 5. Two threads each look whether 3 are there, give the lock back, take it again and
//! withdraw. Each step is safe, the whole is not: the wallet ends at minus 1.
//!
//! The mistake of item U12 in code that knows no ledger, written with the façade: what a user of the runtime would
//! bring.

use interleaf::sync::Mutex;
use interleaf::{name, note, thread};

use crate::checkers::claim;
use crate::ledger::cast::{LEDGER_STORY, begin};
use crate::scenario::{Expected, Scenario, Setup};

const NO_OVERDRAFT: &str = "wallet.no_overdraft";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.check_then_act_in_user_code",
    claim: "a wallet that is checked under one lock and changed under another is overdrawn",
    invariants: &[NO_OVERDRAFT],
    expected: Expected::Breaks(&[NO_OVERDRAFT]),
    weight: 0,
    monitor: None,
    exhaustive: Some(6),
    world,
    ..LEDGER_STORY
};

fn withdraw(wallet: &Mutex<i64>, amount: i64) -> bool {
    let is_there = *wallet.lock().expect("nobody panics") >= amount;
    note(|| format!("{amount} are there: {is_there}"));
    if is_there {
        *wallet.lock().expect("nobody panics") -= amount;
    }
    is_there
}

fn world(setup: &Setup<'_>) {
    let wallet = Mutex::new(5);
    name(&wallet, "Wallet");
    thread::scope(|scope| {
        begin(scope, "other", || withdraw(&wallet, 3));
        withdraw(&wallet, 3);
    });
    let left = *wallet.lock().expect("nobody panics");
    claim::holds(left >= 0, NO_OVERDRAFT, "more was withdrawn than was there", || format!("{left} left of 5"));
    setup.tally.conflicts(1);
}
