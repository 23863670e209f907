//! What a node does when it hears something.
//!
//! A node tells others of each transaction that it has admitted and of each new tip. Who hears of a block whose parent he
//! does not know asks the one who told him. Who hears of a block that is not heavier than his own chain answers with his
//! tip. So all who are connected end with the heaviest chain that any of them knows, and nothing goes round for ever: a
//! transaction or a tip is passed on only where it is new.

use interleaf::sync::Arc;

use super::message::{Envelope, Message, Outgoing, PeerId, To};
use crate::ledger::fork_choice::weight;
use crate::ledger::store::Store;
use crate::ledger::{Block, BlockError, Ledger, MemoryStore, Received, Tx};

/// What a message led to.
#[derive(Debug, Default)]
pub struct Heard {
    /// What is to be said now. Nothing of the ledger is locked any more.
    pub say: Vec<Outgoing>,
    /// Why the node cannot go on: its journal or its store fails.
    pub failure: Option<BlockError>,
}

/// A ledger and its manners. Any number of threads may let it hear messages.
#[derive(Debug)]
pub struct Node<S = MemoryStore> {
    ledger: Ledger<S>,
}

impl<S: Store> Node<S> {
    /// A node with this ledger.
    #[must_use]
    pub fn new(ledger: Ledger<S>) -> Self {
        Self { ledger }
    }

    /// Its ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger<S> {
        &self.ledger
    }

    /// What a node says that has just come, or come back.
    #[must_use]
    pub fn greet(&self) -> Vec<Outgoing> {
        vec![Outgoing { to: To::AllBut(None), message: Message::WantTip }]
    }

    /// What `envelope` leads to.
    #[must_use]
    pub fn hear(&self, envelope: Envelope) -> Heard {
        let Envelope { from, message } = envelope;
        match message {
            Message::Tx(tx) => Heard { say: self.hear_tx(from, tx), failure: None },
            Message::Block(block) => self.hear_block(from, &block),
            Message::WantBlock { id, height } => match self.ledger.block(height, id) {
                Ok(block) => Heard { say: answer(from, block.map(Message::Block)), failure: None },
                Err(error) => Heard { say: Vec::new(), failure: Some(error.into()) },
            },
            Message::WantTip => Heard { say: answer(from, Some(self.tip())), failure: None },
        }
    }

    fn tip(&self) -> Message {
        Message::Block(Arc::clone(&self.ledger.current_block().block))
    }

    /// A transaction that is refused is not passed on: others may judge otherwise, and hear of it otherwise.
    fn hear_tx(&self, from: Option<PeerId>, tx: Arc<Tx>) -> Vec<Outgoing> {
        let is_new = tx.has_its_id() && self.ledger.add_tx(Tx::clone(&tx)).is_ok();
        if is_new { vec![Outgoing { to: To::AllBut(from), message: Message::Tx(tx) }] } else { Vec::new() }
    }

    fn hear_block(&self, from: Option<PeerId>, block: &Arc<Block>) -> Heard {
        let say = match self.ledger.receive_block(Block::clone(block)) {
            Ok(Received::Switched { .. }) => {
                vec![Outgoing { to: To::AllBut(self.source(from, block)), message: self.tip() }]
            }
            Ok(Received::Orphan { missing, height }) => answer(from, Some(Message::WantBlock { id: missing, height })),
            Ok(Received::Kept | Received::Known | Received::TooOld { .. }) => self.answer_lighter(from, block),
            Ok(Received::Invalid(_)) => Vec::new(),
            Err(error) => return Heard { say: Vec::new(), failure: Some(error) },
        };
        Heard { say, failure: None }
    }

    /// Who need not be told of the tip: whoever told of this very block.
    fn source(&self, from: Option<PeerId>, block: &Block) -> Option<PeerId> {
        from.filter(|_| self.ledger.current_block().meta.id == block.id)
    }

    fn answer_lighter(&self, from: Option<PeerId>, block: &Block) -> Vec<Outgoing> {
        let tip = self.ledger.current_block();
        let is_lighter = weight(block.height, block.id) < weight(tip.meta.height, tip.meta.id);
        answer(from, is_lighter.then(|| Message::Block(Arc::clone(&tip.block))))
    }
}

fn answer(from: Option<PeerId>, message: Option<Message>) -> Vec<Outgoing> {
    from.zip(message).map(|(peer, message)| Outgoing { to: To::Peer(peer), message }).into_iter().collect()
}
