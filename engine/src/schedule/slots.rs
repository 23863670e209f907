//! Result slots: the place of each transaction's result is fixed before it runs (item N25).

use interleaf::sync::{Mutex, MutexGuard, PoisonError};

use super::receipt::Receipt;

/// What a transaction publishes when it has been executed.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) receipt: Receipt,
    /// Only of a failed transaction: for each contested record that it wanted and found spent, the position of the
    /// input and who had spent it. So the next spender asks one slot, not all that came before.
    pub(super) spent_before: Vec<(u32, u32)>,
}

/// One slot per transaction of a block.
pub(super) struct Slots(Vec<Mutex<Option<Published>>>);

impl Slots {
    pub(super) fn new(transactions: usize) -> Self {
        Self((0..transactions).map(|_| Mutex::new(None)).collect())
    }

    /// Names the slots for reports.
    pub(super) fn name(&self) {
        for slot in &self.0 {
            interleaf::name(slot, "ResultSlot");
        }
    }

    pub(super) fn publish(&self, tx: u32, result: Published) {
        let mut slot = self.slot(tx);
        interleaf::note(|| format!("publishes tx {tx}: {}", result.receipt));
        *slot = Some(result);
    }

    /// Whether `tx` has published that it succeeded. An empty slot is a transaction that has changed nothing.
    pub(super) fn succeeded(&self, tx: u32) -> bool {
        self.slot(tx).as_ref().is_some_and(|p| p.receipt.is_ok())
    }

    /// Who has spent the record that `tx` wants with its input at `position`, as far as `tx` has published.
    pub(super) fn spender(&self, tx: u32, position: u32) -> Option<u32> {
        let slot = self.slot(tx);
        let published = slot.as_ref()?;
        if published.receipt.is_ok() {
            return Some(tx);
        }
        published.spent_before.iter().find(|(p, _)| *p == position).map(|&(_, by)| by)
    }

    /// All receipts in block order; `None` for a slot that stayed empty.
    pub(super) fn into_receipts(self) -> impl Iterator<Item = Option<Receipt>> {
        self.0.into_iter().map(|slot| {
            let published = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
            published.map(|p| p.receipt)
        })
    }

    fn slot(&self, tx: u32) -> MutexGuard<'_, Option<Published>> {
        // A slot is only ever replaced as a whole, so what a panicking thread left in it is whole.
        self.0[tx as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
