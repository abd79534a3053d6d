//! A server that does what a test tells it: `wharf-actor FOLDER`, where the folder has its script.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).unwrap_or_default();
    wharf_testkit::actor::play(Path::new(&folder))
}
