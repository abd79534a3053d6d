//! Benchmark of the protocol client: `wharf-bench` (our client) against `wharf-bare` (a client
//! written by hand). Both do the same work with the same server, alternately, so that a noisy
//! machine slows both.
//!
//! `cases` holds the workloads and the bar of each, `driver` runs one driver, `measure` compares
//! them. Arguments select cases by name; `--ours=PATH` measures another driver instead of
//! `wharf-bench`. Exits with 1 if a case is above its bar twice or cannot be measured.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its numbers and errors"
)]

mod cases;
mod driver;
mod measure;

use std::process::ExitCode;

use crate::cases::{CASES, Case};
use crate::driver::Drivers;
use crate::measure::CaseOutcome;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ours = arguments.iter().find_map(|argument| argument.strip_prefix("--ours="));
    let ours = ours.unwrap_or(env!("CARGO_BIN_EXE_wharf-bench"));
    // `cargo bench` adds flags such as `--bench`, which are ignored here.
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with("--")).collect();
    let chosen: Vec<&Case> = CASES
        .iter()
        .filter(|case| words.is_empty() || words.iter().any(|word| case.name.contains(*word)))
        .collect();
    if chosen.is_empty() {
        eprintln!("error: no case name contains any of {words:?}");
        return ExitCode::FAILURE;
    }
    let drivers = Drivers::new(ours);
    println!("{}", drivers.pinning());
    println!("{}", row(["", "bare", "ours", "ratio", "bar", ""]));
    let mut all_are_fine = true;
    for case in chosen {
        let outcome = measure::run(case, &drivers);
        all_are_fine &= outcome.is_fine();
        println!("{}", render_row(case, &outcome));
    }
    if all_are_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn render_row(case: &Case, outcome: &CaseOutcome) -> String {
    match outcome {
        CaseOutcome::Measured(result) => {
            let verdict = if outcome.is_fine() { "ok" } else { "OVER" };
            row([
                case.name,
                &case.unit.render(result.bare),
                &case.unit.render(result.ours),
                &format!("{:.2}", result.ratio),
                &case.limit.render(case.unit),
                verdict,
            ])
        }
        CaseOutcome::Skipped(why) => format!("{:<36} skipped: {why}", case.name),
        CaseOutcome::Failed(why) => format!("{:<36} FAILED: {why}", case.name),
    }
}

fn row([name, bare, ours, ratio, limit, verdict]: [&str; 6]) -> String {
    format!("{name:<36} {bare:>10} {ours:>10} {ratio:>6} {limit:>10}  {verdict}")
}
