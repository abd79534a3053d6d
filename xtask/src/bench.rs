//! `cargo xtask bench`: the benchmarks of every crate that has some.
//!
//! A new benchmark is a file in `crates/<crate>/benches`. The first one of a crate also needs a
//! line in `BENCHED`.

use crate::TaskOutcome;
use crate::cargo::Cargo;

/// The crates that have benchmarks: folder and package.
const BENCHED: [(&str, &str); 3] = [
    ("crates/config", "wharf-config"),
    ("crates/cli", "wharf-cli"),
    ("crates/benches", "wharf-benches"),
];

/// Runs all benchmarks; `--bench *` excludes the unit tests.
pub(crate) fn run(cargo: &Cargo) -> TaskOutcome {
    let mut arguments = vec!["bench", "--locked", "--bench", "*"];
    for (folder, package) in BENCHED {
        if cargo.root().join(folder).join("benches").is_dir() {
            arguments.extend(["--package", package]);
        }
    }
    if !arguments.contains(&"--package") {
        println!("No crate has a `benches` folder.");
        return TaskOutcome::Passed;
    }
    match build_actor(cargo).and_then(|()| cargo.run(&arguments, &[])) {
        Ok(()) => TaskOutcome::Passed,
        Err(why) => {
            eprintln!("error: the benchmarks failed ({why})");
            TaskOutcome::Failed
        }
    }
}

/// Builds `wharf-actor` of the testkit, which a benchmark of the command line starts.
fn build_actor(cargo: &Cargo) -> Result<(), String> {
    let actor = ["--package", "wharf-testkit", "--bin", "wharf-actor"];
    cargo.run(&[["build", "--locked", "--release"].as_slice(), &actor].concat(), &[])
}
