//! Tools other than Rust that the checks need, installed into the git-ignored folder `.tools`.
//!
//! All versions are pinned. `package_set` installs a set of packages and records what is installed.
//! `node` and `python` run the package managers and check whether the machine has them.

mod node;
mod package_set;
mod python;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use self::node::{install as install_npm, missing as missing_node, program as node};
pub(crate) use self::package_set::PackageSet;
pub(crate) use self::python::{install as install_python, missing as missing_python};

use crate::TaskOutcome;
use crate::cargo::{Cargo, MissingTools};

/// The folder `.tools`, locked by one run at a time.
pub(crate) struct Tools {
    folder: PathBuf,
    /// Held until the end of the run: two runs must not install the same set at once.
    _lock: File,
}

impl Tools {
    /// Creates the folder and waits until no other run has locked it.
    pub(crate) fn open(cargo: &Cargo) -> Result<Self, String> {
        let folder = cargo.root().join(".tools");
        let lock = fs::create_dir_all(&folder)
            .and_then(|()| File::create(folder.join("lock")))
            .and_then(|file| lock(&file).map(|()| file))
            .map_err(|error| format!("could not use {}: {error}", folder.display()))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Returns the path of the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns an empty folder for the files of a run.
    pub(crate) fn empty_folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        package_set::clear(&folder)?;
        Ok(folder)
    }
}

fn lock(file: &File) -> io::Result<()> {
    if file.try_lock().is_ok() {
        return Ok(());
    }
    println!("waiting for another run …");
    file.lock()
}

/// Reports what this machine cannot run; on CI that is a failure.
pub(crate) fn report_skipped(what: &str, why: &str, missing: MissingTools) -> TaskOutcome {
    match missing {
        MissingTools::Skip => {
            println!("skipped: {what}: {why}");
            TaskOutcome::Passed
        }
        MissingTools::Fail => {
            eprintln!("error: {what} cannot run: {why}");
            TaskOutcome::Failed
        }
    }
}
