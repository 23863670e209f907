//! Blocks and transactions into the ledger.

use std::sync::atomic::{AtomicBool, Ordering};

use interleaf_engine::ledger::{Block, BlockError, Ledger, MemoryUse, Store, StoreError, Tx, TxError};

use super::imported::Imported;
use super::meter::{Latencies, Phase};
use super::workload::Workload;

/// Blocks between two looks at the memory: each of them walks over all that is in the caches.
const LOOK_EVERY_BLOCKS: u64 = 50;

/// The time of the first generated block, in milliseconds: November 2023, after the real block of 2021. Each block is a
/// millisecond later than the one below.
const BEGIN_MS: u64 = 1_700_000_000_000;

/// Why an import ended early.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A real block is refused.
    #[error("{name}: {reason}")]
    RealBlock {
        /// Which.
        name: String,
        /// Why.
        reason: Box<BlockError>,
    },
    /// A block is refused.
    #[error(transparent)]
    Block(Box<BlockError>),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A transaction is refused.
    #[error("transaction {number}: {reason}")]
    Tx {
        /// Which, from 0.
        number: u64,
        /// Why.
        reason: Box<TxError>,
    },
}

/// What an import measured.
#[derive(Debug)]
pub struct Measured {
    /// Transactions into the pool.
    pub add_tx: Phase,
    /// Transactions of the pool into blocks; the real blocks count too.
    pub add_block: Phase,
    /// One entry for each block.
    pub blocks: Latencies,
    /// The most that each cache took, looked at before every 50th block, when the pool is full.
    pub memory: MemoryUse,
}

/// How much is to be imported.
#[derive(Clone, Copy, Debug)]
pub struct Amounts {
    /// Generated transactions.
    pub transactions: u64,
    /// Transactions of a block.
    pub block_size: u32,
}

/// Puts the real blocks, then generated transactions through pool and blocks, into `ledger`. Ends between two blocks when
/// `stop` is set. `done` is told how many transactions are confirmed.
///
/// # Errors
/// If anything is refused.
pub fn import<S: Store>(
    ledger: &Ledger<S>,
    real: &Imported,
    workload: &mut Workload,
    amounts: Amounts,
    stop: &AtomicBool,
    done: &dyn Fn(u64),
) -> Result<Measured, ImportError> {
    let mut measured = Measured {
        add_tx: Phase::new(),
        add_block: Phase::new(),
        blocks: Latencies::default(),
        memory: MemoryUse::default(),
    };
    for (name, txs) in &real.blocks {
        let added = add_block(ledger, txs.clone(), &mut measured);
        added.map_err(|reason| ImportError::RealBlock { name: name.clone(), reason: Box::new(reason) })?;
    }
    let mut count = 0;
    while count < amounts.transactions && !stop.load(Ordering::Relaxed) {
        let height = ledger.current_block().meta.height + 1;
        let wanted = amounts.transactions - count;
        let size = u32::try_from(wanted).unwrap_or(u32::MAX).min(amounts.block_size);
        let txs = workload.block(size, BEGIN_MS + height);
        let offered = txs.len() as u64;
        if offered == 0 {
            break;
        }
        offer(ledger, txs, count, &mut measured)?;
        if height.is_multiple_of(LOOK_EVERY_BLOCKS) {
            measured.memory = measured.memory.max(ledger.memory_use());
        }
        let batch = ledger.pool_batch(amounts.block_size as usize);
        add_block(ledger, batch.iter().map(|tx| Tx::clone(tx)).collect(), &mut measured)
            .map_err(|reason| ImportError::Block(Box::new(reason)))?;
        count += offered;
        done(count);
    }
    measured.memory = measured.memory.max(ledger.memory_use());
    Ok(measured)
}

fn offer<S: Store>(ledger: &Ledger<S>, txs: Vec<Tx>, first: u64, measured: &mut Measured) -> Result<(), ImportError> {
    let count = txs.len() as u64;
    measured.add_tx.measure(count, || {
        for (number, tx) in (first..).zip(txs) {
            ledger.add_tx(tx).map_err(|reason| ImportError::Tx { number, reason: Box::new(reason) })?;
        }
        Ok(())
    })
}

fn add_block<S: Store>(ledger: &Ledger<S>, txs: Vec<Tx>, measured: &mut Measured) -> Result<(), BlockError> {
    let tip = ledger.current_block();
    let count = txs.len() as u64;
    let block = Block::new(tip.meta.id, tip.meta.height + 1, txs);
    let Measured { add_block, blocks, .. } = measured;
    add_block.measure(count, || blocks.measure(|| ledger.add_block(block).map(drop)))
}
