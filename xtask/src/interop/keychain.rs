//! Stores tokens in a real Secret Service: GNOME Keyring, inside a session bus of its own.
//!
//! A machine without the keyring daemon gets it from Debian's packages, which are unpacked into the
//! folder of the tools; nothing is installed on the machine. `keychain.sh` is the test.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::write;
use crate::cargo::Cargo;
use crate::program::Program;
use crate::tools::Tools;

/// The name under which this test is selected.
pub(super) const NAME: &str = "secret-service";

/// The daemon, and the libraries that only it needs.
const PACKAGES: [&str; 3] = ["gnome-keyring", "libgck-1-0", "libgcr-base-3-1"];

const DAEMON: &str = "gnome-keyring-daemon";
const LIMIT: Duration = Duration::from_secs(120);

/// Returns why the test cannot run on this machine, if it cannot.
pub(super) fn missing() -> Option<String> {
    let has = |program: &str| {
        Program::new(program, LIMIT).args(["--version"]).capture().is_ok_and(|it| it.success)
    };
    if !has("dbus-run-session") {
        return Some("dbus-run-session is not installed".to_owned());
    }
    let can_unpack = has("apt-get") && has("dpkg-deb");
    (!has(DAEMON) && !can_unpack).then(|| format!("{DAEMON} is not installed"))
}

/// Runs the test.
pub(super) fn check(cargo: &Cargo) -> Result<(), String> {
    let tools = Tools::open(cargo)?;
    let (daemon, libraries) = daemon(&tools)?;
    let wharf = cargo.build("wharf-cli", "wharf")?;
    let folder = tools.empty_folder("keychain")?;
    let script = folder.join("keychain.sh");
    write(&script, include_str!("keychain.sh"))?;
    println!("Storing tokens in the Secret Service:");
    let arguments: [&Path; 6] =
        [Path::new("--"), Path::new("sh"), &script, &wharf, &daemon, &folder.join("home")];
    Program::new("dbus-run-session", LIMIT)
        .args(arguments)
        .env("LD_LIBRARY_PATH", libraries)
        .folder(&folder)
        .show()
}

/// Returns the daemon and the folder of its libraries.
fn daemon(tools: &Tools) -> Result<(PathBuf, PathBuf), String> {
    let is_installed = Program::new(DAEMON, LIMIT).args(["--version"]).capture();
    if is_installed.is_ok_and(|it| it.success) {
        return Ok((PathBuf::from(DAEMON), PathBuf::new()));
    }
    let folder = tools.empty_folder("gnome-keyring")?;
    Program::new("apt-get", LIMIT).args(["download"]).args(PACKAGES).folder(&folder).succeed()?;
    Program::new("sh", LIMIT)
        .args(["-ec", "for package in *.deb; do dpkg-deb -x \"$package\" root; done"])
        .folder(&folder)
        .succeed()?;
    let libraries = folder.join("root/usr/lib").join(format!("{}-linux-gnu", env::consts::ARCH));
    Ok((folder.join("root/usr/bin").join(DAEMON), libraries))
}
