//! `cargo xtask soak`: many random operations on one runtime, and a look at what is left of them.
//!
//! The work is done by `wharf-soak` of the testkit; a short run of it is among the tests.

use crate::TaskOutcome;
use crate::cargo::Cargo;

/// How many operations stand for an hour of use.
pub(crate) const DEFAULT_OPERATIONS: &str = "100000";

/// Builds the servers and the driver, then runs it.
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
