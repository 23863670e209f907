//! The rules that a transaction must satisfy when it is executed, whichever scheduler runs it.

use std::collections::BTreeSet;

use super::base::Record;
use super::receipt::{Receipt, Side, TxError};
use crate::ledger::tx::{Amount, OutPoint, Output, Tx};

/// Who may consume a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ownership {
    /// Not checked here. Inputs of imported blocks have many owners, each with a signature of its own.
    #[default]
    Unchecked,
    /// Every input must belong to the transaction's sender, as in Direct transactions (item N2).
    SenderOwnsInputs,
}

/// The rules of execution. They are the same for every scheduler: no optimisation may drop a check (item N8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Who may consume a record.
    pub ownership: Ownership,
}

impl Rules {
    /// Executes one transaction at index `at` of its block. `record_of` finds an input by its position; it is asked in
    /// order, and not after the first failure.
    pub(super) fn execute(
        &self,
        tx: &Tx,
        at: u32,
        record_of: impl FnMut(usize, &OutPoint) -> Result<Record, TxError>,
    ) -> Receipt {
        match self.fee(tx, at, record_of) {
            Ok(fee) => Receipt::Ok { fee },
            Err(e) => Receipt::Failed(e),
        }
    }

    fn fee(
        &self,
        tx: &Tx,
        at: u32,
        mut record_of: impl FnMut(usize, &OutPoint) -> Result<Record, TxError>,
    ) -> Result<Amount, TxError> {
        if tx.inputs.is_empty() && at != 0 {
            return Err(TxError::NoInputs);
        }
        if let Some(&outpoint) = first_repeated(&tx.inputs, |&i| i) {
            return Err(TxError::DuplicateInput { outpoint });
        }
        if let Some(output) = first_repeated(&tx.outputs, |o: &Output| o.index) {
            return Err(TxError::DuplicateOutput { index: output.index });
        }
        for output in &tx.outputs {
            let checked = output.kind.check_output(tx.sender, output.owner, output.amount);
            checked.map_err(|reason| TxError::OutputKind { index: output.index, reason })?;
        }
        let mut brought: Option<Amount> = Some(0);
        let mut stranger = None;
        let mut forbidden = None;
        for (position, outpoint) in tx.inputs.iter().enumerate() {
            let record = record_of(position, outpoint)?;
            if self.ownership == Ownership::SenderOwnsInputs && record.owner != tx.sender && stranger.is_none() {
                stranger = Some(TxError::NotOwner { outpoint: *outpoint, owner: record.owner });
            }
            if let (None, Err(reason)) = (forbidden, record.kind.check_input(tx.sender, record.owner)) {
                forbidden = Some(TxError::InputKind { outpoint: *outpoint, reason });
            }
            brought = brought.and_then(|sum| sum.checked_add(record.amount));
        }
        if let Some(e) = stranger.or(forbidden) {
            return Err(e);
        }
        let inputs = brought.ok_or(TxError::AmountOverflow { side: Side::Inputs })?;
        let outputs = tx
            .outputs
            .iter()
            .try_fold(0, |sum: Amount, o| sum.checked_add(o.amount))
            .ok_or(TxError::AmountOverflow { side: Side::Outputs })?;
        if tx.inputs.is_empty() {
            return Ok(0);
        }
        inputs.checked_sub(outputs).ok_or(TxError::Overspend { inputs, outputs })
    }
}

/// The first item whose key an earlier item has.
fn first_repeated<T, K: Ord>(items: &[T], key: impl Fn(&T) -> K) -> Option<&T> {
    /// Up to here comparing all pairs costs less than building a set.
    const PAIRWISE_MAX: usize = 16;
    if items.len() <= PAIRWISE_MAX {
        return items.iter().enumerate().find(|(i, t)| items[..*i].iter().any(|u| key(u) == key(t))).map(|(_, t)| t);
    }
    let mut seen = BTreeSet::new();
    items.iter().find(|t| !seen.insert(key(t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // U21, U24: the same answer from the pairwise search and from the set.
    #[test]
    fn the_first_repetition_is_found_in_short_and_long_lists() {
        assert_eq!(first_repeated(&[1, 2, 3, 2, 1], |&n| n), Some(&2));
        assert_eq!(first_repeated(&[1, 2, 3], |&n| n), None);
        let mut long: Vec<u32> = (0..40).collect();
        assert_eq!(first_repeated(&long, |&n| n), None);
        long.extend([7, 3]);
        assert_eq!(first_repeated(&long, |&n| n), Some(&7));
    }
}
