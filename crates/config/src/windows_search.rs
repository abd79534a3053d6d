//! The system as `which` sees it on Windows: the extensions of programs come from an [`Env`].
//!
//! Hosts often start their servers with few variables and without PATHEXT. `npx` is `npx.cmd` even
//! then. Extensions of files that only a shell can open, such as `.js`, are ignored.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use which::sys::{RealSys, Sys};

use crate::env::Env;

/// The extensions of files that can be started, in the order of Windows.
const STARTABLE: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// The real system with the variables of an environment.
pub(crate) struct SystemWithEnv<'a>(pub(crate) &'a Env);

impl Sys for SystemWithEnv<'_> {
    type ReadDirEntry = DirEntry;
    type Metadata = Metadata;

    fn is_windows(&self) -> bool {
        true
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.0.cwd.clone())
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.0.home.clone()
    }

    fn env_split_paths(&self, paths: &OsStr) -> Vec<PathBuf> {
        RealSys.env_split_paths(paths)
    }

    fn env_path(&self) -> Option<OsString> {
        self.0.nonempty_variable("PATH").map(Into::into)
    }

    fn env_path_ext(&self) -> Option<OsString> {
        Some(extensions(self.0).join(";").into())
    }

    fn env_windows_path_ext(&self) -> Cow<'static, [String]> {
        Cow::Owned(extensions(self.0))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        RealSys.metadata(path)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        RealSys.symlink_metadata(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<DirEntry>>>> {
        RealSys.read_dir(path)
    }

    fn is_valid_executable(&self, path: &Path) -> io::Result<bool> {
        RealSys.is_valid_executable(path)
    }
}

/// Returns the extensions in PATHEXT that can be started, or all of them.
fn extensions(env: &Env) -> Vec<String> {
    let named = env.nonempty_variable("PATHEXT").unwrap_or_default().to_ascii_lowercase();
    let named: Vec<String> = named
        .split(';')
        .filter(|extension| STARTABLE.contains(extension))
        .map(str::to_owned)
        .collect();
    if named.is_empty() { STARTABLE.map(str::to_owned).into() } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Platform;

    #[test]
    fn only_extensions_that_can_be_started_count() {
        let check = |value: &str, expected: &[&str]| {
            let env = Env::new(Platform::Windows, "/").with_variable("PathExt", value);
            assert_eq!(extensions(&env), expected, "{value}");
        };
        check(".COM;.EXE;.BAT;.CMD;.VBS;.JS", &[".com", ".exe", ".bat", ".cmd"]);
        check(".CMD;.exe", &[".cmd", ".exe"]);
        check("", &STARTABLE);
        check(".JS", &STARTABLE);
    }

    #[cfg(windows)]
    #[test]
    fn a_batch_file_is_found_without_its_extension_and_a_unix_script_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["npx", "npx.cmd", "tool.js", "only-unix", "both.cmd", "both.bat"] {
            crate::store::write(&folder.path().join(name), "").unwrap();
        }
        let env = Env::new(Platform::Windows, folder.path())
            .with_variable("Path", folder.path().display().to_string());
        let found = |command: &str| {
            let found = crate::command::find(command, &env, folder.path())?;
            Some(found.file_name()?.to_string_lossy().to_lowercase())
        };
        assert_eq!(found("npx").as_deref(), Some("npx.cmd"));
        assert_eq!(found("NPX.CMD").as_deref(), Some("npx.cmd"));
        assert_eq!(found("both").as_deref(), Some("both.bat"));
        assert_eq!(found(".\\npx").as_deref(), Some("npx.cmd"));
        assert_eq!((found("tool"), found("only-unix")), (None, None));
    }
}
