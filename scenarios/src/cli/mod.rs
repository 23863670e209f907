//! The command line.
//!
//! * [`args`]: what may be given
//! * [`values`]: seeds, workers and their text forms
//! * [`interrupt`]: how Ctrl-C ends a command
//! * [`list`], [`run`], [`explore`], [`replay`], [`equiv`], [`selftest`], [`programs`], [`bench`](mod@bench): the commands

pub mod args;
pub mod bench;
pub mod equiv;
pub mod explore;
pub mod interrupt;
pub mod list;
pub mod programs;
pub mod replay;
pub mod run;
pub mod selftest;
pub mod values;

use std::process::ExitCode;

use clap::Parser as _;

use crate::campaign::Exit;
use crate::report::terminal::{Color, Format, Terminal};
use args::{Args, BenchCommand, Command};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Bad usage or bad input.
    #[error("{0}")]
    BadInput(String),
    /// Nothing to run.
    #[error("{0}")]
    NothingRan(String),
}

impl Refusal {
    /// Bad input, explained by an error.
    pub fn bad_input(error: impl std::fmt::Display) -> Self {
        Self::BadInput(error.to_string())
    }

    const fn exit(&self) -> Exit {
        match self {
            Self::BadInput(_) => Exit::BadInput,
            Self::NothingRan(_) => Exit::NothingRan,
        }
    }
}

/// Runs the program: reads the command line, does what it says, and gives the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(usage) => return explain(&usage),
    };
    let format = if args.json { Format::Json } else { args.message_format };
    let terminal = Terminal::new(format, args.color);
    let done = match args.command.unwrap_or_default() {
        Command::List => Ok(list::list(&terminal)),
        Command::Run(args) => run::run(&terminal, &args),
        Command::Explore(args) => explore::explore(&terminal, &args),
        Command::Replay(args) => replay::replay(&terminal, &args),
        Command::Equiv(args) => equiv::equiv(&terminal, &args),
        Command::Bench(args) => match args.what {
            BenchCommand::Ledger(args) => bench::ledger(&terminal, &args),
        },
        Command::Selftest(args) if args.programs => programs::programs(&terminal, &args),
        Command::Selftest(args) => selftest::selftest(&terminal, &args),
    };
    let exit = done.unwrap_or_else(|refusal| {
        terminal.error(&refusal);
        refusal.exit()
    });
    if terminal.finish() { exit.into() } else { Exit::BadInput.into() }
}

/// Shows a usage error, or the help or version that was asked for.
fn explain(usage: &clap::Error) -> ExitCode {
    let terminal = Terminal::new(Format::Human, Color::Auto);
    terminal.check(usage.print());
    if usage.use_stderr() || !terminal.finish() { Exit::BadInput.into() } else { ExitCode::SUCCESS }
}
