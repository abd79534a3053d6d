//! Runs a scripted server: `wharf-actor FOLDER`, where the folder contains `script.json`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).unwrap_or_default();
    wharf_testkit::actor::run(Path::new(&folder))
}
