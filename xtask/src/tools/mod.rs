//! What the checks need beyond Rust, installed into the ignored folder `.tools`.
//!
//! Every version is pinned here or beside its user. `package_set` installs one set of packages and
//! knows when that is done, `node` and `python` say how, and whether the machine can.

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

/// The folder `.tools`, held by one run at a time.
pub(crate) struct Tools {
    folder: PathBuf,
    /// Two runs that install the same set at once would leave half of each.
    _lock: File,
}

impl Tools {
    /// Creates the folder and waits until no other run uses it.
    pub(crate) fn open(cargo: &Cargo) -> Result<Self, String> {
        let folder = cargo.root().join(".tools");
        let lock = fs::create_dir_all(&folder)
            .and_then(|()| File::create(folder.join("lock")))
            .and_then(|file| lock(&file).map(|()| file))
            .map_err(|error| format!("could not use {}: {error}", folder.display()))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Returns where everything is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns an empty folder for what a run leaves behind.
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

/// Says by name what this machine cannot run; on CI that is a failure.
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
