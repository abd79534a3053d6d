//! `cargo xtask soak`: many random operations on one runtime, then a check for leaks.
//!
//! `wharf-soak` of the testkit does the work; a short run of it is part of the tests.

use crate::TaskOutcome;
use crate::cargo::Cargo;

/// The default number of operations, about an hour of use.
pub(crate) const DEFAULT_OPERATIONS: &str = "100000";

/// Builds the servers and the driver, then runs the driver.
pub(crate) fn run(cargo: &Cargo, operations: &str) -> TaskOutcome {
    let package = ["--locked", "--release", "--package", "wharf-testkit"];
    let build = [&["build", "--bins"], &package[..]].concat();
    let soak = [&["run", "--bin", "wharf-soak"], &package[..], &["--", operations]].concat();
    match cargo.run(&build, &[]).and_then(|()| cargo.run(&soak, &[])) {
        Ok(()) => TaskOutcome::Passed,
        Err(why) => {
            eprintln!("error: the soak failed ({why})");
            TaskOutcome::Failed
        }
    }
}
