//! What an object is called, so that the same name means the same object in every run.
//!
//! Objects are numbered in the order of their first use, which depends on the interleaving, and their addresses on
//! the allocator. A thread that goes straight ahead, however, meets the objects that were made at one place of the code in
//! an order of its own: "the third one made at `queue.rs:7` that `main/0` uses". One object has a name from each thread
//! that uses it; names that meant one object in some profile run are *one class*. If threads choose their objects by
//! what they read, a class may hold several objects. That does no harm: any subset of the events may be selected.

use std::collections::BTreeMap;
use std::panic::Location;

use super::counts::UNKNOWN;

/// Place of creation: file, line, column.
type Site = (&'static str, u32, u32);
/// The thread's node, the site, and how many objects of the site the thread has used before.
type Name = (u32, Site, u32);

/// Names of the present run.
#[derive(Default)]
pub(crate) struct FirstUses {
    /// By object and node.
    names: BTreeMap<(u32, u32), Name>,
    used: BTreeMap<(u32, Site), u32>,
}

impl FirstUses {
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.used.clear();
    }

    /// What the thread at `node` calls the object numbered `object`.
    pub(crate) fn name(&mut self, object: u32, node: u32, made: &'static Location<'static>) -> Name {
        let used = &mut self.used;
        *self.names.entry((object, node)).or_insert_with(|| {
            let site = (made.file(), made.line(), made.column());
            let used = used.entry((node, site)).or_insert(0);
            *used += 1;
            (node, site, *used - 1)
        })
    }
}

/// All names of the profile runs, and how often they were used.
#[derive(Default)]
pub(crate) struct Objects {
    known: BTreeMap<Name, usize>,
    /// Most uses in a run, by name.
    most: Vec<u32>,
    /// A name with the same meaning, or itself.
    same: Vec<usize>,
    /// The present profile run: uses, by object and name.
    now: BTreeMap<(u32, usize), u32>,
    /// The classes from which one is drawn: the names in each.
    classes: Vec<Vec<(u32, u32)>>,
    /// The class of each name.
    class: Vec<u32>,
}

impl Objects {
    /// A profile run: an operation on the object numbered `object`.
    pub(crate) fn used(&mut self, object: u32, name: Name) {
        let next = self.most.len();
        let index = *self.known.entry(name).or_insert(next);
        if index == next {
            self.most.push(0);
            self.same.push(next);
        }
        *self.now.entry((object, index)).or_insert(0) += 1;
    }

    fn first(&self, mut name: usize) -> usize {
        while self.same[name] != name {
            name = self.same[name];
        }
        name
    }

    /// A profile run has ended.
    pub(crate) fn learn(&mut self) {
        let mut last: Option<(u32, usize)> = None;
        for ((object, name), uses) in std::mem::take(&mut self.now) {
            self.most[name] = self.most[name].max(uses);
            if let Some((_, other)) = last.filter(|(o, _)| *o == object) {
                let (a, b) = (self.first(name), self.first(other));
                self.same[a.max(b)] = a.min(b);
            }
            last = Some((object, name));
        }
        self.classify();
    }

    fn classify(&mut self) {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        (0..self.same.len()).for_each(|name| members.entry(self.first(name)).or_default().push(name));
        let node: BTreeMap<usize, u32> = self.known.iter().map(|(name, &index)| (index, name.0)).collect();
        let uses = |names: &Vec<usize>| -> Vec<(u32, u32)> {
            names.iter().map(|name| (node[name], self.most[*name])).collect()
        };
        let shared = |names: &Vec<usize>| names.iter().any(|name| node[name] != node[&names[0]]);
        // What one thread alone uses leaves nothing to choose.
        let any_shared = members.values().any(shared);
        self.classes.clear();
        self.class = vec![UNKNOWN; self.same.len()];
        for names in members.values().filter(|names| !any_shared || shared(names)) {
            names.iter().for_each(|&name| self.class[name] = self.classes.len() as u32);
            self.classes.push(uses(names));
        }
    }

    /// How many classes there are to draw from.
    pub(crate) const fn classes(&self) -> usize {
        self.classes.len()
    }

    /// The most operations of each thread on the class, as (node, number).
    pub(crate) fn uses(&self, class: usize) -> &[(u32, u32)] {
        &self.classes[class]
    }

    /// Whether the name is one of the class.
    pub(crate) fn is_in(&self, name: &Name, class: usize) -> bool {
        self.known.get(name).is_some_and(|&index| self.class[index] as usize == class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One profile run: (object, node) in the order of use. All objects are made at one place.
    fn run(objects: &mut Objects, uses: &[(u32, u32)]) {
        let mut first = FirstUses::default();
        let made = Location::caller();
        for &(object, node) in uses {
            let name = first.name(object, node, made);
            objects.used(object, name);
        }
        objects.learn();
    }

    #[test]
    #[track_caller]
    fn an_object_has_one_class_whoever_uses_it_first() {
        // Threads 1 and 2 use x and y, thread 1 x first and thread 2 y first; thread 3 uses z alone.
        let mut objects = Objects::default();
        // x, y, z are 0, 1, 2 in one run and 1, 0, 2 in the other, as thread 2 comes first there.
        run(&mut objects, &[(0, 1), (1, 1), (1, 1), (1, 2), (0, 2), (2, 3)]);
        run(&mut objects, &[(0, 2), (1, 1), (1, 2), (0, 1), (2, 3), (1, 2)]);
        assert_eq!(objects.classes(), 2, "z is used by one thread only");
        let mut classes: Vec<Vec<(u32, u32)>> = (0..2).map(|class| objects.uses(class).to_vec()).collect();
        classes.iter_mut().for_each(|c| c.sort_unstable());
        classes.sort_unstable();
        assert_eq!(classes, [[(1, 1), (2, 2)], [(1, 2), (2, 1)]]);
    }

    #[test]
    fn without_shared_objects_any_may_be_drawn() {
        let mut objects = Objects::default();
        run(&mut objects, &[(0, 1), (1, 2), (1, 2)]);
        assert_eq!(objects.classes(), 2);
    }
}
