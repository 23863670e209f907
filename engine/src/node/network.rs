//! Nodes in one process, connected by channels.

use interleaf::sync::atomic::{AtomicUsize, Ordering};
use interleaf::sync::mpsc::{Receiver, Sender, channel};
use interleaf::sync::{Mutex, MutexGuard};

use super::gossip::Node;
use super::message::{Envelope, Message, Outgoing, PeerId, To};
use crate::ledger::BlockError;
use crate::ledger::store::Store;
use crate::planted::Planted;

/// What goes through a channel.
enum Post {
    Letter(Envelope),
    /// Nothing is on its way any more.
    Quiet,
}

/// Connects so many nodes, each with each, until it is closed and nothing is on its way between them.
///
/// A message counts as on its way from when it is sent until everything that it led to has been sent. Whoever settles the
/// last one tells all: that is how nodes that only react to each other know that they are done.
#[derive(Debug)]
pub struct Network {
    /// Behind a lock as in a node whose peers come and go.
    inboxes: Mutex<Vec<Sender<Post>>>,
    /// One more while the network is open.
    on_their_way: AtomicUsize,
    planted: Option<Planted>,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Letter(envelope) => write!(f, "{envelope:?}"),
            Self::Quiet => f.write_str("quiet"),
        }
    }
}

/// Where a node hears.
#[derive(Debug)]
pub struct Inbox(Receiver<Post>);

const POISONED: &str = "a thread panicked while it spoke";

impl Network {
    /// A network of so many nodes, and their inboxes.
    #[must_use]
    pub fn new(nodes: usize, planted: Option<Planted>) -> (Self, Vec<Inbox>) {
        let (inboxes, receivers) = (0..nodes).map(|_| channel()).unzip::<_, _, Vec<_>, Vec<_>>();
        let network = Self { inboxes: Mutex::new(inboxes), on_their_way: AtomicUsize::new(1), planted };
        interleaf::name(&network.inboxes, "Peers");
        (network, receivers.into_iter().map(Inbox).collect())
    }

    #[track_caller]
    fn peers(&self) -> MutexGuard<'_, Vec<Sender<Post>>> {
        self.inboxes.lock().expect(POISONED)
    }

    /// Nobody outside will say anything more. Nodes go on until nothing is on its way.
    pub fn close(&self) {
        self.settle();
    }

    /// Lets a client of the node `to` say something.
    pub fn tell(&self, to: PeerId, message: Message) {
        self.on_their_way.fetch_add(1, Ordering::SeqCst);
        self.post(to, Envelope { from: None, message });
    }

    fn post(&self, to: PeerId, envelope: Envelope) {
        // Cloned out of the lock: a channel may be full, and nobody waits for a peer while he holds a lock.
        let inbox = self.peers().get(to).cloned();
        if inbox.is_none_or(|inbox| inbox.send(Post::Letter(envelope)).is_err()) {
            // To nobody.
            self.settle();
        }
    }

    fn say(&self, from: PeerId, say: Vec<Outgoing>) {
        let nodes = self.peers().len();
        for Outgoing { to, message } in say {
            let others = (0..nodes).filter(|&peer| match to {
                To::Peer(one) => peer == one,
                To::AllBut(source) => peer != from && Some(peer) != source,
            });
            for peer in others.collect::<Vec<_>>() {
                self.on_their_way.fetch_add(1, Ordering::SeqCst);
                self.post(peer, Envelope { from: Some(from), message: message.clone() });
            }
        }
    }

    /// A message is dealt with.
    fn settle(&self) {
        if self.on_their_way.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.peers().iter().for_each(|inbox| drop(inbox.send(Post::Quiet)));
        }
    }

    /// The life of node `me`: hears, answers, until nothing is on its way in the whole network.
    ///
    /// # Errors
    /// If the node's ledger fails. What it has not dealt with then is lost, as when a node crashes.
    pub fn run<S: Store>(&self, me: PeerId, node: &Node<S>, inbox: Inbox) -> Result<(), BlockError> {
        while let Ok(Post::Letter(envelope)) = inbox.0.recv() {
            let heard = self.let_hear(node, envelope);
            self.say(me, heard.say);
            self.settle();
            if let Some(failure) = heard.failure {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// With the planted bug the peers stay locked while the ledger is asked.
    fn let_hear<S: Store>(&self, node: &Node<S>, envelope: Envelope) -> super::gossip::Heard {
        if Planted::PeerLockOrder.is_active(self.planted) {
            let _peers = self.peers();
            return node.hear(envelope);
        }
        node.hear(envelope)
    }

    /// Adds a block to the ledger of a node and tells the others, as a miner does.
    ///
    /// # Errors
    /// Why the block is refused.
    pub fn mine<S: Store>(&self, me: PeerId, node: &Node<S>, block: crate::ledger::Block) -> Result<(), BlockError> {
        self.on_their_way.fetch_add(1, Ordering::SeqCst);
        let heard = node.hear(Envelope { from: None, message: Message::Block(block.into()) });
        self.say(me, heard.say);
        self.settle();
        heard.failure.map_or(Ok(()), Err)
    }
}
