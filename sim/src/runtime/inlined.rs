//! Strategies that need more than a random word but no call through a trait: POS, URW, SURW, and the profile runs.
//!
//! They are asked at every step. What they keep is in [`Inlined`], made once per exploration, so no step allocates (SURW
//! does at the first use of an object).

use crate::strategy::counts::Counts;
use crate::strategy::pos::Pos;
use crate::strategy::surw::Surw;
use crate::strategy::urw::Urw;

use super::objects::header::Header;
use super::point::choose_bit;
use super::rt::{MAX_THREADS, Mode, Rt, bits};

/// What these strategies keep.
pub(crate) struct Inlined {
    counts: Counts,
    pos: Pos,
    urw: Urw,
    surw: Surw,
    /// Profile runs also learn who uses which object.
    learn_objects: bool,
}

impl Inlined {
    pub(crate) fn new() -> Self {
        Self { counts: Counts::new(), pos: Pos::new(), urw: Urw::new(), surw: Surw::new(), learn_objects: false }
    }

    /// Forgets what was learnt.
    pub(crate) fn forget(&mut self, learn_objects: bool) {
        *self = Self { learn_objects, ..Self::new() };
    }

    /// A profile run has ended.
    pub(crate) fn learn(&mut self) {
        self.counts.learn();
        self.surw.objects.learn();
    }
}

/// A run begins, with one of these strategies.
pub(crate) fn begin(r: &mut Rt) {
    let Rt { inlined, rng, mode, .. } = r;
    match mode {
        Mode::Pos => inlined.pos.begin(),
        Mode::Surw => inlined.surw.begin(&inlined.counts, rng),
        Mode::Learn => inlined.surw.first_uses.clear(),
        _ => {}
    }
}

/// A thread was enlisted in `slot`, as child number `ordinal` of the running one.
#[cold]
pub(crate) fn enlisted(r: &mut Rt, slot: usize, ordinal: u32) {
    let Rt { inlined, rng, mode, cur, .. } = r;
    let parent = (*cur < MAX_THREADS).then_some(*cur);
    let Inlined { counts, pos, urw, surw, .. } = &mut **inlined;
    if *mode == Mode::Pos {
        return pos.enlisted(slot, rng);
    }
    counts.enlisted(slot, parent, ordinal, *mode == Mode::Learn);
    match mode {
        Mode::Urw => {
            let (own, total) = counts.of(slot);
            urw.enlisted(slot, parent, own, total);
        }
        Mode::Surw => surw.enlisted(slot, parent, counts),
        _ => {}
    }
}

/// Who goes on, of `enabled`, which is not empty.
///
/// # Safety
/// `r` is this OS thread's runtime.
#[inline(never)]
pub(crate) unsafe fn next_thread(r: *mut Rt, enabled: u64) -> usize {
    // SAFETY: as the caller; nothing switches here.
    let r = unsafe { &mut *r };
    match r.mode {
        Mode::Pos => {
            let Rt { inlined, rng, pending, alive, .. } = r;
            inlined.pos.next_thread(enabled, *alive, pending, rng)
        }
        Mode::Urw => r.inlined.urw.next_thread(enabled, &mut r.rng),
        Mode::Surw => {
            let alive = r.alive;
            for slot in bits(r.inlined.surw.unknown(alive, &r.pending)) {
                if let Some((object, made)) = object(r, slot) {
                    let Inlined { surw, counts, .. } = &mut *r.inlined;
                    surw.found(slot, object, made, counts);
                }
            }
            let Rt { inlined, rng, pending, .. } = r;
            inlined.surw.next_thread(enabled, alive, pending, rng)
        }
        _ => {
            let word = r.random();
            let next = choose_bit(enabled, word);
            learn(r, next);
            next
        }
    }
}

/// A profile run: the thread in `slot` makes a step.
fn learn(r: &mut Rt, slot: usize) {
    r.inlined.counts.step(slot);
    if r.inlined.learn_objects
        && let Some((object, made)) = object(r, slot)
    {
        let Inlined { surw, counts, .. } = &mut *r.inlined;
        let name = surw.first_uses.name(object, counts.node(slot), made);
        surw.objects.used(object, name);
    }
}

/// The object of a pending operation: its number, and where it was made.
fn object(r: &mut Rt, slot: usize) -> Option<(u32, &'static std::panic::Location<'static>)> {
    let header: *const Header = r.header_of(r.pending[slot])?;
    // SAFETY: the announcing thread is suspended inside the operation and borrows the object.
    let header = unsafe { &*header };
    Some((header.index(r), header.created))
}
