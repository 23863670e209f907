//! An open file of a simulated disk.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::monitor::OpKind;

use super::cache::Cache;
use super::counters::FaultKind;
use super::device::{Device, Operation, State};
use super::error::DiskError;
use super::log::Change;
use super::plan::Plan;

/// An open file. Opening one twice gives two handles to the same bytes. Dropping it syncs nothing.
pub struct File {
    device: Arc<Device>,
    /// The file's number on its disk.
    file: usize,
    handle: u64,
    name: Arc<str>,
}

/// The longest file, in bytes. A written page costs memory, and a pointer for each page before it.
const LONGEST: u64 = 1 << 36;

impl File {
    pub(super) fn new(device: Arc<Device>, file: usize, handle: u64, name: Arc<str>) -> Self {
        Self { device, file, handle, name }
    }

    /// The name that it was opened by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length in bytes.
    ///
    /// # Errors
    /// If the disk has lost power.
    #[track_caller]
    #[allow(clippy::len_without_is_empty, reason = "std's files have no is_empty either")]
    pub fn len(&self) -> io::Result<u64> {
        let at_once = Duration::ZERO..=Duration::ZERO;
        let operation = Operation { kind: OpKind::Load, latency: &at_once, location: Location::caller() };
        self.device.operate(
            &operation,
            || format!("len {}", self.name),
            |state| {
                self.powered(state)?;
                Ok(state.caches.files[self.file].seen().len())
            },
        )
    }

