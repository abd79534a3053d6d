//! `cargo xtask bench`: the benchmarks of every crate that has some.
//!
//! A new benchmark is a file in `crates/<crate>/benches`; a crate's first one also needs its line
//! in `BENCHED`.

use crate::TaskOutcome;
use crate::cargo::Cargo;

/// The crates with benchmarks: folder and package.
const BENCHED: [(&str, &str); 3] = [
    ("crates/config", "wharf-config"),
    ("crates/cli", "wharf-cli"),
    ("crates/benches", "wharf-benches"),
];

/// Runs them; `--bench *` keeps the unit tests out of it.
pub(crate) fn run(cargo: &Cargo) -> TaskOutcome {
    let mut arguments = vec!["bench", "--locked", "--bench", "*"];
    for (folder, package) in BENCHED {
        if cargo.root().join(folder).join("benches").is_dir() {
            arguments.extend(["--package", package]);
        }
    }
    if !arguments.contains(&"--package") {
        println!("No crate has a `benches` folder yet.");
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

/// Builds the server of the testkit that one of the benchmarks of the command line starts.
fn build_actor(cargo: &Cargo) -> Result<(), String> {
    let actor = ["--package", "wharf-testkit", "--bin", "wharf-actor"];
    cargo.run(&[["build", "--locked", "--release"].as_slice(), &actor].concat(), &[])
}
