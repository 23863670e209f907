//! Where two states differ first.

use std::cmp::Ordering;
use std::fmt::Debug;

/// The first part in which two states differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which part of the state, in fixed words, e.g. `unspent records`.
    pub part: &'static str,
    /// What the first state has there.
    pub expected: String,
    /// What the second one has.
    pub actual: String,
}

/// Compares one value.
#[must_use]
pub fn in_value<T: PartialEq + Debug>(part: &'static str, expected: &T, actual: &T) -> Option<Difference> {
    let differ = expected != actual;
    differ.then(|| Difference { part, expected: format!("{expected:?}"), actual: format!("{actual:?}") })
}

/// Compares two sequences place by place.
#[must_use]
pub fn in_sequence<T: PartialEq + Debug>(part: &'static str, expected: &[T], actual: &[T]) -> Option<Difference> {
    let common = expected.iter().zip(actual).take_while(|(e, a)| e == a).count();
    let at = |sequence: &[T]| match sequence.get(common) {
        Some(item) => format!("{item:?} at place {common}"),
        None => format!("the end after {common}"),
    };
    let differ = common < expected.len().max(actual.len());
    differ.then(|| Difference { part, expected: at(expected), actual: at(actual) })
}

/// Compares two maps given as entries by ascending key. Reports the first key that only one has, or that has two
/// values.
#[must_use]
pub fn in_entries<'a, K: Ord + Debug + 'a, V: PartialEq + Debug + 'a>(
    part: &'static str,
    expected: impl IntoIterator<Item = (&'a K, &'a V)>,
    actual: impl IntoIterator<Item = (&'a K, &'a V)>,
) -> Option<Difference> {
    let present = |(key, value): (&K, &V)| format!("{key:?} = {value:?}");
    let absent = |key: &K| format!("no {key:?}");
    let differ = |expected: String, actual: String| Some(Difference { part, expected, actual });
    let (mut expected, mut actual) = (expected.into_iter(), actual.into_iter());
    loop {
        match (expected.next(), actual.next()) {
            (None, None) => return None,
            (Some(e), None) => return differ(present(e), absent(e.0)),
            (None, Some(a)) => return differ(absent(a.0), present(a)),
            (Some(e), Some(a)) => match e.0.cmp(a.0) {
                Ordering::Less => return differ(present(e), absent(e.0)),
                Ordering::Greater => return differ(absent(a.0), present(a)),
                Ordering::Equal if e.1 != a.1 => return differ(present(e), present(a)),
                Ordering::Equal => {}
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn sequences_differ_at_the_first_place() {
        assert_eq!(in_sequence("order", &[1, 2], &[1, 2]), None);
        let difference = in_sequence("order", &[1, 2, 3], &[1, 3, 3]).unwrap();
        assert_eq!((&*difference.expected, &*difference.actual), ("2 at place 1", "3 at place 1"));
        assert_eq!(in_sequence("order", &[1], &[]).unwrap().actual, "the end after 0");
    }

    #[test]
    fn maps_differ_at_the_smallest_key() {
        let map = |entries: &[(u32, u32)]| entries.iter().copied().collect::<BTreeMap<_, _>>();
        let compare = |e: &[_], a: &[_]| in_entries("utxos", &map(e), &map(a)).map(|d| (d.expected, d.actual));
        let strings = |e: &str, a: &str| Some((e.to_owned(), a.to_owned()));
        assert_eq!(compare(&[(1, 1), (2, 2)], &[(1, 1), (2, 2)]), None);
        assert_eq!(compare(&[(1, 1), (2, 2)], &[(2, 2)]), strings("1 = 1", "no 1"));
        assert_eq!(compare(&[(2, 2)], &[(1, 1), (2, 2)]), strings("no 1", "1 = 1"));
        assert_eq!(compare(&[(1, 1)], &[(1, 7)]), strings("1 = 1", "1 = 7"));
        assert_eq!(compare(&[], &[(3, 3)]), strings("no 3", "3 = 3"));
        assert_eq!(compare(&[(3, 3)], &[]), strings("3 = 3", "no 3"));
    }
}
