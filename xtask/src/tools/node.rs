//! Node and npm packages. The npm of the machine installs them, together with a pinned Node that
//! runs them, because the conformance suite needs a newer Node than many machines have.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::program::Program;
use crate::tools::{PackageSet, Tools};

const NODE: PackageSet = PackageSet { folder: "node", packages: &["node@22.23.3"] };

/// On Windows npm is a script and must be started with its extension.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Enough for a download of some hundred megabytes over a slow connection.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(600);

const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns why npm packages cannot be used on this machine, if they cannot.
pub(crate) fn missing() -> Option<String> {
    match Program::new(NPM, VERSION_TIMEOUT).args(["--version"]).capture() {
        Ok(finished) if finished.success => None,
        _ => Some("npm is not installed; it comes with Node".to_owned()),
    }
}

/// Installs the pinned Node and returns its path.
pub(crate) fn program(tools: &Tools) -> Result<PathBuf, String> {
    let folder = NODE.ensure(tools, "npm", |folder| {
        npm_install(folder, NODE.packages)?;
        let answer =
            Program::new(executable(folder), VERSION_TIMEOUT).args(["--version"]).succeed()?;
        let version = answer.stdout.trim();
        let is_ours = NODE.packages[0].strip_prefix("node@") == version.strip_prefix('v');
        if is_ours { Ok(()) } else { Err(format!("the installed version is {version}")) }
    })?;
    Ok(executable(&folder))
}

/// Installs npm packages and returns the path of `node_modules`.
pub(crate) fn install(tools: &Tools, set: &PackageSet) -> Result<PathBuf, String> {
    let folder = set.ensure(tools, "npm", |folder| npm_install(folder, set.packages))?;
    Ok(folder.join("node_modules"))
}

fn executable(folder: &Path) -> PathBuf {
    let name = if cfg!(windows) { "node.exe" } else { "node" };
    folder.join("node_modules").join("node").join("bin").join(name)
}

fn npm_install(folder: &Path, packages: &[&str]) -> Result<(), String> {
    Program::new(NPM, INSTALL_TIMEOUT)
        .args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--save-exact"])
        .args(["--loglevel=error", "--prefix"])
        .args([folder])
        .args(packages)
        .folder(folder)
        .succeed()
        .map(|_| ())
}
