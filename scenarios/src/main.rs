//! The program `interleaf`: see [`interleaf_scenarios::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    interleaf_scenarios::cli::main()
}
