//! The fuzz target as an ordinary test, and the tests of the target itself.

use interleaf_engine::planted::Planted;
use interleaf_fuzz::ledger_order::{Operation, check, run};

/// bolero stops after a second by default, even in the middle of the corpus; count inputs instead.
const INPUTS: usize = 2_000;

#[test]
fn ledger_order() {
    bolero::check!().with_iterations(INPUTS).for_each(check);
}

#[test]
fn the_same_input_gives_the_same_run() {
    let input: Vec<u8> = (0..200u32).map(|i| (i * 37 % 251) as u8).collect();
    let (a, b) = (run(&input, None), run(&input, None));
    assert_eq!((a.steps, a.executions), (b.steps, b.executions));
    assert!(a.steps > 20, "{} steps", a.steps);
    let other: Vec<u8> = input.iter().rev().copied().collect();
    assert_ne!(run(&other, None).steps, a.steps, "the input drives the run");
}

#[test]
fn every_operation_has_a_byte() {
    let mut seen: Vec<String> = (0..=255).map(|b| format!("{:?}", Operation::of(b))).collect();
    seen.sort();
    seen.dedup();
    // Five kinds with eight picks, and two without.
    assert_eq!(seen.len(), 5 * 8 + 2);
}

/// A fixed walk over inputs: the target finds the planted bugs that its world can show.
#[test]
fn the_target_finds_planted_bugs() {
    for bug in
        [Planted::CheckThenAct, Planted::DuplicateInput, Planted::ReversedLockOrder, Planted::NoCrossAddressCheck]
    {
        let found = (0..20_000u64).find(|&i| {
            let input: Vec<u8> = (0..60u64)
                .map(|j| (i.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(j * j * 1_442_695_041) >> 24) as u8)
                .map(|b| b.wrapping_mul(31).rotate_left(3))
                .collect();
            !run(&input, Some(bug)).failures.is_empty()
        });
        assert!(found.is_some(), "{bug} was not found in 20,000 inputs");
    }
}
