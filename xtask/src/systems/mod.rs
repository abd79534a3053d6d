//! `cargo xtask systems`: checks Wharf for Windows and macOS on a Linux machine.
//!
//! All targets are linted for both systems. The tests are built for Windows and run under Wine;
//! programs for macOS can be neither linked nor run here. `toolchain` installs and runs the
//! compilers, `wine` the tests, `test_list` finds them, `exceptions` names those that do not run on
//! Windows, and `report` prints the result.

mod exceptions;
mod report;
mod run;
mod test_list;
mod toolchain;
mod wine;

use std::fs;
use std::time::Instant;

use self::exceptions::Exceptions;
use self::report::SystemReport;
use self::run::WindowsTests;
use self::toolchain::{CrossCargo, Target};
use crate::TaskOutcome;
use crate::cargo::Cargo;
use crate::tools::{self, Tools};

/// The tests that do not run on Windows, with the reasons.
const EXCEPTIONS: &str = "xtask/src/systems/windows-exceptions.txt";

/// Checks everything; with `only`, runs the Windows tests whose name contains one of the words and
/// nothing else.
pub(crate) fn run(cargo: &Cargo, only: &[&str]) -> TaskOutcome {
    if let Some(why) = toolchain::missing(cargo) {
        return tools::report_skipped("Windows and macOS", &why, cargo.missing_tools);
    }
    match check(cargo, only) {
        Ok(outcome) => outcome,
        Err(why) => {
            eprintln!("error: {why}");
            TaskOutcome::Failed
        }
    }
}

fn check(cargo: &Cargo, only: &[&str]) -> Result<TaskOutcome, String> {
    let started = Instant::now();
    let text = fs::read_to_string(cargo.root().join(EXCEPTIONS))
        .map_err(|why| format!("could not read {EXCEPTIONS}: {why}"))?;
    let exceptions: Exceptions = text.parse().map_err(|why| format!("{EXCEPTIONS}: {why}"))?;
    let tools = Tools::open(cargo)?;
    let cross = CrossCargo::install(cargo, &tools)?;
    let mut systems = Vec::new();
    if only.is_empty() {
        systems.push(SystemReport::new("Windows", lint(&cross, Target::Windows)));
        systems.push(SystemReport::new("macOS", lint(&cross, Target::MacOs)));
    }
    let tests = WindowsTests { cargo, cross: &cross, exceptions: &exceptions, only }.run()?;
    print!("\n{}", report::render(&systems, &tests, started.elapsed()));
    let is_well = tests.is_well() && systems.iter().all(SystemReport::is_well);
    Ok(if is_well { TaskOutcome::Passed } else { TaskOutcome::Failed })
}

/// Compiles and lints all targets of the workspace; a warning is an error.
fn lint(cross: &CrossCargo, target: Target) -> Result<(), String> {
    println!("\n=== lints for {}", target.triple());
    cross.clippy(target).show()
}
