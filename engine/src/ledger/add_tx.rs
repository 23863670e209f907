//! Taking a transaction into the pool (items U12–U14, U21–U27, decision O6).

use interleaf::sync::Arc;

use super::Ledger;
use super::error::TxError;
use super::record::Record;
use super::store::Store;
use super::tx::{Address, Amount, OutPoint, Tx, TxId};
use crate::planted::Planted;

impl<S: Store> Ledger<S> {
    /// Checks `tx` and puts it into the pool; returns its fee.
    ///
    /// Check, decision and reservation happen under one acquisition of the cache manager's shared lock (item U14).
    /// That is atomic against blocks, which take it exclusively: no input can be consumed between check and
    /// reservation. It is atomic against other transactions because the pool is checked and changed under one
    /// acquisition of its own exclusive lock; what was looked up before that, confirmed state, cannot change meanwhile.
    ///
    /// # Errors
    /// Which rule the transaction breaks, with the input and the record concerned.
    pub fn add_tx(&self, tx: Tx) -> Result<Amount, TxError> {
        #[cfg(feature = "planted")]
        match self.config.planted {
            Some(Planted::CheckThenAct) => return self.add_tx_check_then_act(tx),
            Some(Planted::ChangeBeforeReservation) => return self.add_tx_change_before_reservation(tx),
            _ => {}
        }
        let tx = Arc::new(tx);
        let caches = self.caches.shared();
        let (confirmed, tip_height) = caches.statuses(&tx.inputs)?;
        let mut pool = caches.tx_current_mut();
        let fee = pool.check(&tx, &confirmed, self.config.planted)?;
        let since_height = if self.config.has(Planted::AgeFromGenesis) { 0 } else { tip_height };
        pool.admit(tx, fee, since_height, &self.config)?;
        Ok(fee)
    }

    /// U12: the answer of the check is used after the lock under which it was true has been released.
    #[cfg(feature = "planted")]
    fn add_tx_check_then_act(&self, tx: Tx) -> Result<Amount, TxError> {
        let (fee, tip_height) = {
            let caches = self.caches.shared();
            let (confirmed, tip_height) = caches.statuses(&tx.inputs)?;
            (caches.tx_current().check(&tx, &confirmed, self.config.planted)?, tip_height)
        };
        self.caches.shared().tx_current_mut().push(Arc::new(tx), fee, tip_height);
        Ok(fee)
    }

    /// U26 in two acquisitions of the pool's lock: change first, global reservation second.
    #[cfg(feature = "planted")]
    fn add_tx_change_before_reservation(&self, tx: Tx) -> Result<Amount, TxError> {
        let tx = Arc::new(tx);
        let caches = self.caches.shared();
        let (confirmed, tip_height) = caches.statuses(&tx.inputs)?;
        let mut pool = caches.tx_current_mut();
        let fee = pool.check(&tx, &confirmed, self.config.planted)?;
        pool.push_without_global_reservation(Arc::clone(&tx), fee, tip_height);
        drop(pool);
        caches.tx_current_mut().complete_global_reservation(&tx);
        Ok(fee)
    }

    /// Takes a transaction out of the pool together with all that use its change (decision O7). Returns what was taken
    /// out, parents before children; nothing if the transaction does not wait.
    pub fn evict_tx(&self, id: TxId) -> Vec<Arc<Tx>> {
        self.caches.shared().tx_current_mut().evict(id)
    }

    /// Whether `address` may spend `key` now, in the three steps of item U13: consumption in the confirmed ledger
    /// (change in the pool passes), reservation by the same address, reservation by another one. All three see one
    /// state (item U15). The answer is true of the moment of the call only; to spend the record call
    /// [`add_tx`](Self::add_tx), which checks again.
    ///
    /// # Errors
    /// Which step rejects the record. The input is numbered 0.
    pub fn check_double_spend_with_pool(&self, address: Address, key: OutPoint) -> Result<Record, TxError> {
        let caches = self.caches.shared();
        let (confirmed, _) = caches.statuses(&[key])?;
        caches.tx_current().check_double_spend_with_pool(address, 0, &key, &confirmed[0], self.config.planted)
    }
}
