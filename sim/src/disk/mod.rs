//! A simulated disk that lies as real ones do.
//!
//! ```
//! use interleaf::disk::{Disk, Options, Outcome};
//!
//! let disk = Disk::new(Options::default());
//! let file = disk.open("journal");
//! file.write_at(0, b"paid").unwrap();
//! file.sync().unwrap();
//! file.write_at(4, b" twice").unwrap();
//!
//! let found = disk.crash_with(Outcome::AllLost);
//! assert_eq!(found.read("journal").unwrap(), b"paid");
//! let disk = Disk::from_image(found, Options::default()); // the machine is on again
//! assert_eq!(disk.open("journal").len().unwrap(), 4);
//! ```
//!
//! The map:
//!
//! * [`Disk`], [`File`], [`Options`]: the device and its files
//! * [`Plan`], [`When`], [`FaultKind`], [`Counters`]: faults that are armed, and those that fired
//! * [`Outcome`], [`Image`]: a crash, and what it leaves
//! * [`Log`], [`Walk`]: the crash after every operation, without chance
//! * [`DiskError`]: what the [`std::io::Error`]s of a file hold
//!
//! # What the disk promises
//!
//! * A read sees the last write. Until a sync that is in the disk's cache only.
//! * What was in a file when [`File::sync`] returned `Ok` survives every crash, its length too. Files are synced one by one.
//! * A sector is written as a whole: after a crash it is as it was at some moment since the last sync.
//! * Changes of a file's length survive in order: a later one never without an earlier one.
//! * A name is durable when [`Disk::open`] returns; there are no directories, and nothing is renamed or removed.
//!
//! # What it does not promise
//!
//! * That of two writes the first survives if the second does, in one file or in two.
//! * That a write of more than one sector survives as a whole.
//! * That nothing survives which was not synced. A write whose caller heard of an error may be there, too.
//! * Anything for data on which a sync has failed, whatever later syncs say, until it is written again. Reads go on
//!   seeing it meanwhile.
//!
//! What was durable stays as it was written: bits do not rot and no write goes astray. [`Image::overwrite`] does that to
//! a disk that is switched off.
//!
//! # Every crash
//!
//! A disk keeps a log of what changes it. [`Log::walk`] stops after each operation and gives the image that a crash there
//! leaves, under each [`Outcome`]:
//!
//! ```
//! use interleaf::disk::{Disk, Options, Outcome};
//!
//! let disk = Disk::new(Options::default());
//! let file = disk.open("counter");
//! let mut promised = Vec::new(); // value, and the crash point from which on it must be there
//! for value in 1..=3_u8 {
//!     file.write_at(0, &[value]).unwrap();
//!     file.sync().unwrap();
//!     promised.push((value, disk.operations()));
//! }
//! let log = disk.log().unwrap();
//! let mut walk = log.walk();
//! loop {
//!     for outcome in Outcome::all(walk.point()) {
//!         let found = walk.image(outcome).read("counter").unwrap().first().copied().unwrap_or(0);
//!         let least = promised.iter().rev().find(|(_, since)| *since <= walk.point()).map_or(0, |promise| promise.0);
//!         assert!((least..=least + 1).contains(&found), "{outcome:?} after {:?}", log.describe(walk.point()));
//!     }
//!     if !walk.advance() {
//!         break;
//!     }
//! }
//! ```
//!
//! # Inside a run and outside
//!
//! Outside a simulated run the disk is a plain object; latency is only added up. Inside, each operation on a file is a
//! scheduling point of one sync object, the disk, and sleeps in virtual time for as long as the [`Plan`] says. Two reads
//! commute, unless they are counted for a fault; everything else does not, as a crash may come between. The chance of a
//! fault is drawn from the stream `faults/<name of the disk>/<kind of fault>` of the run's seed.
#![forbid(unsafe_code)]

#[cfg(feature = "redb")]
mod backend;
mod cache;
mod content;
mod counters;
mod device;
mod error;
mod file;
mod image;
mod log;
mod outcome;
mod plan;

pub use counters::{Counters, FaultKind};
pub use device::{Disk, Options};
pub use error::DiskError;
pub use file::File;
pub use image::Image;
pub use log::{Log, Walk};
pub use outcome::Outcome;
pub use plan::{Plan, When};
