//! Reads the environment of this process: the only place in the libraries that does so.
//!
//! No library calls it by itself. A program calls [`Env::of_process`] once and passes the result on.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Env, Platform};

/// The variable that names the home folder.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

impl Env {
    /// Returns the environment of this process: its variables, its working folder and the home
    /// folder of the person.
    ///
    /// The home folder is the value of `HOME` (on Windows `USERPROFILE`), if that is an absolute
    /// path. Both folders keep names that are not valid Unicode. A variable whose name or value is
    /// not valid Unicode is omitted, so servers do not get it.
    ///
    /// If the working folder was deleted, [`Env::cwd`] is the folder that `PWD` names, or
    /// `(deleted)`. It does not exist, so discovery reports it as a missing folder.
    ///
    /// ```
    /// use wharf_config::{Env, Platform};
    ///
    /// let env = Env::of_process();
    /// assert_eq!(env.platform, Platform::HOST);
    /// assert!(env.cwd.is_absolute());
    /// ```
    pub fn of_process() -> Self {
        Self::of_parts(std::env::vars_os(), std::env::current_dir().ok())
    }

    /// Makes an environment of what a process has.
    fn of_parts(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        working_folder: Option<PathBuf>,
    ) -> Self {
        let mut env = Self::new(Platform::HOST, PathBuf::new());
        for (name, value) in variables {
            let Ok(name) = name.into_string() else { continue };
            if is_home(&name) {
                env.home = Some(PathBuf::from(&value)).filter(|home| home.is_absolute());
            }
            if let Ok(value) = value.into_string() {
                env.variables.insert(name, value);
            }
        }
        let deleted = || PathBuf::from(env.nonempty_variable("PWD").unwrap_or("(deleted)"));
        env.cwd = working_folder.map_or_else(deleted, as_stored);
        env
    }
}

/// Returns a folder in the case in which its names are stored. Windows returns the working folder as
/// it was typed, other systems as it is stored.
fn as_stored(folder: PathBuf) -> PathBuf {
    if !cfg!(windows) {
        return folder;
    }
    // A drive that is a network share stays a drive: a shell refuses to work in a share.
    let is_on_drive = |path: &PathBuf| {
        path.components().next().is_some_and(|first| first.as_os_str().len() == "C:".len())
    };
    crate::real_path(&folder).ok().filter(is_on_drive).unwrap_or(folder)
}

/// Tells whether a variable names the home folder; on Windows the case of names is ignored.
fn is_home(name: &str) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(HOME) } else { name == HOME }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(variables: &[(&str, &str)], working_folder: Option<&str>) -> Env {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        Env::of_parts(variables, working_folder.map(PathBuf::from))
    }

    /// An absolute path on this platform.
    fn absolute(path: &str) -> String {
        if cfg!(windows) { format!("C:{path}") } else { path.to_owned() }
    }

    #[test]
    fn variables_and_folders_are_taken_from_the_process() {
        let (home, folder) = (absolute("/home/me"), absolute("/work"));
        let env = env(&[(HOME, &home), ("EMPTY", "")], Some(&folder));
        assert_eq!(env.platform, Platform::HOST);
        assert_eq!(env.home, Some(PathBuf::from(home)));
        assert_eq!(env.cwd, PathBuf::from(folder));
        assert_eq!(env.variable("EMPTY"), Some(""));
    }

    #[test]
    fn a_home_that_is_not_an_absolute_path_is_ignored() {
        assert_eq!(env(&[(HOME, "")], Some("/")).home, None);
        assert_eq!(env(&[(HOME, "me")], Some("/")).home, None);
        assert_eq!(env(&[], Some("/")).home, None);
    }

    #[test]
    fn a_deleted_working_folder_is_still_named() {
        assert_eq!(env(&[("PWD", "/gone")], None).cwd, PathBuf::from("/gone"));
        assert_eq!(env(&[("PWD", "")], None).cwd, PathBuf::from("(deleted)"));
    }

    #[cfg(unix)]
    #[test]
    fn only_folders_may_have_names_that_are_not_unicode() {
        use std::os::unix::ffi::OsStringExt;

        let bad = || OsString::from_vec(b"/\xff".to_vec());
        let variables = [
            (HOME.into(), bad()),
            ("VALUE".into(), bad()),
            (bad(), "name".into()),
            ("GOOD".into(), "1".into()),
        ];
        let env = Env::of_parts(variables, Some(bad().into()));
        assert_eq!(env.home, Some(PathBuf::from(bad())));
        assert_eq!(env.cwd, PathBuf::from(bad()));
        assert_eq!(env.variables().collect::<Vec<_>>(), [("GOOD", "1")]);
    }
}
