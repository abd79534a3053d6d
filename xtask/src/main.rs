//! `cargo xtask <task>`: the one door for the project's checks; CI goes through it too.
//!
//! Exit codes: 0 all is well, 1 a check failed, 2 the task was not understood. One file or folder
//! per task; `cargo.rs` and `program.rs` are the only places that start a program.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool that talks to a developer")]

mod bench;
mod cargo;
mod conformance;
mod interop;
mod program;
mod soak;
mod test;
mod tools;

use std::env;
use std::process::ExitCode;

use crate::cargo::Cargo;

const HELP: &str = "\
The project's checks.

Usage: cargo xtask <TASK> [NAME]...

Tasks:
  test         Run every check that needs only Rust: format, lints, tests, doctests, docs,
               dependencies
  interop      Talk to servers that other people wrote, all or those whose name starts with NAME
  conformance  Run the official suite against our client, all scenarios or those whose name
               contains NAME
  bench        Run the benchmarks
  soak         Put one runtime through 100 000 random operations (or through NUMBER of them) and
               look for what it leaves behind
  help         Print this help

`interop` and `conformance` install what they test with npm and python3 into `.tools`, once.
With CI=true a missing rustfmt, clippy, npm or python3 is a failure; otherwise what could not run
is named as skipped.

Examples:
  cargo xtask test
  CI=true cargo xtask test
  cargo xtask interop
  cargo xtask interop everything-http git
  cargo xtask conformance
  cargo xtask conformance sse-retry
  cargo xtask bench
  cargo xtask soak 1000000
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
        ["soak"] => soak::run(&Cargo::from_environment(), soak::DEFAULT_OPERATIONS),
        ["soak", number] if number.parse::<u64>().is_ok() => {
            soak::run(&Cargo::from_environment(), number)
        }
        ["interop", ref names @ ..] if are_names(names) => {
            interop::run(&Cargo::from_environment(), names)
        }
        ["conformance", ref names @ ..] if are_names(names) => {
            conformance::run(&Cargo::from_environment(), names)
        }
        ["test" | "bench" | "soak" | "interop" | "conformance", argument, ..] => {
            return usage_error(&format!("unexpected argument `{argument}`"));
        }
        [task, ..] => return usage_error(&format!("unknown task `{task}`")),
    };
    match outcome {
        TaskOutcome::Passed => ExitCode::SUCCESS,
        TaskOutcome::Failed => ExitCode::FAILURE,
    }
}

/// How a task ended.
enum TaskOutcome {
    Passed,
    Failed,
}

/// Tells names from options, of which there are none.
fn are_names(arguments: &[&str]) -> bool {
    !arguments.iter().any(|argument| argument.starts_with('-'))
}

fn usage_error(what: &str) -> ExitCode {
    eprintln!("error: {what}\nhint: `cargo xtask help` lists the tasks");
    ExitCode::from(2)
}
