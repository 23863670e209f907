//! Real Bitcoin blocks as blocks of the ledger.
//!
//! What is kept: the transactions in their order, every dependency between them, all outputs with their amounts.
//! What is made up: amounts and owners of outputs from outside the block, which a block file does not contain. They are
//! derived from the block alone, so they are the same on every machine. Signatures are not checked; their digests
//! need the amounts that are made up.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bitcoin::block::Header;
use bitcoin::consensus::{Decodable, encode};
use bitcoin::hashes::{Hash, hash160};
use bitcoin::{Transaction, TxIn, Txid, VarInt};
use interleaf_engine::ledger::block::{Block, BlockId};
use interleaf_engine::ledger::tx::{Address, Amount, OutPoint, Output, Tx, TxId};
use interleaf_engine::schedule::{Ownership, Record, RecordMap, Rules};
use thiserror::Error;

use super::PreparedBlock;

/// The largest block that the consensus rules allow: 4,000,000 weight units of at least one unit a byte.
pub const MAX_BLOCK_BYTES: usize = 4_000_000;

/// The largest file that is read: a largest block as hex text, with room for line ends.
const MAX_FILE_BYTES: usize = 2 * MAX_BLOCK_BYTES + MAX_BLOCK_BYTES / 2;

const HEADER_BYTES: usize = 80;

/// Fewer bytes hold no transaction, not even with one input and one output without scripts.
const MIN_TX_BYTES: usize = 60;

/// What mainnet messages and node block files (`blk*.dat`) start with.
const MAINNET_MAGIC: [u8; 4] = [0xf9, 0xbe, 0xb4, 0xd9];

/// A block file that could not be read. Every message names the file, the place and what was expected.
#[derive(Debug, Error)]
#[error("{source_name}: {problem}")]
pub struct BlockFileError {
    /// The file.
    pub source_name: String,
    /// What is wrong with it.
    #[source]
    pub problem: BlockFileProblem,
}

/// What is wrong with a block file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BlockFileProblem {
    /// It could not be opened or read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It has no content.
    #[error("is empty; expected a raw Bitcoin block, binary or as hex text")]
    Empty,
    /// It is larger than a block can be.
    #[error("has more than {limit} bytes; a block has at most {MAX_BLOCK_BYTES}, twice as many as hex text")]
    TooLarge {
        /// The limit that it exceeds, in bytes.
        limit: usize,
    },
    /// It is text, but not hex.
    #[error("offset {offset}: found {found:?} in a text file; expected a hex digit")]
    NotHex {
        /// Where, in bytes from the start of the file.
        offset: usize,
        /// The character.
        found: char,
    },
    /// It is hex text with a digit left over.
    #[error("has {digits} hex digits; expected an even number, two for each byte")]
    OddHex {
        /// How many.
        digits: usize,
    },
    /// It starts with the magic number of a message or of a node's own files.
    #[error(
        "offset 0: starts with the magic number of a network message or of blk*.dat; expected the bare block, 8 bytes later"
    )]
    Framed,
    /// It ends inside the header.
    #[error("ends after {len} bytes; expected a block header of {HEADER_BYTES} bytes")]
    ShortHeader {
        /// How many bytes it has.
        len: usize,
    },
    /// The number of transactions cannot be right.
    #[error(
        "offset {offset}: announces {count} transactions, but {left} bytes follow; expected at least 1 transaction, and \
         at least {MIN_TX_BYTES} bytes for each"
    )]
    Count {
        /// Where, in bytes of the block.
        offset: usize,
        /// What it says.
        count: u64,
        /// How many bytes follow.
        left: usize,
    },
    /// It ends inside a part.
    #[error("the file ends in the middle of {what} (offset {offset})")]
    Truncated {
        /// Where the part starts, in bytes of the block.
        offset: usize,
        /// Which part.
        what: String,
    },
    /// A part is malformed.
    #[error("offset {offset}: {what}: {error}")]
    Malformed {
        /// Where the part starts, in bytes of the block.
        offset: usize,
        /// Which part.
        what: String,
        /// What is wrong.
        error: encode::Error,
    },
    /// Something follows the last transaction.
    #[error("offset {offset}: {extra} bytes follow the last transaction; expected the end of the file")]
    Trailing {
        /// Where the block ends.
        offset: usize,
        /// How many bytes follow.
        extra: usize,
    },
    /// The transactions are not those that the header commits to.
    #[error(
        "offset 36: the merkle root in the header is not that of the {count} transactions; expected an intact block"
    )]
    MerkleRoot {
        /// Number of transactions.
        count: usize,
    },
    /// The witnesses are not those that the coinbase commits to.
    #[error(
        "the witness commitment in the first transaction is not that of the {count} transactions; expected an intact block"
    )]
    WitnessCommitment {
        /// Number of transactions.
        count: usize,
    },
}

