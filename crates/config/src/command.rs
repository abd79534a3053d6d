//! Finds the program that a command names, in the same way as it will be started.
//!
//! A name is searched in the absolute folders of PATH only. An empty or relative folder would mean
//! the working folder, whose files may come from an untrusted repository.

use std::ffi::OsString;
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
    which::which_in(target, search, folder).ok().filter(|path| path.is_absolute())
}

/// Returns the program that a definition would start: placeholders are replaced, and a relative
/// path starts at the folder in which the program would run.
///
/// The value of a placeholder is visible in the result only as part of the path of an existing
/// program.
pub(crate) fn find_program(
    definition: &Definition,
    env: &Env,
    files: &NamedFiles,
) -> Option<PathBuf> {
    let command = definition.fields.command.as_ref()?;
    let command = expand(command, ExpandContext::of(definition, env, files)).text;
    find(&command, env, &working_folder(definition, env, files))
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
