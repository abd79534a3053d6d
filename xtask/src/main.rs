//! `cargo xtask <task>`: runs the checks of the project; CI uses it too.
//!
//! Exit codes: 0 all checks passed, 1 a check failed, 2 usage error.
//! One file or folder per task; only `cargo.rs` and `program.rs` start programs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints")]

mod bench;
mod cargo;
mod conformance;
mod features;
mod interop;
mod packages;
mod program;
mod soak;
mod systems;
mod test;
mod tools;

use std::env;
use std::process::ExitCode;

use crate::cargo::Cargo;

const HELP: &str = "\
Runs the checks of the project.

Usage: cargo xtask <TASK> [NAME]...

Tasks:
  test         Run every check that needs only Rust: format, lints, tests, doctests, docs,
               dependencies, builds with fewer features
  interop      Test the client with third-party servers, all or those whose name starts with NAME
  conformance  Run the official suite against our client, all scenarios or those whose name
               contains NAME
  systems      Lint for Windows and macOS, and run the tests for Windows under Wine, all or those
               whose name contains NAME
  bench        Run the benchmarks
  soak         Run 100 000 random operations (or NUMBER of them) on one runtime and look for
               leaked processes, tasks, files and memory
  help         Print this help

`interop` and `conformance` install what they test with npm and python3 into `.tools`, once.
`systems` installs Debian packages if it may: Rust with its source, mingw and Wine.
With CI=true a missing rustfmt, clippy, npm, python3 or Debian package is a failure; otherwise the
checks that need it are skipped and named.

Examples:
  cargo xtask test
  CI=true cargo xtask test
  cargo xtask interop
  cargo xtask interop everything-http git
  cargo xtask conformance
  cargo xtask conformance sse-retry
  cargo xtask systems
  cargo xtask systems wharf-config::catalog
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
        ["systems", ref names @ ..] if are_names(names) => {
            systems::run(&Cargo::from_environment(), names)
        }
        ["test" | "bench" | "soak" | "interop" | "conformance" | "systems", argument, ..] => {
            return usage_error(&format!("unexpected argument `{argument}`"));
        }
        [task, ..] => return usage_error(&format!("unknown task `{task}`")),
    };
    match outcome {
        TaskOutcome::Passed => ExitCode::SUCCESS,
        TaskOutcome::Failed => ExitCode::FAILURE,
    }
}

/// The result of a task.
enum TaskOutcome {
    Passed,
    Failed,
}

/// Returns whether all arguments are names; there are no options.
fn are_names(arguments: &[&str]) -> bool {
    !arguments.iter().any(|argument| argument.starts_with('-'))
}

fn usage_error(what: &str) -> ExitCode {
    eprintln!("error: {what}\nhint: `cargo xtask help` lists the tasks");
    ExitCode::from(2)
}
