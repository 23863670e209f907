//! What the stories cost. Run by hand, in a release build:
//! `cargo test --release -p interleaf-scenarios --test stories_speed -- --ignored --nocapture`
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "measures real time, outside of all runs")]

mod campaign;

use std::time::Instant;

use campaign::run;
use interleaf_scenarios::registry;
use interleaf_scenarios::scenario::{Expected, Tally};

#[test]
#[ignore = "a measurement, not a test"]
fn executions_per_second() {
    let mut rows = Vec::new();
    for story in registry::all().iter().filter(|s| s.expected == Expected::Holds) {
        let runs = if story.name.contains("real_block") { 200 } else { 100_000 };
        let tally = Tally::default();
        run(story, None, 0..runs / 100, 1, &tally);
        let start = Instant::now();
        let report = run(story, None, 0..runs, 1, &tally);
        let seconds = start.elapsed().as_secs_f64();
        let us = seconds * 1e6 / runs as f64;
        rows.push((story.weight, us));
        println!(
            "{:60} weight {:2} {:>9.0} runs/s {:>8.2} µs {:>7.1} steps {:>8} distinct {:>8} conflicts fired {:?}",
            story.name,
            story.weight,
            runs as f64 / seconds,
            us,
            report.steps as f64 / runs as f64,
            report.distinct,
            tally.conflicts_met(),
            report.fired,
        );
    }
    let weights: f64 = rows.iter().map(|r| f64::from(r.0)).sum();
    let mean = rows.iter().map(|r| f64::from(r.0) * r.1).sum::<f64>() / weights;
    println!("mean {mean:.2} µs on one core, {:.0} runs in 60 s on 2 cores", 120e6 / mean);
}
