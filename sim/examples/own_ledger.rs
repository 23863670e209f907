//! Somebody's own ledger under Interleaf: a small bank, a check-then-act bug, its discovery and its replay.
//!
//! ```text
//! cargo run -p interleaf --example own_ledger
//! ```
//!
//! The bank is ordinary code: what it takes from `interleaf::sync` has std's paths, signatures and behaviour, and with
//! the feature `simulation` off it *is* std's.

use std::collections::BTreeMap;

use interleaf::sync::{Arc, Mutex};
use interleaf::{Explorer, Failure, Replay, Report, Strategy, name, note, replay, replay_choices, thread};

/// Accounts and what they hold. No balance may fall below zero.
struct Bank {
    accounts: Mutex<BTreeMap<&'static str, i64>>,
    /// The mistake: look at the balance under one acquisition of the lock, change it under another.
    check_then_act: bool,
}

/// The payer has too little.
#[derive(Debug)]
struct Insufficient;

impl Bank {
    fn new(check_then_act: bool, accounts: &[(&'static str, i64)]) -> Self {
        let accounts = Mutex::new(accounts.iter().copied().collect());
        // The name that tables and reports use, in place of "own_ledger.rs:37#0".
        name(&accounts, "Accounts");
        Self { accounts, check_then_act }
    }

    fn transfer(&self, from: &'static str, to: &'static str, amount: i64) -> Result<(), Insufficient> {
        let mut accounts = self.accounts.lock().unwrap();
        if accounts[from] < amount {
            return Err(Insufficient);
        }
        note(|| format!("{from} has {}, enough for {amount}", accounts[from]));
        if self.check_then_act {
            drop(accounts);
            accounts = self.accounts.lock().unwrap();
        }
        *accounts.entry(from).or_default() -= amount;
        *accounts.entry(to).or_default() += amount;
        Ok(())
    }
}

/// One run: Alice owns 5 and pays 3 to two people at once. Only one of the payments may succeed.
fn two_payments(check_then_act: bool) {
    let bank = Arc::new(Bank::new(check_then_act, &[("alice", 5), ("bob", 0), ("carol", 0)]));
    let payments = ["bob", "carol"].map(|to| {
        let bank = Arc::clone(&bank);
        let payer = thread::Builder::new().name(format!("to {to}"));
        payer.spawn(move || bank.transfer("alice", to, 3).is_ok()).unwrap()
    });
    let paid = payments.into_iter().map(|p| p.join().unwrap()).filter(|ok| *ok).count();
    let accounts = bank.accounts.lock().unwrap();
    assert_eq!(accounts.values().sum::<i64>(), 5, "money came from nowhere: {accounts:?}");
    assert!(accounts.values().all(|&held| held >= 0), "overdrawn after {paid} payments: {accounts:?}");
}

fn main() {
    let correct = explorer().run(|| two_payments(false));
    assert!(correct.failures.is_empty());
    println!("one acquisition:  {} schedules, no failure\n", correct.executions);

    let Some(failure) = first_failure(&explorer().run(|| two_payments(true))) else {
        unreachable!("a thousand schedules find this bug")
    };
    println!("two acquisitions:\n\n{failure}\n");

    // The token is enough to see the run again: here, tomorrow, on another machine.
    let token = failure.token.parse().unwrap();
    let Replay::Failed(again) = replay(&token, || two_payments(true)) else { unreachable!("the program is the same") };
    assert_eq!(again.trace, failure.trace);
    println!("replayed: {} events, each as before", again.trace.events.len());

    // The repaired program does not have the decisions that the token names. The labelled log can be followed anyway.
    let log = failure.choices();
    match replay_choices("own_ledger", &log, None, || two_payments(false)) {
        Replay::Passed(trace) => println!("repaired: {} events along the same log, no failure", trace.events.len()),
        Replay::Failed(failure) | Replay::Diverged(failure) => println!("not repaired:\n{failure}"),
    }

    // Small programs can be searched to the end: then "no failure" is a proof, not a sample.
    let proof = explorer().strategy(Strategy::Dfs { preemptions: None }).run(|| two_payments(false));
    println!(
        "exhaustive: {} schedules, complete: {}, failures: {}",
        proof.executions,
        proof.complete,
        proof.failures.len()
    );
}

fn explorer() -> Explorer<'static> {
    Explorer::new().name("own_ledger").seeds(0..1_000)
}

fn first_failure(report: &Report) -> Option<Failure> {
    report.first_failure().cloned()
}
