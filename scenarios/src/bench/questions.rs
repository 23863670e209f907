//! What a ledger is asked, how long it takes and what it reads.

use interleaf_engine::ledger::{Address, Ledger, OutPoint, Status, Store, StoreError, TxId};

use super::meter::{Latencies, Spread};
use super::watched_store::{Reads, Watch};
use super::workload::Samples;

/// How many of the newest transactions are asked for at once.
const RECENT: usize = 20;

/// The answers to many questions of one kind.
#[derive(Clone, Debug)]
pub struct Answered {
    /// What was asked.
    pub question: &'static str,
    /// How long it took.
    pub spread: Spread,
    /// How often the answer was more than «nothing».
    pub found: u64,
    /// Look-ups in the database, all together.
    pub reads: Reads,
}

/// Asks `count` questions of each kind.
///
/// # Errors
/// If the store cannot be read.
pub fn ask<S: Store>(
    ledger: &Ledger<S>,
    watch: &Watch,
    samples: &Samples,
    count: u64,
) -> Result<Vec<Answered>, StoreError> {
    // A stride that is prime to nearly every length, so that neighbours in the sample are not asked for in turn.
    let pick = |n: u64, len: usize| (n.wrapping_mul(7_919) % (len.max(1) as u64)) as usize;
    let account = |n: u64| Address::numbered(pick(n, samples.accounts as usize) as u32);
    let key = |n: u64| {
        let keys = if n.is_multiple_of(2) { &samples.consumed } else { &samples.created };
        keys.get(pick(n, keys.len())).copied().unwrap_or_default()
    };
    let tx = |n: u64| samples.txs.get(pick(n, samples.txs.len())).copied().unwrap_or_default();
    let one = |of: &[Address], n: u64| of.get(pick(n, of.len())).copied().unwrap_or_default();
    let asking = Asking { watch, count };
    Ok(vec![
        asking.all("balance", |n| Ok(ledger.get_balance_available_with_pool(account(n))? > 0))?,
        asking.all("stake", |n| Ok(ledger.get_stake_with_pool(one(&samples.staked, n))? > 0))?,
        asking.all("record spent?", |n| Ok(matches!(ledger.status(key(n))?, Status::Spent(_))))?,
        asking.all("record spent? (unknown)", |n| {
            let unknown = OutPoint { index: u32::MAX, ..key(n) };
            Ok(ledger.status(unknown)? != Status::Unknown)
        })?,
        asking.all("transaction exists?", |n| Ok(ledger.transaction_height(tx(n))?.is_some()))?,
        asking.all("transaction exists? (unknown)", |n| {
            let mut unknown = tx(n);
            unknown.0[31] ^= 1;
            Ok(ledger.transaction_height(TxId(unknown.0))?.is_some())
        })?,
        asking.all("20 newest transactions", |_| Ok(!ledger.recent_transactions(RECENT)?.is_empty()))?,
        asking.all("referral", |n| Ok(ledger.referral(one(&samples.referred, n)).is_some()))?,
        asking.all("nodes", |n| Ok(!ledger.nodes(one(&samples.announced, n)).is_empty()))?,
    ])
}

/// How questions are asked.
struct Asking<'a> {
    watch: &'a Watch,
    count: u64,
}

impl Asking<'_> {
    fn all(
        &self,
        question: &'static str,
        ask: impl Fn(u64) -> Result<bool, StoreError>,
    ) -> Result<Answered, StoreError> {
        let before = self.watch.reads();
        let (mut latencies, mut found) = (Latencies::default(), 0);
        for n in 0..self.count {
            found += u64::from(latencies.measure(|| ask(n))?);
        }
        let after = self.watch.reads();
        let reads = Reads { calls: after.calls - before.calls, keys: after.keys - before.keys };
        Ok(Answered { question, spread: latencies.spread(), found, reads })
    }
}
