//! Nodes: ledgers that tell each other of blocks and transactions (items U5, U39, decision O13).
//!
//! * [`message`]: what they say
//! * [`gossip`]: what a node does when it hears something; no threads, no locks of its own
//! * [`network`]: nodes in threads, connected by channels

pub mod gossip;
pub mod message;
pub mod network;

pub use self::gossip::{Heard, Node};
pub use self::message::{Envelope, Message, Outgoing, PeerId, To};
pub use self::network::Network;
