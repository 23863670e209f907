//! What each random strategy has seen of a scenario, and how likely its next run shows something new.

use interleaf::{Coverage, NewClass};
use serde_json::{Value, json};

use super::table::{Align, Table, grouped};
use crate::campaign::runner::{Outcome, Row};

/// The chance that the next run shows a class that its strategy has not shown yet, over all strategies in the proportion
/// of their runs; `<` and the upper end of the interval if nothing was seen just once. That it is new to *every* strategy
/// is less likely still. Empty if nothing was estimated.
#[must_use]
pub fn clause(coverage: &[Coverage]) -> String {
    let runs: u64 = coverage.iter().map(|c| c.runs).sum();
    if runs == 0 {
        return String::new();
    }
    let mean =
        |of: fn(&NewClass) -> f64| coverage.iter().map(|c| of(&c.new_class) * c.runs as f64).sum::<f64>() / runs as f64;
    match mean(|new| new.chance) {
        0.0 => format!("<{}", percent(mean(|new| new.high))),
        chance => percent(chance),
    }
}

/// Two digits that count.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent <= 0.0 { 0 } else { (1 - percent.log10().floor() as i32).clamp(0, 9) };
    format!("{percent:.*} %", decimals as usize)
}

/// One row per scenario and strategy.
#[must_use]
pub fn table(outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("strategy", Align::Left),
        ("runs", Align::Right),
        ("distinct", Align::Right),
        ("seen once", Align::Right),
        ("seen twice", Align::Right),
        ("next is new", Align::Right),
        ("95 %", Align::Left),
    ]);
    for row in &outcome.rows {
        rows_of(row).into_iter().for_each(|cells| table.row(cells));
    }
    table
}

fn rows_of(row: &Row) -> Vec<Vec<String>> {
    let cells = |c: &Coverage| {
        let number = |n: u64| format!("{}{}", if c.one_in > 1 { "~" } else { "" }, grouped(n));
        let NewClass { chance, low, high } = c.new_class;
        vec![
            row.subject.token_name(),
            c.strategy.clone(),
            grouped(c.runs),
            number(c.distinct),
            number(c.once),
            number(c.twice),
            percent(chance),
            format!("{} to {}", percent(low), percent(high)),
        ]
    };
    row.report.coverage.iter().map(cells).collect()
}

/// For programs.
#[must_use]
pub fn json(coverage: &[Coverage]) -> Value {
    let one = |c: &Coverage| {
        json!({
            "strategy": c.strategy,
            "runs": c.runs,
            "distinct": c.distinct,
            "once": c.once,
            "twice": c.twice,
            "one_in": c.one_in,
            "new": { "chance": c.new_class.chance, "low": c.new_class.low, "high": c.new_class.high },
        })
    };
    coverage.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use interleaf::{Explorer, thread};

    use super::*;

    /// The coverage of a program with so many threads that run at once, each of one step.
    fn coverage(threads: u32, seeds: u64) -> Vec<Coverage> {
        let explorer = Explorer::new().seeds(0..seeds).count_distinct(true);
        let report = explorer.run(|| {
            let shared = interleaf::sync::Arc::new(interleaf::sync::Mutex::new(0));
            let step = |_| {
                let shared = interleaf::sync::Arc::clone(&shared);
                thread::spawn(move || *shared.lock().unwrap() += 1)
            };
            (0..threads).map(step).collect::<Vec<_>>().into_iter().for_each(|t| t.join().unwrap());
        });
        report.coverage
    }

    #[test]
    fn the_clause_is_the_mean_over_all_runs() {
        assert_eq!(clause(&[]), "");
        // Two orders, each seen many times by each strategy: less than 3 in 100 runs.
        assert_eq!(clause(&coverage(2, 300)), "<3.0 %");
        // 7! orders: nearly every run is new.
        let many = coverage(7, 300);
        let once: u64 = many.iter().map(|c| c.once).sum();
        assert_eq!(clause(&many), percent(once as f64 / 300.0));
        assert!(once > 250, "{many:?}");
    }

    #[test]
    fn percents_have_two_digits() {
        let shown = [0.0, 1.0, 0.123, 0.056, 0.0012, 0.000_034].map(percent);
        assert_eq!(shown, ["0 %", "100 %", "12 %", "5.6 %", "0.12 %", "0.0034 %"]);
    }

    #[test]
    fn json_has_every_number() {
        let coverage = coverage(3, 30);
        let json = json(&coverage);
        assert_eq!(json[0]["strategy"], "pct:2");
        assert_eq!(json[2]["strategy"], "urw");
        for (c, json) in coverage.iter().zip(json.as_array().unwrap()) {
            let numbers = ["runs", "distinct", "once", "twice", "one_in"].map(|key| json[key].as_u64().unwrap());
            assert_eq!(numbers, [10, c.distinct, c.once, c.twice, 1]);
            let new = ["chance", "low", "high"].map(|key| json["new"][key].as_f64().unwrap());
            assert_eq!(new, [c.new_class.chance, c.new_class.low, c.new_class.high]);
        }
    }
}
