//! The scheduling policies and their text form (items N19–N24, decisions O1 and O3).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How many ready transactions a worker is given at once (item N24, decision O3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Batching {
    /// One task per transaction.
    PerTx,
    /// As many equal tasks as there are workers.
    Chunks,
    /// Tasks that shrink towards the end of the work, as in Bitcoin Core's check queue: what is ready, divided by one
    /// more than the workers and the idle ones among them; at least 1 and at most `max`.
    Shrinking {
        /// The largest task.
        max: u32,
    },
}

impl Batching {
    /// The most that Bitcoin Core's check queue hands out at once.
    pub const SHRINKING: Self = Self::Shrinking { max: 128 };

    /// Size of the next task when `ready` transactions wait and `idle` of `workers` have no task.
    pub(super) fn size(self, ready: usize, workers: usize, idle: usize) -> usize {
        match self {
            Self::PerTx => 1,
            Self::Chunks => ready.div_ceil(workers).max(1),
            Self::Shrinking { max } => (ready / (workers + idle + 1)).clamp(1, max.max(1) as usize),
        }
    }
}

/// Which of the ready transactions is started first (decision O1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// The one that became ready first; those ready from the start in the order of the block.
    Fifo,
    /// The one that stands first in the block.
    Index,
    /// The one with the longest path of dependants; among equals the one that stands first in the block.
    CriticalPath,
}

/// Which transaction runs when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// All transactions in block order, one at a time (item N19).
    Sequential,
    /// Bundles of transactions that can run together; the next bundle starts when the current one is complete
    /// (item N20).
    Wave {
        /// How a bundle is split into tasks.
        batching: Batching,
    },
    /// A transaction can be started as soon as its predecessors are complete (item N21).
    ReadyQueue {
        /// Which of them first.
        order: Order,
        /// How many at once.
        batching: Batching,
    },
    /// As the ready queue, first in first out; but a worker goes on itself with the first successor that its result
    /// made ready (item N22).
    WorkFirstContinuation {
        /// How many at once from the queue.
        batching: Batching,
    },
}

impl Policy {
    /// Every policy with every order and batching: what an equivalence check should cover.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let batchings = [Batching::PerTx, Batching::Chunks, Batching::SHRINKING];
        let mut all = vec![Self::Sequential];
        all.extend(batchings.map(|batching| Self::Wave { batching }));
        for order in [Order::Fifo, Order::Index, Order::CriticalPath] {
            all.extend(batchings.map(|batching| Self::ReadyQueue { order, batching }));
        }
        all.extend(batchings.map(|batching| Self::WorkFirstContinuation { batching }));
        all
    }

    /// One of each kind, as they would be used: sequential, wave, ready queue (fifo and index), work-first.
    #[must_use]
    pub fn representatives() -> Vec<Self> {
        let batching = Batching::SHRINKING;
        vec![
            Self::Sequential,
            Self::Wave { batching },
            Self::ReadyQueue { order: Order::Fifo, batching },
            Self::ReadyQueue { order: Order::Index, batching },
            Self::WorkFirstContinuation { batching },
        ]
    }
}

impl fmt::Display for Batching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerTx => f.write_str("per-tx"),
            Self::Chunks => f.write_str("chunks"),
            Self::Shrinking { max } => write!(f, "shrinking={max}"),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "fifo",
            Self::Index => "index",
            Self::CriticalPath => "critical-path",
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => f.write_str("sequential"),
            Self::Wave { batching } => write!(f, "wave:{batching}"),
            Self::ReadyQueue { order, batching } => write!(f, "ready-queue:{order}:{batching}"),
            Self::WorkFirstContinuation { batching } => write!(f, "work-first:{batching}"),
        }
    }
}

/// A policy that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("policy {text:?}: {part:?} is not {expected}")]
pub struct ParsePolicyError {
    text: String,
    part: String,
    expected: &'static str,
}

impl FromStr for Policy {
    type Err = ParsePolicyError;

