//! Finds the program that a command names, in the same way as it will be started.
//!
//! A name is searched in the absolute folders of PATH only. An empty or relative folder would mean
//! the working folder, whose files may come from an untrusted repository.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::expand::{ExpandContext, expand};
use crate::named_files::NamedFiles;
use crate::server::{Definition, WrittenText};

/// Returns the absolute path of a command, if it can be started.
///
/// A command with a slash is a path; a relative one starts at `folder`.
pub fn find(command: &str, env: &Env, folder: &Path) -> Option<PathBuf> {
    let is_in_home = command.starts_with('~');
    search(command, is_in_home.then(|| env.path_from(command, folder)), env, folder)
}

/// Works like [`find`] for a command from code, in which `~` is not the home folder.
pub fn find_literal(command: &str, env: &Env, folder: &Path) -> Option<PathBuf> {
    search(command, None, env, folder)
}

fn search(command: &str, path: Option<PathBuf>, env: &Env, folder: &Path) -> Option<PathBuf> {
    if command.is_empty() {
        return None;
    }
    let is_path = path.is_some() || command.contains(std::path::is_separator);
    let text = path.unwrap_or_else(|| folder.join(command));
    let search: Option<OsString> = (!is_path).then(|| absolute_search_path(env)).flatten();
    let target = if is_path { text.as_os_str() } else { command.as_ref() };
    let found = find_on_this_system(target, search, env, folder);
    found.filter(|path| path.is_absolute())
}

#[cfg(not(windows))]
fn find_on_this_system(
    target: &OsStr,
    search: Option<OsString>,
    _env: &Env,
    folder: &Path,
) -> Option<PathBuf> {
    which::which_in(target, search, folder).ok()
}

#[cfg(windows)]
fn find_on_this_system(
    target: &OsStr,
    search: Option<OsString>,
    env: &Env,
    folder: &Path,
) -> Option<PathBuf> {
    let system = crate::windows_search::SystemWithEnv(env);
    let finder = which::WhichConfig::new_with_sys(system)
        .binary_name(target.to_owned())
        .custom_cwd(folder.to_owned());
    let finder = match search {
        Some(search) => finder.custom_path_list(search),
        // Without a path list, a name would be searched in that of the process.
        None => finder.custom_path_list(OsString::new()),
    };
    finder.first_result().ok()
}

/// Returns the folder in which the program of a definition would run.
pub(crate) fn working_folder(definition: &Definition, env: &Env, files: &NamedFiles) -> PathBuf {
    let expanded =
        |written: &WrittenText| expand(written, ExpandContext::of(definition, env, files)).text;
    let cwd = definition.fields.cwd.as_ref().map(expanded).filter(|cwd| !cwd.is_empty());
    match cwd {
        Some(cwd) => env.path_from(&cwd, &definition.folder),
        None => definition.folder.to_path_buf(),
    }
}

fn absolute_search_path(env: &Env) -> Option<OsString> {
    let path = env.nonempty_variable("PATH")?;
    let separator = if cfg!(windows) { ';' } else { ':' };
    let folders: Vec<&str> =
        path.split(separator).filter(|folder| Path::new(folder).is_absolute()).collect();
    (!folders.is_empty()).then(|| folders.join(&separator.to_string()).into())
}
