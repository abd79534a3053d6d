//! Python packages, each set in its own virtual environment.
//!
//! Some systems ship Python without the part of `venv` that installs pip; there `virtualenv` is
//! installed first and creates the environment.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::program::Program;
use crate::tools::package_set::clear;
use crate::tools::{PackageSet, Tools};

const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// The oldest Python that all the servers accept.
const OLDEST: (u32, u32) = (3, 10);

const VIRTUALENV: &str = "virtualenv==21.15.6";

const INSTALL_TIMEOUT: Duration = Duration::from_secs(600);

const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Prints what an environment depends on: the version and the path of the Python.
const IDENTITY_SCRIPT: &str =
    "import sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)";

/// Returns why Python servers cannot be used on this machine, if they cannot.
pub(crate) fn missing() -> Option<String> {
    let Some(identity) = identity() else {
        return Some(format!("{PYTHON} is not installed"));
    };
    let version = identity.lines().next().unwrap_or_default();
    (!is_recent(version)).then(|| {
        let (major, minor) = OLDEST;
        format!("{PYTHON} is {version}, older than {major}.{minor}")
    })
}

/// Installs Python packages and returns the path of the Python in the environment.
pub(crate) fn install(tools: &Tools, set: &PackageSet) -> Result<PathBuf, String> {
    let installer = identity().unwrap_or_default();
    let folder = set.ensure(tools, installer.trim(), |folder| {
        let environment = folder.join("environment");
        create_environment(folder, &environment)?;
        pip(&executable(&environment)).args(set.packages).succeed().map(|_| ())
    })?;
    Ok(executable(&folder.join("environment")))
}

fn identity() -> Option<String> {
    let answer =
        Program::new(PYTHON, VERSION_TIMEOUT).args(["-c", IDENTITY_SCRIPT]).capture().ok()?;
    answer.success.then_some(answer.stdout)
}

fn is_recent(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
    let major = numbers.next().unwrap_or_default();
    (major, numbers.next().unwrap_or_default()) >= OLDEST
}

fn executable(environment: &Path) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join("python.exe")
    } else {
        environment.join("bin").join("python")
    }
}

fn create_environment(folder: &Path, environment: &Path) -> Result<(), String> {
    let venv =
        Program::new(PYTHON, INSTALL_TIMEOUT).args(["-m", "venv"]).args([environment]).succeed();
    let Err(venv) = venv else { return Ok(()) };
    clear(environment)?;
    let packages = folder.join("virtualenv");
    pip(Path::new(PYTHON))
        .args(["--target"])
        .args([&packages])
        .args([VIRTUALENV])
        .succeed()
        .and_then(|_| {
            Program::new(PYTHON, INSTALL_TIMEOUT)
                .args(["-m", "virtualenv"])
                .args([environment])
                .env("PYTHONPATH", &packages)
                .succeed()
        })
        .map(|_| ())
        .map_err(|virtualenv| format!("{venv}and {virtualenv}"))
}

fn pip(python: &Path) -> Program {
    Program::new(python, INSTALL_TIMEOUT).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_python_is_not_recent() {
        assert!(!is_recent("2.7.18") && !is_recent("3.9.21") && !is_recent(""));
        assert!(is_recent("3.10.0") && is_recent("3.14.1") && is_recent("4.0.0"));
    }
}
