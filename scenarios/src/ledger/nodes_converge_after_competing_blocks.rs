//! Two of three nodes mine at the same time, one a block and the other two, and a client pays at the third. Messages
//! overtake each other. When nothing is on its way any more all three have the same chain, the heaviest that was mined, and
//! the payment waits or is confirmed everywhere.
//!
//! Forks are nothing special: they come of the time that a block takes (items U5, U39). No node holds a lock of its ledger
//! while it talks to others, nor the other way round: in Bitcoin one path took the main lock and then a peer's, and another
//! the reverse (bitcoin/bitcoin #4493).

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::node::{Message, Network, Node};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, Rivals, begin, pay};
use super::the_heaviest_branch_wins::HEAVIEST;
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::checkers::locks;
use crate::scenario::{Scenario, Setup};

const CONVERGE: &str = "ledger.nodes_converge";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.nodes_converge_after_competing_blocks",
    claim: "nodes that mined against each other end with the same chain, and a payment reaches all",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        HEAVIEST,
        CONVERGE,
        locks::NAME,
    ],
    finds: &[(Planted::PeerLockOrder, 10)],
    weight: 5,
    max_steps: 20_000,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    rivals: Rivals,
    payment: Tx,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5), (BOB, 3)]);
    let payment = pay(BOB, &opening.keys[1..], &[(CAROL, 3)]);
    Facts { rivals: Rivals::of(&opening), opening, payment }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let nodes = [(); 3].map(|()| Node::new(facts.opening.ledger(setup)));
    let (network, inboxes) = Network::new(nodes.len(), setup.planted);
    thread::scope(|scope| {
        for (me, (node, inbox)) in nodes.iter().zip(inboxes).enumerate() {
            let network = &network;
            begin(scope, ["first", "second", "third"][me], move || {
                network.run(me, node, inbox).expect("a ledger in memory does not fail");
            });
        }
        let light = begin(scope, "miner", || mine(&network, 0, &nodes[0], &facts.rivals.light));
        network.tell(2, Message::Tx(facts.payment.clone().into()));
        facts.rivals.heavy.iter().for_each(|block| mine(&network, 1, &nodes[1], block));
        light.join().expect("the miner returns");
        network.close();
    });
    let states = nodes.each_ref().map(|node| check_settled(node.ledger()));
    note(|| format!("{:?}", states.each_ref().map(|state| state.confirmed.tip.id)));
    for state in &states {
        claim::equal(CONVERGE, "two nodes have different chains", &states[0].confirmed.tip, &state.confirmed.tip);
        let waits = state.pool.entries.iter().any(|entry| entry.tx.id == facts.payment.id);
        claim::holds(waits, CONVERGE, "a payment did not reach a node", || format!("{:?}", state.pool.entries));
    }
    claim::equal(HEAVIEST, "a lighter branch is the chain", &facts.rivals.heavy[1].id, &states[0].confirmed.tip.id);
    let knew_both = nodes.iter().filter(|node| node.ledger().block_pool().contains_key(&facts.rivals.light.id)).count();
    setup.tally.conflicts(knew_both as u64);
}

fn mine(network: &Network, me: usize, node: &Node, block: &Block) {
    network.mine(me, node, block.clone()).expect("a ledger in memory does not fail");
}
