//! Selectively uniform random walk (SURW, ASPLOS 2025).
//!
//! For each run one shared object is drawn, and the orders of the operations *on it* are sampled uniformly: a thread is
//! drawn by the number of its remaining operations on the object, and only that thread may make the next one. All
//! others go on in between as long as they do something else. Few events, and each order of them equally likely: that
//! finds bugs that hang on one object, in programs too long for the uniform walk over everything.
//!
//! If the drawn thread waits for somebody, directly or in a loop, others may go first: at once if nobody can do
//! anything else, otherwise after as many steps as the whole program is expected to have.

use std::panic::Location;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::monitor::OpKind;
use crate::runtime::rt::{MAX_THREADS, Pending, bits};

use super::counts::Counts;
use super::objects::{FirstUses, Objects};
use super::urw::below;

const NOBODY: usize = MAX_THREADS;
/// Steps beyond the expected length that the drawn thread may take.
const PATIENCE: u32 = 64;

/// What is drawn for one run, and how far it is.
pub(crate) struct Surw {
    pub(crate) objects: Objects,
    pub(crate) first_uses: FirstUses,
    class: Option<usize>,
    /// Operations on the class by node, and with those of the threads below.
    own: Vec<u32>,
    total: Vec<u32>,
    /// Operations on the class that the slot's thread has left, and those of the threads that it has yet to start.
    left: [u32; MAX_THREADS],
    unborn: [u32; MAX_THREADS],
    /// Slots whose pending operation is on the class.
    on: u64,
    /// For which announced object `on` was found out; valid for slots that are not in `stale`.
    at: [usize; MAX_THREADS],
    stale: u64,
    /// Objects of this run, by number: whether they are in the class, and which slots' threads have used them.
    seen: Vec<(bool, u64)>,
    /// Who may make the next operation on the class.
    drawn: usize,
    waited: u32,
    patience: u32,
}

impl Surw {
    pub(crate) fn new() -> Self {
        Self {
            objects: Objects::default(),
            first_uses: FirstUses::default(),
            class: None,
            own: Vec::new(),
            total: Vec::new(),
            left: [0; MAX_THREADS],
            unborn: [0; MAX_THREADS],
            on: 0,
            at: [0; MAX_THREADS],
            stale: u64::MAX,
            seen: Vec::new(),
            drawn: NOBODY,
            waited: 0,
            patience: 0,
        }
    }

    /// A run begins: draws the class.
    pub(crate) fn begin(&mut self, counts: &Counts, random: &mut Xoshiro256PlusPlus) {
        let classes = self.objects.classes() as u64;
        self.class = (classes > 0).then(|| below(random, classes) as usize);
        self.own.clear();
        self.own.resize(counts.len(), 0);
        for &(node, uses) in self.class.map_or(&[][..], |class| self.objects.uses(class)) {
            if let Some(own) = self.own.get_mut(node as usize) {
                *own = own.saturating_add(uses);
            }
        }
        self.total.clone_from(&self.own);
        counts.add_up(&mut self.total);
        self.first_uses.clear();
        self.seen.clear();
        self.on = 0;
        self.stale = u64::MAX;
        self.drawn = NOBODY;
        self.patience = counts.sum().saturating_add(PATIENCE);
    }

    /// A thread begins in `slot`.
    pub(crate) fn enlisted(&mut self, slot: usize, parent: Option<usize>, counts: &Counts) {
        let node = counts.node(slot) as usize;
        let (own, total) = (self.own.get(node).map_or(0, |n| *n), self.total.get(node).map_or(0, |n| *n));
        (self.left[slot], self.unborn[slot]) = (own, total - own);
        if let Some(parent) = parent {
            self.unborn[parent] = self.unborn[parent].saturating_sub(total);
        }
        self.stale |= 1 << slot;
        self.drawn = NOBODY;
        // The slot's last thread may have used them.
        self.seen.iter_mut().for_each(|(_, by)| *by &= !(1 << slot));
    }

    /// Slots of `alive` whose operation is new: [`Self::found`] must be told about those with an object.
    pub(crate) fn unknown(&mut self, alive: u64, pending: &[Pending; MAX_THREADS]) -> u64 {
        let moved = bits(alive & !self.stale).filter(|&t| self.at[t] != pending[t].at);
        let new = moved.fold(self.stale & alive, |mask, t| mask | 1 << t);
        bits(new).for_each(|t| self.at[t] = pending[t].at);
        self.on &= !new;
        self.stale &= !alive;
        new
    }

