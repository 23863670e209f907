//! Of `LazyLock` what std has only in newer versions than the oldest supported: the same inside a run and outside.

use std::panic::{AssertUnwindSafe, catch_unwind};

use interleaf::Explorer;
use interleaf::sync::LazyLock;

fn looks_and_changes() -> String {
    let mut lazy: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1]);
    let before = (LazyLock::get(&lazy).is_none(), LazyLock::get_mut(&mut lazy).is_none());
    lazy.push(2);
    LazyLock::force_mut(&mut lazy).push(3);
    LazyLock::get_mut(&mut lazy).unwrap().push(4);
    let after = LazyLock::get(&lazy).cloned();
    let mut broken: LazyLock<u8> = LazyLock::new(|| panic!("no value"));
    let mut attempt = |f: fn(&mut LazyLock<u8>) -> Option<u8>| {
        let result = catch_unwind(AssertUnwindSafe(|| f(&mut broken)));
        result.map_err(|payload| *payload.downcast::<&str>().unwrap())
    };
    let attempts = [
        attempt(|lazy| LazyLock::get_mut(lazy).copied()),
        attempt(|lazy| Some(*LazyLock::force_mut(lazy))),
        attempt(|lazy| LazyLock::get(lazy).copied()),
        attempt(|lazy| LazyLock::get_mut(lazy).copied()),
        attempt(|lazy| Some(**lazy)),
    ];
    format!("{before:?} {after:?} {attempts:?}")
}

#[test]
fn values_can_be_looked_at_and_changed_without_being_made() {
    let poisoned = "Err(\"LazyLock instance has previously been poisoned\")";
    let expected =
        format!("(true, true) Some([1, 2, 3, 4]) [Ok(None), Err(\"no value\"), Ok(None), {poisoned}, {poisoned}]");
    assert_eq!(looks_and_changes(), expected);
    let report = Explorer::new().seeds(0..20).run(|| assert_eq!(looks_and_changes(), expected));
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}