    /// Reads bytes, all of them.
    ///
    /// # Errors
    /// If they do not lie within the file, an armed fault fires or the disk has lost power.
    #[track_caller]
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (plan, len) = (self.plan(), out.len());
        // Where chance is drawn, or reads are counted for a fault, the order of two reads matters.
        let counts = plan.read_errors.is_armed() || plan.read_latency.start() != plan.read_latency.end();
        let kind = if counts { OpKind::Rmw } else { OpKind::Load };
        let operation = Operation { kind, latency: &plan.read_latency, location: Location::caller() };
        let describe = || format!("read {} {len} bytes at {offset}", self.name);
        self.device.operate(&operation, describe, |state| self.read(state, offset, out))
    }

    fn read(&self, state: &mut State, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.powered(state)?;
        state.counters.reads += 1;
        let (number, len) = (state.counters.reads, out.len());
        if state.fires(FaultKind::ReadError, &self.plan().read_errors, number) {
            return Err(DiskError::Read { file: self.shared_name(), offset, len, number }.into());
        }
        let content = state.caches.files[self.file].seen();
        if offset.checked_add(len as u64).is_none_or(|end| end > content.len()) {
            return Err(DiskError::BeyondEnd { file: self.shared_name(), offset, len, file_len: content.len() }.into());
        }
        content.read(offset, out);
        state.counters.bytes_read += len as u64;
        Ok(())
    }

    /// Writes bytes, all of them, into the cache of the disk. The file grows if they reach beyond its end.
    ///
    /// # Errors
    /// If the disk is full, an armed fault fires or the disk has lost power.
    #[track_caller]
    pub fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let describe = || format!("write {} {} bytes at {offset}", self.name, data.len());
        let operation = self.changing(&self.plan().write_latency, Location::caller());
        self.device.operate(&operation, describe, |state| self.write(state, offset, data))
    }

    fn write(&self, state: &mut State, offset: u64, data: &[u8]) -> io::Result<()> {
        self.powered(state)?;
        state.counters.writes += 1;
        let (number, len) = (state.counters.writes, data.len());
        let end = offset.checked_add(len as u64).filter(|&end| end <= LONGEST);
        let Some(end) = end else {
            return Err(DiskError::TooLarge { file: self.shared_name(), offset, len }.into());
        };
        let old = state.caches.files[self.file].seen().len();
        self.has_room(state, old.max(if len == 0 { 0 } else { end }))?;
        if state.fires(FaultKind::WriteError, &self.plan().write_errors, number) {
            let written = self.torn(state, offset, data);
            if !written.is_empty() {
                state.change(self.file, Change::Write { offset, data: written.into() });
            }
            return Err(DiskError::Write { file: self.shared_name(), offset, len, number }.into());
        }
        state.counters.bytes_written += len as u64;
        self.change(state, Change::Write { offset, data: data.into() })
    }

    /// The first sectors of what is written: some, or none, but not all.
    fn torn<'a>(&self, state: &mut State, offset: u64, data: &'a [u8]) -> &'a [u8] {
        let sector = self.device.options.sector_size as u64;
        let (first, end) = (offset / sector, (offset + data.len() as u64).div_ceil(sector));
        let kept = state.draw(FaultKind::WriteError) % (end - first).max(1);
        let until = ((first + kept) * sector).saturating_sub(offset) as usize;
        &data[..until.min(data.len())]
    }

    /// Sets the length. What the file gains is zero.
    ///
    /// # Errors
    /// If the disk is full or has lost power.
    #[track_caller]
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        let operation = self.changing(&self.plan().write_latency, Location::caller());
        self.device.operate(
            &operation,
            || format!("set_len {} {len}", self.name),
            |state| {
                self.powered(state)?;
                state.counters.set_lens += 1;
                if len > LONGEST {
                    return Err(DiskError::TooLarge { file: self.shared_name(), offset: len, len: 0 }.into());
                }
                self.has_room(state, len)?;
                self.change(state, Change::SetLen(len))
            },
        )
    }

    /// Makes durable what was written to this file, and its length. When it has returned, no crash takes that away.
    ///
    /// # Errors
    /// If an armed fault fires or the disk has lost power. Then what was not durable before may be so or not, and a later
    /// sync promises nothing for it: it has to be written again.
    #[track_caller]
    pub fn sync(&self) -> io::Result<()> {
        let operation = self.changing(&self.plan().sync_latency, Location::caller());
        self.device.operate(
            &operation,
            || format!("sync {}", self.name),
            |state| {
                self.powered(state)?;
                state.counters.syncs += 1;
                let number = state.counters.syncs;
                if state.fires(FaultKind::SyncError, &self.plan().sync_errors, number) {
                    state.change(self.file, Change::FailedSync);
                    return Err(DiskError::Sync { file: self.shared_name(), number }.into());
                }
                // Where nothing waits for the sync there is nothing to lie about.
                let lies = !state.caches.files[self.file].is_settled()
                    && state.fires(FaultKind::LyingSync, &self.plan().lying_syncs, number);
                self.change(state, if lies { Change::LyingSync } else { Change::Sync })
            },
        )
    }

    /// Does the operation, unless its caller never hears of its end.
    fn change(&self, state: &mut State, change: Change) -> io::Result<()> {
        state.change(self.file, change);
        let counters = &state.counters;
        let number = counters.writes + counters.set_lens + counters.syncs;
        if state.fires(FaultKind::PowerLoss, &self.plan().power_losses, number) {
            state.lost_power = true;
        }
        self.powered(state)
    }

    /// Takes the advisory lock of the file for this handle; false if another handle has it. It ends with
    /// [`File::unlock`], when the handle is dropped, and with the disk's power. No scheduling point.
    #[must_use]
    pub fn try_lock(&self) -> bool {
        let mut state = self.device.state();
        match state.locks.iter().find(|(file, _)| *file == self.file) {
            Some(&(_, handle)) => handle == self.handle,
            None => {
                state.locks.push((self.file, self.handle));
                true
            }
        }
    }

    /// Gives the advisory lock back, if this handle has it.
    pub fn unlock(&self) {
        self.device.state().locks.retain(|&lock| lock != (self.file, self.handle));
    }

    fn plan(&self) -> &Plan {
        &self.device.options.plan
    }

    fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    fn changing<'a>(
        &self,
        latency: &'a RangeInclusive<Duration>,
        location: &'static Location<'static>,
    ) -> Operation<'a> {
        Operation { kind: OpKind::Rmw, latency, location }
    }

    fn powered(&self, state: &State) -> io::Result<()> {
        if state.lost_power { Err(DiskError::PowerLost { file: self.shared_name() }.into()) } else { Ok(()) }
    }

    /// Whether the file may have this length.
    fn has_room(&self, state: &mut State, len: u64) -> io::Result<()> {
        let Some(capacity) = self.plan().capacity else { return Ok(()) };
        let of = |(file, cache): (usize, &Cache)| if file == self.file { len } else { cache.seen().len() };
        let wanted: u64 = state.caches.files.iter().enumerate().map(of).sum();
        if len <= state.caches.files[self.file].seen().len() || wanted <= capacity {
            return Ok(());
        }
        state.counters.fire(FaultKind::DiskFull);
        Err(DiskError::Full { file: self.shared_name(), wanted, capacity }.into())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.unlock();
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("name", &self.name).finish_non_exhaustive()
    }
}
