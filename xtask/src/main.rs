//! `cargo xtask <task>`: the one door for the project's checks; CI goes through it too.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 the task was not understood.
//! One file per task; `cargo.rs` is the only place that starts a program.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool that talks to a developer")]

mod bench;
mod cargo;
mod test;

use std::env;
use std::process::ExitCode;

use crate::cargo::Cargo;

const HELP: &str = "\
The project's checks.

Usage: cargo xtask <TASK>

Tasks:
  test    Run every check: format, lints, tests, doctests, docs, dependencies
  bench   Run the benchmarks
  help    Print this help

With CI=true a missing rustfmt or clippy is a failure; otherwise it is named as skipped.

Examples:
  cargo xtask test
  CI=true cargo xtask test
  cargo xtask bench
";

fn main() -> ExitCode {
    let arguments: Vec<String> =
        env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        [] | ["help" | "--help" | "-h"] | [_, "--help" | "-h"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        ["test"] => test::run(&Cargo::from_environment()),
        ["bench"] => bench::run(&Cargo::from_environment()),
        ["test" | "bench", argument, ..] => {
            return misunderstood(&format!("unexpected argument `{argument}`"));
        }
        [task, ..] => return misunderstood(&format!("unknown task `{task}`")),
    };
    match outcome {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
    }
}

/// How a task ended.
enum Outcome {
    Passed,
    Failed,
}

fn misunderstood(what: &str) -> ExitCode {
    eprintln!("error: {what}\nhint: `cargo xtask help` lists the tasks");
    ExitCode::from(2)
}