/// A real block in the ledger's terms.
#[derive(Clone, Debug)]
pub struct BitcoinBlock {
    /// The block with the records that it needs.
    pub prepared: PreparedBlock,
    /// Its hash in Bitcoin.
    pub hash: bitcoin::BlockHash,
    /// The transactions' ids in Bitcoin, in block order. The ledger computes ids of its own from the content.
    pub txids: Vec<Txid>,
}

/// Mainnet block 702,861 from the crate `bitcoin-test-data`: 2,500 transactions, 325 internal edges, depth 17.
///
/// # Panics
/// If the crate ships something else.
#[must_use]
pub fn mainnet_702861() -> BitcoinBlock {
    decode("mainnet block 702861", bitcoin_test_data::blocks::mainnet_702861())
        .unwrap_or_else(|e| panic!("the block that the crate ships is intact: {e}"))
}

/// Reads a raw block from a file, binary or as hex text.
///
/// # Errors
/// If the file cannot be read or is no intact block and nothing else.
pub fn load(path: &Path) -> Result<BitcoinBlock, BlockFileError> {
    let source_name = path.display().to_string();
    match read(path.to_owned()) {
        Ok(content) => decode(&source_name, &content),
        Err(problem) => Err(BlockFileError { source_name, problem }),
    }
}

fn read(path: PathBuf) -> Result<Vec<u8>, BlockFileProblem> {
    let mut content = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut content)?;
    if content.len() > MAX_FILE_BYTES {
        return Err(BlockFileProblem::TooLarge { limit: MAX_FILE_BYTES });
    }
    Ok(content)
}

/// Reads a raw block from the content of a file, binary or as hex text. `source_name` is what errors and reports call it.
///
/// # Errors
/// If it is no intact block and nothing else.
pub fn decode(source_name: &str, content: &[u8]) -> Result<BitcoinBlock, BlockFileError> {
    let raw = if is_text(content) { from_hex(content) } else { Ok(content.to_vec()) };
    match raw.and_then(|raw| parse(&raw)) {
        Ok(block) => Ok(convert(source_name, &block)),
        Err(problem) => Err(BlockFileError { source_name: source_name.to_owned(), problem }),
    }
}

/// A block is never text: its header contains small little-endian numbers, hence zero bytes.
fn is_text(content: &[u8]) -> bool {
    content.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
}