    /// The slot's thread is about to use the object numbered `object`.
    pub(crate) fn found(&mut self, slot: usize, object: u32, made: &'static Location<'static>, counts: &Counts) {
        let index = object as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, (false, 0));
        }
        let (is_in, by) = &mut self.seen[index];
        if *by >> slot & 1 == 0 {
            *by |= 1 << slot;
            let name = self.first_uses.name(object, counts.node(slot), made);
            *is_in |= self.class.is_some_and(|class| self.objects.is_in(&name, class));
        }
        self.on |= u64::from(*is_in) << slot;
    }

    /// Who goes on, of `enabled`, which is not empty. `on` is up to date.
    pub(crate) fn next_thread(
        &mut self,
        enabled: u64,
        alive: u64,
        pending: &[Pending; MAX_THREADS],
        random: &mut Xoshiro256PlusPlus,
    ) -> usize {
        if self.drawn == NOBODY || alive >> self.drawn & 1 == 0 {
            self.draw(alive, pending, random);
        }
        self.waited += 1;
        let drawn = 1u64.checked_shl(self.drawn as u32).unwrap_or(0);
        let mut options = enabled & (!self.on | drawn);
        if options == 0 || self.waited > self.patience {
            let eager = if enabled & self.on == 0 { enabled } else { enabled & self.on };
            self.drawn = pick(eager, random);
            self.waited = 0;
            options = 1 << self.drawn;
        }
        let next = pick(options, random);
        self.stale |= 1 << next;
        if self.on >> next & 1 == 1 {
            self.left[next] = self.left[next].saturating_sub(1);
            self.drawn = NOBODY;
        }
        next
    }

    /// Draws who makes the next operation on the class.
    fn draw(&mut self, alive: u64, pending: &[Pending; MAX_THREADS], random: &mut Xoshiro256PlusPlus) {
        self.waited = 0;
        let on = self.on;
        let sum: u64 = bits(alive).map(|t| self.weight(t, on, pending)).sum();
        if sum == 0 {
            self.drawn = pick(alive, random);
            return;
        }
        let mut rest = below(random, sum);
        for t in bits(alive) {
            let weight = self.weight(t, on, pending);
            if rest < weight {
                self.drawn = t;
                return;
            }
            rest -= weight;
        }
    }

    /// What is left to the slot's thread. Who is about to use the class has at least that one use before it, whatever the
    /// estimate; who joins a thread has none before that one ends.
    fn weight(&self, slot: usize, on: u64, pending: &[Pending; MAX_THREADS]) -> u64 {
        if pending[slot].kind == OpKind::Join {
            return 0;
        }
        (u64::from(self.left[slot]) + u64::from(self.unborn[slot])).max(on >> slot & 1)
    }
}

fn pick(options: u64, random: &mut Xoshiro256PlusPlus) -> usize {
    let skip = below(random, u64::from(options.count_ones()));
    (0..skip).fold(options, |rest, _| rest & (rest - 1)).trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng as _;

    use super::*;

    const fn pending(kind: OpKind) -> Pending {
        Pending { at: 0, location: Location::caller(), kind }
    }

    #[test]
    fn who_may_go_next_is_drawn_by_what_is_left_on_the_object() {
        // Main makes one operation on the object and starts a thread that makes three.
        let (mut counts, mut surw) = (Counts::new(), Surw::new());
        let made = Location::caller();
        for (slot, parent, uses) in [(0, None, 1), (1, Some(0), 3)] {
            counts.enlisted(slot, parent, 0, true);
            for _ in 0..uses {
                counts.step(slot);
                let name = surw.first_uses.name(0, counts.node(slot), made);
                surw.objects.used(0, name);
            }
        }
        counts.learn();
        surw.objects.learn();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        surw.begin(&counts, &mut random);
        let mut table = [pending(OpKind::Store); MAX_THREADS];
        counts.enlisted(4, None, 0, false);
        surw.enlisted(4, None, &counts);
        assert_eq!(surw.weight(4, 0, &table), 4, "its own and those of the thread that it will start");
        counts.enlisted(7, Some(4), 0, false);
        surw.enlisted(7, Some(4), &counts);
        assert_eq!([4, 7].map(|slot| surw.weight(slot, 0, &table)), [1, 3]);
        table[4].kind = OpKind::Join;
        assert_eq!(surw.weight(4, 0, &table), 0, "a joiner has nothing left before the other ends");
        // The thread uses the object more often than it ever did.
        for _ in 0..3 {
            surw.found(7, 0, made, &counts);
            assert_eq!(surw.next_thread(1 << 7, 1 << 4 | 1 << 7, &table, &mut random), 7);
        }
        assert_eq!(surw.weight(7, 0, &table), 0);
        assert_eq!(surw.weight(7, 1 << 7, &table), 1, "who is about to use it has one use left at least");
        // The next thread in the slot has a name of its own for it.
        assert_eq!(surw.seen[0], (true, 1 << 7));
        surw.enlisted(7, Some(4), &counts);
        assert_eq!(surw.seen[0], (true, 0));
        // What a thread is about to do is looked at anew once it was chosen (another object may have the address of the
        // last one) or was woken (it is about to do something else now).
        let both = 1 << 4 | 1 << 7;
        assert_eq!(surw.unknown(both, &table), both);
        assert_eq!(surw.unknown(both, &table), 0);
        surw.next_thread(1 << 7, both, &table, &mut random);
        assert_eq!(surw.unknown(both, &table), 1 << 7);
        table[4].at = 99;
        assert_eq!(surw.unknown(both, &table), 1 << 4);
    }

    #[test]
    fn each_thread_counts_the_objects_that_it_meets_whoever_met_them_before() {
        // Two threads use x, then y, which were made at one place.
        let (mut counts, mut surw) = (Counts::new(), Surw::new());
        let made = Location::caller();
        counts.enlisted(0, None, 0, true);
        for slot in [1, 2] {
            counts.enlisted(slot, Some(0), slot as u32 - 1, true);
            for object in [0, 1] {
                let name = surw.first_uses.name(object, counts.node(slot), made);
                surw.objects.used(object, name);
            }
        }
        counts.learn();
        surw.objects.learn();
        assert_eq!(surw.objects.classes(), 2);
        for seed in 0..10 {
            surw.begin(&counts, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            surw.found(1, 0, made, &counts);
            surw.found(2, 0, made, &counts);
            surw.found(2, 1, made, &counts);
            assert_ne!(surw.seen[0].0, surw.seen[1].0, "one of the two was drawn");
        }
    }
}
