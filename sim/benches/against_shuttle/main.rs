//! Executions per CPU second against Shuttle, on the same programs in the same process.
//!
//! ```text
//! cargo bench -p interleaf --bench against_shuttle                       # the table
//! cargo bench -p interleaf --bench against_shuttle -- --programs a,c --rounds 15
//! cargo bench -p interleaf --bench against_shuttle -- --only ours --programs a --strategy random --executions 1000
//! cargo bench -p interleaf --bench against_shuttle -- --only strategies   # ours against our random walk
//! ```
//!
//! A round runs both sides once and the order alternates (A B, B A, …), so that a neighbour's load or a change of the
//! clock hits both. The ratio is the median of the rounds' ratios. `--only` runs one side a fixed number of times and
//! prints nothing: `scripts/bench-instructions` counts the instructions of two such runs and takes the difference.

mod programs;
mod sides;

use std::time::Duration;

use programs::PROGRAMS;
use sides::{Order, Program, Side};

/// What the command line asks for.
struct Options {
    programs: Vec<&'static Program>,
    orders: Vec<Order>,
    rounds: usize,
    /// Least CPU time of one side in one round.
    slice: Duration,
    only: Option<Side>,
    /// Our strategies are compared with each other, not with Shuttle's.
    among_ours: bool,
    executions: u64,
}

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("against_shuttle: this build is not optimised, its figures mean nothing; use `cargo bench`");
        // `cargo test --benches` runs this too, and there is nothing to test.
        std::process::exit(i32::from(std::env::args().any(|a| a == "--bench")));
    }
    let options = Options::from_arguments().unwrap_or_else(|message| {
        eprintln!("against_shuttle: {message}");
        std::process::exit(2);
    });
    match options.only {
        None if options.among_ours => strategies(&options),
        Some(side) => {
            for program in &options.programs {
                for order in &options.orders {
                    program.run(side, *order, options.executions);
                }
            }
        }
        None => table(&options),
    }
}

/// Measures and prints everything.
fn table(options: &Options) {
    println!("| program | strategy | steps | ns/execution | executions/s | Shuttle ns/execution | ratio | rounds |");
    println!("|---|---|---:|---:|---:|---:|---:|---|");
    for program in &options.programs {
        for &order in &options.orders {
            if order == Order::Pct && !program.has_choices {
                continue;
            }
            let ours = executions_for(options.slice, |n| program.run(Side::Ours, order, n));
            let theirs = executions_for(options.slice, |n| program.run(Side::Shuttle, order, n));
            let (mut fast, mut slow, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..options.rounds {
                let measure = |side, n| sides::cpu_time(|| program.run(side, order, n)).as_secs_f64() / n as f64;
                let (us, them) = if round % 2 == 0 {
                    let us = measure(Side::Ours, ours);
                    (us, measure(Side::Shuttle, theirs))
                } else {
                    let them = measure(Side::Shuttle, theirs);
                    (measure(Side::Ours, ours), them)
                };
                fast.push(us * 1e9);
                slow.push(them * 1e9);
                ratios.push(them / us);
            }
            let (us, them, ratio) = (median(&mut fast), median(&mut slow), median(&mut ratios));
            println!(
                "| {}: {} | {} | {:.1} | {us:.0} | {:.0} | {them:.0} | **{ratio:.1}** | {:.1} to {:.1} |",
                program.name,
                program.what,
                order.name(),
                program.steps(order),
                1e9 / us,
                ratios[0],
                ratios[ratios.len() - 1],
            );
        }
    }
}

/// Each of our strategies against our random walk, turn by turn.
fn strategies(options: &Options) {
    println!("| program | strategy | steps | ns/execution | ns/step | to a random walk | rounds |");
    println!("|---|---|---:|---:|---:|---:|---|");
    for program in &options.programs {
        let measure = |order| {
            let n = executions_for(options.slice, |n| program.run(Side::Ours, order, n));
            move || sides::cpu_time(|| program.run(Side::Ours, order, n)).as_secs_f64() / n as f64
        };
        let random = measure(Order::Random);
        for order in Order::OTHERS {
            let other = measure(order);
            let rounds: Vec<(f64, f64)> = (0..options.rounds).map(|_| (random(), other())).collect();
            let mut ratios: Vec<f64> = rounds.iter().map(|(walk, other)| other / walk).collect();
            let mut times: Vec<f64> = rounds.iter().map(|(_, other)| other * 1e9).collect();
            let (time, ratio, steps) = (median(&mut times), median(&mut ratios), program.steps(order));
            println!(
                "| {}: {} | {} | {steps:.1} | {time:.0} | {:.1} | **{ratio:.2}** | {:.2} to {:.2} |",
                program.name,
                program.what,
                order.name(),
                time / steps.max(1.0),
                ratios[0],
                ratios[ratios.len() - 1],
            );
        }
    }
}

/// How many executions take about `slice` of CPU time.
fn executions_for(slice: Duration, run: impl Fn(u64)) -> u64 {
    let mut n = 100;
    loop {
        let took = sides::cpu_time(|| run(n));
        if took * 4 >= slice {
            return (n as f64 * slice.as_secs_f64() / took.as_secs_f64()) as u64 + 1;
        }
        n *= 2;
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Options {
    fn from_arguments() -> Result<Self, String> {
        let mut options = Self {
            programs: PROGRAMS.iter().collect(),
            orders: vec![Order::Random, Order::Pct],
            rounds: 9,
            slice: Duration::from_millis(100),
            only: None,
            among_ours: false,
            executions: 1_000,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(flag) = arguments.next() {
            if flag == "--bench" {
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|e| format!("{flag} {value}: {e}"));
            match flag.as_str() {
                "--programs" => options.programs = value.split(',').map(program).collect::<Result<_, _>>()?,
                "--strategy" => options.orders = vec![Order::from_name(&value)?],
                "--rounds" => options.rounds = number()?.max(1) as usize,
                "--slice" => options.slice = Duration::from_millis(number()?.max(1)),
                "--only" if value == "strategies" => options.among_ours = true,
                "--only" => options.only = Some(Side::from_name(&value)?),
                "--executions" => options.executions = number()?,
                _ => return Err(format!("unknown argument {flag}")),
            }
        }
        if options.only != Some(Side::Ours) && options.orders.iter().any(|order| !order.is_common()) {
            return Err("Shuttle has random and pct only; add --only ours".into());
        }
        Ok(options)
    }
}

fn program(name: &str) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|p| p.name == name).ok_or_else(|| format!("no program is called {name}"))
}