fn from_hex(content: &[u8]) -> Result<Vec<u8>, BlockFileProblem> {
    let mut digits = Vec::with_capacity(content.len());
    for (offset, &byte) in content.iter().enumerate().filter(|(_, b)| !b.is_ascii_whitespace()) {
        let found = char::from(byte);
        let digit = found.to_digit(16).ok_or(BlockFileProblem::NotHex { offset, found })?;
        digits.push(digit as u8);
    }
    if digits.len() % 2 != 0 {
        return Err(BlockFileProblem::OddHex { digits: digits.len() });
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Parses part by part, so that an error can say where the bad part starts.
fn parse(raw: &[u8]) -> Result<bitcoin::Block, BlockFileProblem> {
    match raw.len() {
        0 => return Err(BlockFileProblem::Empty),
        _ if raw.starts_with(&MAINNET_MAGIC) => return Err(BlockFileProblem::Framed),
        len @ 1..HEADER_BYTES => return Err(BlockFileProblem::ShortHeader { len }),
        len if len > MAX_BLOCK_BYTES => return Err(BlockFileProblem::TooLarge { limit: MAX_BLOCK_BYTES }),
        _ => {}
    }
    let mut rest = raw;
    let header: Header = part(raw, &mut rest, || "the block header".to_owned())?;
    let VarInt(count) = part(raw, &mut rest, || "the number of transactions".to_owned())?;
    let max = rest.len() / MIN_TX_BYTES;
    if count == 0 || count > max as u64 {
        return Err(BlockFileProblem::Count { offset: HEADER_BYTES, count, left: rest.len() });
    }
    let mut txdata = Vec::with_capacity(count as usize);
    for i in 0..count {
        let tx: Transaction = part(raw, &mut rest, || format!("transaction {} of {count}", i + 1))?;
        txdata.push(tx);
    }
    if !rest.is_empty() {
        return Err(BlockFileProblem::Trailing { offset: raw.len() - rest.len(), extra: rest.len() });
    }
    let block = bitcoin::Block { header, txdata };
    if !block.check_merkle_root() {
        return Err(BlockFileProblem::MerkleRoot { count: block.txdata.len() });
    }
    if !block.check_witness_commitment() {
        return Err(BlockFileProblem::WitnessCommitment { count: block.txdata.len() });
    }
    Ok(block)
}

fn part<T: Decodable>(raw: &[u8], rest: &mut &[u8], what: impl FnOnce() -> String) -> Result<T, BlockFileProblem> {
    let offset = raw.len() - rest.len();
    T::consensus_decode(rest).map_err(|error| match error {
        // The bytes are in memory, so this is their end.
        encode::Error::Io(_) => BlockFileProblem::Truncated { offset, what: what() },
        error => BlockFileProblem::Malformed { offset, what: what(), error },
    })
}

fn convert(source_name: &str, original: &bitcoin::Block) -> BitcoinBlock {
    let mut import = Import::default();
    let time_ms = u64::from(original.header.time) * 1000;
    // Ids sort by time, so each transaction is a millisecond later than the one before: the block's order.
    let txs: Vec<Tx> = (time_ms..).zip(&original.txdata).map(|(ms, tx)| import.convert(ms, tx)).collect();
    let parent = BlockId(original.header.prev_blockhash.to_byte_array());
    let height = original.bip34_block_height().unwrap_or(0);
    let prepared = PreparedBlock {
        name: source_name.to_owned(),
        block: Block::new(parent, height, txs),
        base: import.base,
        rules: Rules { ownership: Ownership::Unchecked },
    };
    BitcoinBlock { prepared, hash: original.block_hash(), txids: import.txids }
}

/// A block while its transactions are converted in order.
#[derive(Default)]
struct Import {
    /// The ledger's ids and amounts of the transactions so far.
    known: BTreeMap<Txid, (TxId, Vec<Amount>)>,
    base: RecordMap,
    txids: Vec<Txid>,
}

impl Import {
    fn convert(&mut self, time_ms: u64, original: &Transaction) -> Tx {
        let txid = original.compute_txid();
        let outputs: Vec<Output> = (0u32..)
            .zip(&original.output)
            .map(|(index, o)| {
                Output::coin(
                    index,
                    Address(hash160::Hash::hash(o.script_pubkey.as_bytes()).to_byte_array()),
                    o.value.to_sat(),
                )
            })
            .collect();
        let inputs = if original.is_coinbase() { Vec::new() } else { self.inputs(original) };
        let sender = original.input.first().map_or_else(Address::default, made_up_owner);
        let amounts = outputs.iter().map(|o| o.amount).collect();
        let tx = Tx::new(time_ms, sender, inputs, outputs);
        self.known.insert(txid, (tx.id, amounts));
        self.txids.push(txid);
        tx
    }

    /// Converts the inputs, and makes up the records for those from outside the block.
    ///
    /// Together they bring what the outputs take beyond what comes from inside, plus a fee of one unit for each virtual
    /// byte; each brings at least one unit. A transaction that lives from inside alone keeps its real fee.
    fn inputs(&mut self, original: &Transaction) -> Vec<OutPoint> {
        let mut inputs = Vec::with_capacity(original.input.len());
        let mut outside = Vec::new();
        let mut brought: Amount = 0;
        for input in &original.input {
            let spent = input.previous_output;
            if let Some((tx, amounts)) = self.known.get(&spent.txid) {
                brought = brought.saturating_add(amounts.get(spent.vout as usize).copied().unwrap_or(0));
                inputs.push(OutPoint { tx: *tx, index: spent.vout });
            } else {
                let outpoint = OutPoint { tx: TxId(spent.txid.to_byte_array()), index: spent.vout };
                outside.push((outpoint, made_up_owner(input)));
                inputs.push(outpoint);
            }
        }
        let taken = original.output.iter().fold(0, |sum: Amount, o| sum.saturating_add(o.value.to_sat()));
        let needed = taken.saturating_add(original.vsize() as Amount).saturating_sub(brought);
        let others = (outside.len() as Amount).saturating_sub(1);
        for (i, (outpoint, owner)) in outside.into_iter().enumerate() {
            let amount = if i == 0 { needed.saturating_sub(others).max(1) } else { 1 };
            // A second spender of the same record, which no valid block has, finds what the first made up.
            self.base.entry(outpoint).or_insert(Record::coin(owner, amount));
        }
        inputs
    }
}

/// The owner of a record whose script is not known: a digest of its outpoint.
fn made_up_owner(input: &TxIn) -> Address {
    Address(hash160::Hash::hash(&encode::serialize(&input.previous_output)).to_byte_array())
}

#[cfg(test)]
mod tests;
