//! Wine with a prefix of its own, in the target folder.
//!
//! One server process of Wine serves the prefix. It is ended, with all programs that still run in
//! the prefix, when the value is dropped and after a program that exceeded its time limit.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::program::{FinishedProgram, Program};

/// How long the programs of Wine itself may take. Creating a prefix takes ten seconds.
const SETUP_TIMEOUT: Duration = Duration::from_secs(300);

/// The source of a DLL that Wine lacks, from the workspace root.
const RANDOM_NUMBERS: &str = "xtask/src/systems/process_prng.c";

/// A running Wine.
pub(super) struct Wine {
    prefix: PathBuf,
    root: PathBuf,
}

impl Wine {
    /// Prepares the prefix in a folder: the first time it is created, later it is emptied of what
    /// tests have left.
    pub(super) fn start(folder: &Path, root: &Path) -> Result<Self, String> {
        let wine = Self { prefix: folder.join("wine"), root: root.to_owned() };
        let is_created = wine.prefix.join("system.reg").is_file();
        fs::create_dir_all(&wine.prefix)
            .map_err(|error| format!("could not create {}: {error}", wine.prefix.display()))?;
        if !is_created {
            println!("creating a prefix of Wine …");
            wine.run("wineboot", &["--init"])?;
        }
        // The standard library of Rust is made for Windows 10 or newer.
        wine.run("winecfg", &["-v", "win10"])?;
        wine.add_random_numbers()?;
        Ok(wine)
    }

    /// Returns the version of Wine.
    pub(super) fn version(&self) -> String {
        let answer = self.program("--version", SETUP_TIMEOUT).capture();
        answer.map(|answer| answer.stdout.trim().to_owned()).unwrap_or_default()
    }

    /// Runs a Windows program in a folder. One that takes too long is ended with all others.
    pub(super) fn capture(
        &self,
        path: &Path,
        arguments: &[&str],
        folder: &Path,
        limit: Duration,
    ) -> Result<FinishedProgram, String> {
        let finished = self.program(path, limit).args(arguments).folder(folder).capture()?;
        if finished.timed_out {
            self.end();
        }
        Ok(finished)
    }

    fn program(&self, path: impl AsRef<OsStr>, limit: Duration) -> Program {
        self.configured(Program::new("wine", limit)).args([path])
    }

    fn configured(&self, program: Program) -> Program {
        program
            .env("WINEPREFIX", &self.prefix)
            .env("WINEDEBUG", "-all")
            // Neither a menu of programs nor the question whether to install Mono and Gecko.
            .env("WINEDLLOVERRIDES", "winemenubuilder.exe,mscoree,mshtml=d")
            // Folders of the person, such as Documents, would be linked into the prefix.
            .env("HOME", &self.prefix)
            .env("LANG", "C.UTF-8")
            .without("DISPLAY")
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        self.program(program, SETUP_TIMEOUT).args(arguments).succeed().map(drop)
    }

    fn add_random_numbers(&self) -> Result<(), String> {
        Program::new("x86_64-w64-mingw32-gcc", SETUP_TIMEOUT)
            .args(["-shared", "-O1", "-o"])
            .args([self.prefix.join("drive_c/windows/system32/bcryptprimitives.dll")])
            .args([self.root.join(RANDOM_NUMBERS)])
            .args(["-ladvapi32"])
            .succeed()
            .map(drop)
    }

    /// Ends all programs in the prefix and waits for their end.
    fn end(&self) {
        for option in ["--kill", "--wait"] {
            let server = self.configured(Program::new("wineserver", SETUP_TIMEOUT));
            // Without a running server there is nothing to end, and this fails.
            drop(server.args([option]).capture());
        }
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        self.end();
    }
}
