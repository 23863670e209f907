//! Nodes end with the same chain, whatever they heard in which order (items U5, U39, decision O13).

mod ledger_fixture;

use interleaf::thread;
use interleaf_engine::ledger::{Address, Block, Genesis, Ledger, LedgerConfig, Tx};
use interleaf_engine::node::{Envelope, Message, Network, Node, Outgoing, To};
use ledger_fixture::{A, B, C, tx};

fn genesis() -> Genesis {
    Genesis::of(&[(A, 5), (B, 5), (C, 5)])
}

fn node() -> Node {
    Node::new(Ledger::new(LedgerConfig::default(), genesis()))
}

fn root() -> Block {
    Block::clone(&node().ledger().current_block().block)
}

fn spend(n: u32, sender: Address, payee: Address) -> Tx {
    tx(1, sender, &[genesis().tx().outpoint(n)], &[(payee, 5)])
}

/// A chain of so many empty blocks on `below`, the first with `first` in it.
fn chain(below: &Block, first: Tx, count: usize) -> Vec<Block> {
    let mut blocks = vec![Block::new(below.id, below.height + 1, vec![first])];
    while blocks.len() < count {
        let last = &blocks[blocks.len() - 1];
        blocks.push(Block::new(last.id, last.height + 1, Vec::new()));
    }
    blocks
}

fn from(peer: usize, message: Message) -> Envelope {
    Envelope { from: Some(peer), message }
}

#[test]
fn what_a_node_answers() {
    let node = node();
    let blocks = chain(&root(), spend(0, A, B), 3);
    let block = |n: usize| Message::Block(blocks[n].clone().into());
    let to = |to, message| vec![Outgoing { to, message }];
    // An orphan: asks for its parent, then for the parent's parent, and passes the tip on when all is there.
    let want = |n: usize| Message::WantBlock { id: blocks[n].id, height: blocks[n].height };
    assert_eq!(node.hear(from(1, block(2))).say, to(To::Peer(1), want(1)));
    assert_eq!(node.hear(from(1, block(1))).say, to(To::Peer(1), want(0)));
    assert_eq!(node.hear(from(2, block(0))).say, to(To::AllBut(None), block(2)));
    assert_eq!(node.ledger().current_block().meta.id, blocks[2].id);
    // What is known or lighter is answered with the tip, and the tip itself with nothing.
    assert_eq!(node.hear(from(1, block(0))).say, to(To::Peer(1), block(2)));
    assert_eq!(node.hear(from(1, block(2))).say, []);
    assert_eq!(node.hear(from(3, Message::WantTip)).say, to(To::Peer(3), block(2)));
    assert_eq!(node.hear(from(3, want(1))).say, to(To::Peer(3), block(1)));
    assert_eq!(node.hear(from(3, Message::WantBlock { id: blocks[0].id, height: 9 })).say.len(), 1);
    // Transactions are passed on once, and only if they are admitted.
    let good = Message::Tx(spend(1, B, C).into());
    assert_eq!(node.hear(from(2, good.clone())).say, to(To::AllBut(Some(2)), good.clone()));
    assert_eq!(node.hear(from(1, good)).say, []);
    let mut forged = spend(2, C, A);
    forged.outputs[0].owner = C;
    assert_eq!(node.hear(from(1, Message::Tx(forged.into()))).say, []);
    assert_eq!(node.hear(from(1, Message::Tx(spend(0, A, C).into()))).say, []);
}

#[test]
fn nodes_in_threads_converge() {
    // Real threads with std types, or the façade outside a run.
    for round in 0..20 {
        let nodes = [node(), node(), node(), node()];
        let (network, inboxes) = Network::new(nodes.len(), None);
        let short = chain(&root(), spend(0, A, B), 2);
        let long = chain(&root(), spend(0, A, C), 3 + round % 3);
        let tip = long[long.len() - 1].id;
        // The last node was away and comes back with nothing.
        for outgoing in nodes[3].greet() {
            (0..3).for_each(|peer| network.tell(peer, outgoing.message.clone()));
        }
        thread::scope(|scope| {
            for (me, (node, inbox)) in nodes.iter().zip(inboxes).enumerate() {
                let network = &network;
                scope.spawn(move || network.run(me, node, inbox).expect("the ledger does not fail"));
            }
            let miners = [(0, short), (1, long)].map(|(me, blocks)| {
                let (network, nodes) = (&network, &nodes);
                scope.spawn(move || {
                    for block in blocks {
                        network.mine(me, &nodes[me], block).expect("the ledger does not fail");
                    }
                })
            });
            network.tell(2, Message::Tx(spend(1, B, A).into()));
            miners.into_iter().for_each(|miner| miner.join().unwrap());
            network.close();
        });
        for node in &nodes {
            assert_eq!(node.ledger().current_block().meta.id, tip, "round {round}");
            let waiting: Vec<_> = node.ledger().pool_batch(9).iter().map(|tx| tx.id).collect();
            assert_eq!(waiting, [spend(1, B, A).id], "round {round}");
        }
    }
}
