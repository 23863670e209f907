use std::io::Write;

use interleaf_engine::schedule::{Executor, Graph, Policy, sequential};

use super::*;

fn raw() -> &'static [u8] {
    bitcoin_test_data::blocks::mainnet_702861()
}

fn error(content: &[u8]) -> String {
    match decode("b.raw", content) {
        Ok(_) => panic!("accepted"),
        Err(e) => e.to_string(),
    }
}

fn to_hex(raw: &[u8]) -> String {
    raw.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn known_shape_of_block_702861() {
    let block = mainnet_702861();
    assert_eq!(block.hash.to_string(), "000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae");
    let prepared = &block.prepared;
    assert_eq!(prepared.block.height, 702_861);
    let txs = &prepared.block.txs;
    assert_eq!((txs.len(), block.txids.len()), (2500, 2500));
    // Without the coinbase's, which consumes nothing.
    assert_eq!(txs.iter().map(|t| t.inputs.len()).sum::<usize>(), 6517);
    assert_eq!(txs.iter().map(|t| t.outputs.len()).sum::<usize>(), 6015);
    let graph = Graph::new(&prepared.block);
    assert_eq!((graph.edge_count(), graph.dependent_count(), graph.depth()), (325, 309, 17));
    assert_eq!(graph.conflict_count(), 0);
    assert_eq!(graph.widths(), [2191, 207, 61, 19, 8, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
}

// N7, N8: the outcome of the real block, the same under every policy.
#[test]
fn every_policy_executes_block_702861_as_sequential_does() {
    let p = mainnet_702861().prepared;
    let expected = sequential::execute(&p.block, &p.base, &p.rules);
    assert!(expected.receipts.iter().all(|r| r.is_ok()), "no transaction of a valid block fails");
    assert!(expected.fees > 0 && expected.issued > 625_000_000, "{} {}", expected.fees, expected.issued);
    let graph = Graph::new(&p.block);
    for policy in Policy::all() {
        for workers in [2, 8] {
            let got = Executor::new(policy, workers).with_rules(p.rules).execute(&p.block, &graph, &p.base);
            assert_eq!(expected.first_difference(&got.outcome), None, "{policy}, {workers} workers");
            assert!(expected == got.outcome, "{policy}, {workers} workers");
            assert_eq!(got.counters.conflicts_met, 309, "{policy}");
            if matches!(policy, Policy::Wave { .. }) {
                assert_eq!(got.counters.waves, 17, "{policy}");
            }
        }
    }
}

#[test]
fn known_shape_of_block_357238() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/blocks/block-357238.hex");
    if !path.exists() {
        return;
    }
    let p = load(&path).unwrap().prepared;
    let graph = Graph::new(&p.block);
    assert_eq!((graph.len(), graph.edge_count(), graph.dependent_count(), graph.depth()), (369, 91, 77, 5));
    assert_eq!(graph.widths(), [292, 45, 18, 11, 3]);
    let outcome = sequential::execute(&p.block, &p.base, &p.rules);
    assert!(outcome.receipts.iter().all(|r| r.is_ok()));
}

#[test]
fn internal_edges_keep_their_real_amounts() {
    let block = mainnet_702861();
    let original: bitcoin::Block = bitcoin::consensus::deserialize(raw()).unwrap();
    for (tx, original) in block.prepared.block.txs.iter().zip(&original.txdata) {
        let amounts = |o: &[Output]| o.iter().map(|o| o.amount).collect::<Vec<_>>();
        assert_eq!(amounts(&tx.outputs), original.output.iter().map(|o| o.value.to_sat()).collect::<Vec<_>>());
    }
}

#[test]
fn binary_and_hex_files_give_the_same_block() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        File::create(&path).unwrap().write_all(content).unwrap();
        load(&path).unwrap().prepared.block
    };
    let binary = write("b.raw", raw());
    let hex = to_hex(raw());
    assert_eq!(write("b.hex", hex.as_bytes()), binary);
    let lines: String =
        hex.as_bytes().chunks(64).map(|l| std::str::from_utf8(l).unwrap().to_uppercase() + "\r\n").collect();
    assert_eq!(write("lines.hex", lines.as_bytes()), binary);
}

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.raw");
    let message = load(&missing).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: cannot be read: ", missing.display())), "{message}");
    assert!(load(dir.path()).unwrap_err().to_string().contains("cannot be read"), "a directory");
    let large = dir.path().join("large.raw");
    File::create(&large).unwrap().set_len(MAX_FILE_BYTES as u64 + 1).unwrap();
    assert!(load(&large).unwrap_err().to_string().contains("has more than 10000000 bytes"));
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    assert_eq!(error(b""), "b.raw: is empty; expected a raw Bitcoin block, binary or as hex text");
    assert_eq!(error(b"\n \n"), "b.raw: is empty; expected a raw Bitcoin block, binary or as hex text");
    assert_eq!(error(b"02 00\n0g"), "b.raw: offset 7: found 'g' in a text file; expected a hex digit");
    assert_eq!(error(b"020"), "b.raw: has 3 hex digits; expected an even number, two for each byte");
    assert_eq!(error(&raw()[..79]), "b.raw: ends after 79 bytes; expected a block header of 80 bytes");
    assert!(error(&[0xf9, 0xbe, 0xb4, 0xd9, 0, 0, 0, 0]).contains("offset 0: starts with the magic number"));
    assert!(error(&vec![0; MAX_BLOCK_BYTES + 1]).contains("has more than 4000000 bytes"));

    let count_of = |count: &[u8]| [&raw()[..80], count].concat();
    assert!(error(&count_of(&[0])).contains("announces 0 transactions, but 0 bytes follow; expected at least 1"));
    assert!(error(&count_of(&[0xff; 9])).contains("offset 80: announces 18446744073709551615 transactions"));
    assert!(error(&count_of(&[0xfd, 1])).contains("ends in the middle of the number of transactions (offset 80)"));

    let mut trailing = raw().to_vec();
    trailing.extend([0, 0]);
    assert_eq!(
        error(&trailing),
        "b.raw: offset 1381836: 2 bytes follow the last transaction; expected the end of the file"
    );
    let cut = error(&raw()[..raw().len() - 1]);
    assert!(cut.contains("the file ends in the middle of transaction 2500 of 2500 (offset "), "{cut}");
    let with_flipped_bit = |at: usize| {
        let mut raw = raw().to_vec();
        raw[at] ^= 1;
        error(&raw)
    };
    assert_eq!(
        with_flipped_bit(40),
        "b.raw: offset 36: the merkle root in the header is not that of the 2500 transactions; expected an intact block"
    );
    // In a signature of the last transaction.
    assert_eq!(
        with_flipped_bit(raw().len() - 40),
        "b.raw: the witness commitment in the first transaction is not that of the 2500 transactions; expected an \
         intact block"
    );
}
