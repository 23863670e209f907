//! The chain's newest block is taken off and two others are put on, as one step, while readers look at the tip without
//! any lock. They see the old tip or the new one, never genesis and never the first block of the new branch; what they
//! see does not go back; and whoever has seen the new tip finds its records.
//!
//! A fork switch is several roll-backs and several blocks (decision O13), and lock-free readers (item U11) wait for
//! nobody. Three snapshots are published one after the other, so their order is what readers rely on.

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, BlockId, Ledger, OutPoint, Status};

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, begin, block_on, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The name of what the readers check.
pub const WHOLE_STEPS: &str = "ledger.readers_see_whole_steps";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.readers_during_a_fork_switch",
    claim: "readers without a lock see a fork switch as one step",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", WHOLE_STEPS],
    finds: &[],
    weight: 20,
    exhaustive: Some(72),
    world,
    ..LEDGER_STORY
};

/// An old branch of one block and a new one of two.
pub struct Fork {
    /// Where both begin.
    pub opening: Opening,
    /// The old branch.
    pub old: Block,
    /// The new branch.
    pub new: [Block; 2],
    /// A record that exists on the new branch only.
    new_record: OutPoint,
}

// Plain data: nothing in it is simulated, so runs may share it.
/// The fork that readers watch.
pub static FORK: LazyLock<Fork> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let old = opening.block(&[&pay(ALICE, &opening.keys, &[(BOB, 5)])]);
    let first = pay(ALICE, &opening.keys, &[(CAROL, 5)]);
    let second = pay(CAROL, &[first.outpoint(0)], &[(BOB, 5)]);
    let below = opening.block(&[&first]);
    let above = block_on(below.id, 2, &[&second]);
    Fork { opening, old, new: [below, above], new_record: second.outpoint(0) }
});

impl Fork {
    fn is_new(&self, tip: BlockId) -> bool {
        claim::holds(tip == self.old.id || tip == self.new[1].id, WHOLE_STEPS, "a tip in the middle of a step", || {
            format!("{tip:?}; the old tip is {:?}, the new one {:?}", self.old.id, self.new[1].id)
        });
        tip == self.new[1].id
    }

    /// Looks at the tip twice, each time in another way; the number of looks that saw the new branch.
    ///
    /// # Panics
    /// With the violation, if the looks do not fit together.
    pub fn look(&self, ledger: &Ledger) -> u64 {
        let current = ledger.current_block();
        let first = self.is_new(current.meta.id);
        note(|| format!("sees {:?} at height {}", current.meta.id, current.meta.height));
        let own_tip = current.metas.tip().map(|meta| meta.id);
        claim::equal(WHOLE_STEPS, "a block whose metas end elsewhere", &Some(current.meta.id), &own_tip);
        let metas = ledger.block_metas();
        let second = metas.tip().is_some_and(|meta| self.is_new(meta.id));
        claim::holds(second || !first, WHOLE_STEPS, "metas older than the current block", || {
            format!("{:?} after {:?}", metas.tip(), current.meta)
        });
        u64::from(first) + u64::from(second)
    }

    /// Looks at the branches, the tip and a record of the new branch, in the order in which each must be at least as
    /// new as the one before; whether the tip was the new one.
    fn ask(&self, ledger: &Ledger) -> bool {
        let is_branch = ledger.block_pool().contains_key(&self.old.id);
        let is_new = self.is_new(ledger.current_block().meta.id);
        claim::holds(is_new || !is_branch, WHOLE_STEPS, "a branch that is the chain", || {
            "the old block is among the branches and still the tip".to_owned()
        });
        let record = ledger.status(self.new_record).expect("the store can be read");
        let is_there = matches!(record, Status::Unspent(_));
        claim::holds(is_there || !is_new, WHOLE_STEPS, "a published tip whose records are missing", || {
            format!("the new tip is published, its record is {record:?}")
        });
        is_new
    }
}

fn world(setup: &Setup<'_>) {
    let fork = &*FORK;
    let ledger = fork.opening.ledger(setup);
    add_block(&ledger, "old", &fork.old);
    let (seen, asked) = thread::scope(|scope| {
        let reader = begin(scope, "reader", || {
            let (first, second) = (fork.look(&ledger), fork.look(&ledger));
            claim::holds(first < 2 || second == 2, WHOLE_STEPS, "the old tip after the new one", || {
                format!("{first} of two looks saw the new branch, then {second}")
            });
            first + second
        });
        let other = begin(scope, "other reader", || fork.look(&ledger));
        let asker = begin(scope, "asker", || fork.ask(&ledger));
        let popped = ledger.switch_fork(1, fork.new.to_vec()).expect("the new branch is valid");
        claim::equal(WHOLE_STEPS, "the wrong block was taken off", &Some(fork.old.id), &popped.first().map(|b| b.id));
        let seen = [reader, other].map(|thread| thread.join().expect("both readers return"));
        (seen, asker.join().expect("the asker returns"))
    });
    check_settled(&ledger);
    // Readers that saw both branches, and one that asked behind the switch.
    setup.tally.conflicts(u64::from((1..4).contains(&seen[0])) + u64::from(seen[1] == 1) + u64::from(asked));
}
