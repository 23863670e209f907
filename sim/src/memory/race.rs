//! Data races on plain cells: FastTrack (Flanagan and Freund, PLDI 2009).
//!
//! Two accesses race if one of them writes and neither happens before the other. Of a cell only its last write is kept,
//! as a thread and a place in it, and its last read, or the last read of each thread where several are not ordered:
//! that is enough to find the first race of each cell in every run.

use std::panic::Location;

use super::clock::Clock;

/// An access of a plain cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) thread: u32,
    /// Place among the operations of the thread: that of the next one.
    pub(crate) position: u32,
    pub(crate) place: &'static Location<'static>,
}

impl Access {
    fn is_before(&self, me: u32, hb: &Clock) -> bool {
        self.thread == me || hb.includes(self.thread, self.position)
    }
}

/// What is known of a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    write: Option<Access>,
    reads: Reads,
}

#[derive(Clone, Debug, Default)]
enum Reads {
    #[default]
    None,
    One(Access),
    Many(Vec<Access>),
}

/// Two accesses that are not ordered: the earlier of the run, and whether it writes.
pub(crate) type Race = (Access, bool);

impl Cell {
    /// A read, before which `hb` happens.
    pub(crate) fn read(&mut self, access: Access, hb: &Clock) -> Result<(), Race> {
        let me = access.thread;
        if let Some(write) = self.write.filter(|w| !w.is_before(me, hb)) {
            return Err((write, true));
        }
        match &mut self.reads {
            Reads::Many(list) => match list.iter_mut().find(|r| r.thread == me) {
                Some(mine) => *mine = access,
                None => list.push(access),
            },
            Reads::One(last) if !last.is_before(me, hb) => self.reads = Reads::Many(vec![*last, access]),
            Reads::One(_) | Reads::None => self.reads = Reads::One(access),
        }
        Ok(())
    }

    /// A write, before which `hb` happens.
    pub(crate) fn write(&mut self, access: Access, hb: &Clock) -> Result<(), Race> {
        let me = access.thread;
        if let Some(write) = self.write.filter(|w| !w.is_before(me, hb)) {
            return Err((write, true));
        }
        let reads = match &self.reads {
            Reads::None => &[][..],
            Reads::One(read) => std::slice::from_ref(read),
            Reads::Many(list) => list,
        };
        if let Some(read) = reads.iter().find(|r| !r.is_before(me, hb)) {
            return Err((*read, false));
        }
        *self = Self { write: Some(access), reads: Reads::None };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(of: &[u32]) -> Clock {
        let mut clock = Clock::new();
        of.iter().zip(0..).for_each(|(&n, thread)| clock.raise(thread, n));
        clock
    }

    /// All accesses with their clocks, none forgotten.
    #[derive(Default)]
    struct Naive(Vec<(Access, bool)>);

    impl Naive {
        fn races(&mut self, access: Access, writes: bool, hb: &Clock) -> bool {
            let race = self.0.iter().any(|(a, w)| (*w || writes) && !a.is_before(access.thread, hb));
            self.0.push((access, writes));
            race
        }
    }

    #[test]
    fn the_first_race_of_a_cell_is_found_as_if_nothing_were_forgotten() {
        let place = Location::caller();
        let mut random = 1u64;
        let mut below = |n: u64| {
            random = crate::choice::finalise(random);
            (random % n) as u32
        };
        let mut racy = 0;
        for _ in 0..20_000 {
            let mut positions = [0u32; 3];
            let mut clocks = [clock(&[]), clock(&[]), clock(&[])];
            let (mut cell, mut naive) = (Cell::default(), Naive::default());
            for _ in 0..14 {
                let thread = below(3);
                let me = thread as usize;
                if below(3) == 0 {
                    // A message to another thread.
                    positions[me] += 1;
                    let position = positions[me];
                    clocks[me].raise(thread, position);
                    let message = clocks[me].clone();
                    clocks[below(3) as usize].join(&message);
                    continue;
                }
                let access = Access { thread, position: positions[me], place };
                let writes = below(2) == 0;
                let hb = clocks[me].clone();
                let found = if writes { cell.write(access, &hb) } else { cell.read(access, &hb) };
                let expected = naive.races(access, writes, &hb);
                assert_eq!(found.is_err(), expected);
                if expected {
                    racy += 1;
                    break;
                }
            }
        }
        assert!(racy > 1_000);
    }
}
