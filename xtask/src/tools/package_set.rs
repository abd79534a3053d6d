//! One set of packages in its own folder, with a stamp file that lists the installed packages.
//!
//! The stamp is written last, so an interrupted install is repeated from the start. A later run
//! with the same packages only reads the stamp.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::tools::Tools;

/// Packages that are installed together, with their exact versions.
pub(crate) struct PackageSet {
    /// The folder below `.tools`.
    pub(crate) folder: &'static str,
    /// The packages, in the syntax of the package manager.
    pub(crate) packages: &'static [&'static str],
}

impl PackageSet {
    /// Installs the set unless the stamp has the same packages and the same `installer`.
    pub(super) fn ensure(
        &self,
        tools: &Tools,
        installer: &str,
        install: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let folder = tools.folder().join(self.folder);
        let stamp = folder.join("installed.txt");
        let wanted = format!("{}\n{installer}\n", self.packages.join("\n"));
        if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            return Ok(folder);
        }
        println!("installing {} …", self.packages.join(", "));
        clear(&folder)?;
        install(&folder).map_err(|why| format!("could not install {}: {why}", self.folder))?;
        File::create(&stamp)
            .and_then(|mut file| file.write_all(wanted.as_bytes()))
            .map_err(|error| format!("could not write {}: {error}", stamp.display()))?;
        Ok(folder)
    }
}

/// Creates the folder, or empties it.
pub(super) fn clear(folder: &Path) -> Result<(), String> {
    let removed = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    removed
        .and_then(|()| fs::create_dir_all(folder))
        .map_err(|error| format!("could not empty {}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::env;

    use super::*;

    const SET: PackageSet = PackageSet { folder: "things", packages: &["thing@1.0.0"] };

    /// Runs a test with tools in a temporary folder, which is removed afterwards.
    fn with_tools(name: &str, test: impl FnOnce(&Tools)) {
        let folder = env::temp_dir().join(format!("xtask-set-{name}-{}", std::process::id()));
        clear(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        test(&Tools { folder: folder.clone(), _lock: lock });
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_second_run_installs_nothing() {
        with_tools("second", |tools| {
            let installs = Cell::new(0);
            for _ in 0..2 {
                SET.ensure(tools, "npm", |_| {
                    installs.set(installs.get() + 1);
                    Ok(())
                })
                .unwrap();
            }
            assert_eq!(installs.get(), 1);
        });
    }

    #[test]
    fn a_failed_install_is_repeated_in_an_empty_folder() {
        with_tools("failed", |tools| {
            let broken = SET.ensure(tools, "npm", |folder| {
                File::create(folder.join("half")).unwrap();
                Err("the network is gone".to_owned())
            });
            assert_eq!(broken.unwrap_err(), "could not install things: the network is gone");
            let folder = SET
                .ensure(tools, "npm", |folder| {
                    assert!(!folder.join("half").exists());
                    Ok(())
                })
                .unwrap();
            assert_eq!(
                fs::read_to_string(folder.join("installed.txt")).unwrap(),
                "thing@1.0.0\nnpm\n"
            );
        });
    }

    #[test]
    fn another_version_or_installer_is_installed_again() {
        with_tools("other", |tools| {
            let installs = Cell::new(0);
            let count = |_: &Path| {
                installs.set(installs.get() + 1);
                Ok(())
            };
            SET.ensure(tools, "python 3.11", count).unwrap();
            SET.ensure(tools, "python 3.12", count).unwrap();
            let newer = PackageSet { packages: &["thing@2.0.0"], ..SET };
            newer.ensure(tools, "python 3.12", count).unwrap();
            assert_eq!(installs.get(), 3);
        });
    }
}