    /// Reads `sequential`, `wave[:BATCHING]`, `ready-queue[:ORDER][:BATCHING]` or `work-first[:BATCHING]`, where ORDER is
    /// `fifo`, `index` (default) or `critical-path` and BATCHING is `per-tx`, `chunks`, `shrinking` (default) or
    /// `shrinking=MAX`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |part: &str, expected| ParsePolicyError { text: text.to_owned(), part: part.to_owned(), expected };
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default();
        let mut order = None;
        let mut batching = None;
        for part in parts {
            if let (None, None, "ready-queue", Some(o)) = (order, batching, kind, parse_order(part)) {
                order = Some(o);
            } else if let (None, true, Some(b)) = (batching, kind != "sequential", parse_batching(part)) {
                batching = Some(b);
            } else {
                return Err(fail(part, expected_parameter(kind)));
            }
        }
        let batching = batching.unwrap_or(Batching::SHRINKING);
        match kind {
            "sequential" => Ok(Self::Sequential),
            "wave" => Ok(Self::Wave { batching }),
            "ready-queue" => Ok(Self::ReadyQueue { order: order.unwrap_or(Order::Index), batching }),
            "work-first" => Ok(Self::WorkFirstContinuation { batching }),
            _ => Err(fail(kind, "`sequential`, `wave`, `ready-queue` or `work-first`")),
        }
    }
}

fn expected_parameter(kind: &str) -> &'static str {
    match kind {
        "sequential" => "expected (`sequential` takes no parameter)",
        "wave" | "work-first" => "`per-tx`, `chunks`, `shrinking` or `shrinking=MAX` with MAX at least 1, given once",
        "ready-queue" => {
            "an order (`fifo`, `index`, `critical-path`) followed by a batching (`per-tx`, `chunks`, `shrinking`, \
             `shrinking=MAX` with MAX at least 1)"
        }
        _ => "a parameter of `wave`, `ready-queue` or `work-first`, the policies that take one",
    }
}

fn parse_order(part: &str) -> Option<Order> {
    [Order::Fifo, Order::Index, Order::CriticalPath].into_iter().find(|o| o.to_string() == part)
}

fn parse_batching(part: &str) -> Option<Batching> {
    match part.split_once('=') {
        Some(("shrinking", max)) => max.parse().ok().filter(|&max| max >= 1).map(|max| Batching::Shrinking { max }),
        Some(_) => None,
        None => match part {
            "per-tx" => Some(Batching::PerTx),
            "chunks" => Some(Batching::Chunks),
            "shrinking" => Some(Batching::SHRINKING),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_read_back() {
        for policy in Policy::all() {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
    }

    #[test]
    fn defaults_are_shrinking_batches_and_block_order() {
        let batching = Batching::SHRINKING;
        assert_eq!("wave".parse(), Ok(Policy::Wave { batching }));
        assert_eq!("ready-queue".parse(), Ok(Policy::ReadyQueue { order: Order::Index, batching }));
        assert_eq!(
            "ready-queue:per-tx".parse(),
            Ok(Policy::ReadyQueue { order: Order::Index, batching: Batching::PerTx })
        );
    }

    #[test]
    fn errors_name_the_part_and_what_was_expected() {
        let message = |text: &str| text.parse::<Policy>().unwrap_err().to_string();
        assert_eq!(
            message("wafe"),
            "policy \"wafe\": \"wafe\" is not `sequential`, `wave`, `ready-queue` or `work-first`"
        );
        assert!(message("wave:fifo").contains("\"fifo\" is not `per-tx`"));
        assert!(message("wave:shrinking=0").contains("MAX at least 1"));
        assert!(message("ready-queue:per-tx:fifo").contains("\"fifo\" is not an order"));
        assert!(message("sequential:chunks").contains("takes no parameter"));
    }

    // O3: shrinking towards the end, never nothing.
    #[test]
    fn batch_sizes() {
        assert_eq!(Batching::PerTx.size(100, 4, 4), 1);
        assert_eq!(Batching::Chunks.size(10, 4, 4), 3);
        assert_eq!(Batching::SHRINKING.size(10_000, 4, 3), 128);
        assert_eq!(Batching::SHRINKING.size(90, 4, 4), 10);
        assert_eq!(Batching::SHRINKING.size(3, 4, 1), 1);
    }
}
