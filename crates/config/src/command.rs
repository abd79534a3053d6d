//! Finds the program that a command names, the way it will be started.
//!
//! Through PATH only, and only through its absolute folders: an empty or relative one would mean
//! the working folder, and what lies there may have come with a repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::env::Env;

/// Returns the absolute path of a command, if it can be started.
///
/// A command with a slash is a path; a relative one starts at `folder`.
pub fn find(command: &str, env: &Env, folder: &Path) -> Option<PathBuf> {
    if command.is_empty() {
        return None;
    }
    let text = env.path_from(command, folder);
    let is_path = command.contains(std::path::is_separator) || command.starts_with('~');
    let search: Option<OsString> = (!is_path).then(|| absolute_search_path(env)).flatten();
    let target = if is_path { text.as_os_str() } else { command.as_ref() };
    which::which_in(target, search, folder).ok().filter(|path| path.is_absolute())
}

fn absolute_search_path(env: &Env) -> Option<OsString> {
    let path = env.filled_variable("PATH")?;
    let separator = if cfg!(windows) { ';' } else { ':' };
    let folders: Vec<&str> =
        path.split(separator).filter(|folder| Path::new(folder).is_absolute()).collect();
    (!folders.is_empty()).then(|| folders.join(&separator.to_string()).into())
}
