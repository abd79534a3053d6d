//! The packages of the libraries: they can be packed, and their API is compared with that of the
//! last release.

use std::path::Path;
use std::time::Duration;

use crate::cargo::Cargo;
use crate::program::Program;

/// Packs the libraries without the network. None of them is in a registry, so each finds the others
/// in this workspace.
pub(crate) const PACK: [&str; 14] = [
    "package",
    "--offline",
    "--no-verify",
    "--allow-dirty",
    "--package",
    "wharf-config",
    "--package",
    "wharf-protocol",
    "--package",
    "wharf",
    "--config",
    "patch.crates-io.wharf-config.path='crates/config'",
    "--config",
    "patch.crates-io.wharf-protocol.path='crates/protocol'",
];

/// How long git may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the tag of the last release; `None` if there is none, or no git.
pub(crate) fn last_release(root: &Path) -> Option<String> {
    let arguments = ["describe", "--tags", "--match", "v[0-9]*", "--abbrev=0"];
    let git = Program::new("git", GIT_TIMEOUT).args(arguments).folder(root);
    let finished = git.capture().ok().filter(|finished| finished.success)?;
    Some(finished.stdout.trim().to_owned()).filter(|tag| !tag.is_empty())
}

/// Compares the API of the libraries with that of a release.
pub(crate) fn compare_api(cargo: &Cargo, release: &str) -> Result<(), String> {
    cargo.run(&compare_arguments(release), &[])
}

/// Describes the comparison as the command to type.
pub(crate) fn describe_comparison(release: &str) -> String {
    format!("cargo {}", compare_arguments(release).join(" "))
}

fn compare_arguments(release: &str) -> [&str; 9] {
    [
        "semver-checks",
        "--package",
        "wharf-config",
        "--package",
        "wharf-protocol",
        "--package",
        "wharf",
        "--baseline-rev",
        release,
    ]
}
