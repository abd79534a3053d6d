//! Expands the path templates of the programs into paths on this machine, with wildcards (globs).
//!
//! A template is a path with forward slashes that may begin with
//! - `~`, the home folder;
//! - `{config}`, the folder for settings on this system; `{xdg}`, the XDG settings folder on all
//!   systems; `{data}`, the XDG data folder;
//! - `{appdata}`, `{localappdata}`, `{programdata}`, `{programfiles}` of Windows;
//! - `/`, the root of the system;
//! - `${VAR}`, or `${VAR:-template}`.
//!
//! `*` matches any part of a name, `**` up to four folders.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::env::{Env, Platform};
use crate::formats::{self, PathTemplate};
use crate::problem::Problem;
use crate::source::Level;

/// How many files one template may match; a folder with more is not a plugin folder.
const MAX_MATCHES: usize = 1_000;

/// How many folders deep `**` searches.
const MAX_WILDCARD_DEPTH: usize = 4;

/// Returns the paths of a template. Without a `*` this is one path, which need not exist.
#[cfg(feature = "discovery")]
pub(crate) fn paths(template: &PathTemplate, env: &Env, base: &Path) -> Vec<PathBuf> {
    resolve_start(for_platform(template, env), env, base).map(expand_wildcards).unwrap_or_default()
}

/// Returns the paths of a template that exist. A dangling link counts, so that it can be reported.
pub(super) fn existing_paths(
    template: &PathTemplate,
    env: &Env,
    base: &Path,
    listings: &FolderListings,
) -> Vec<(PathBuf, FileId)> {
    let Some((start, rest)) = resolve_start(for_platform(template, env), env, base) else {
        return Vec::new();
    };
    if listings.is_certainly_absent(&start, rest) {
        return Vec::new();
    }
    let there = |path: PathBuf| file_id(&path).map(|id| (path, id));
    expand_wildcards((start, rest)).into_iter().filter_map(there).collect()
}

/// Identifies a file, to tell whether two paths lead to the same one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct FileId(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

/// Identifies the file at a path, if there is one. A dangling link is identified as itself.
#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;

    let metadata = path.symlink_metadata().ok()?;
    let metadata =
        if metadata.is_symlink() { path.metadata().unwrap_or(metadata) } else { metadata };
    Some(FileId((metadata.dev(), metadata.ino())))
}

#[cfg(not(unix))]
fn file_id(path: &Path) -> Option<FileId> {
    path.symlink_metadata().ok()?;
    Some(FileId(crate::real_path(path).unwrap_or_else(|_| path.to_owned())))
}

fn for_platform(template: &PathTemplate, env: &Env) -> &'static str {
    match env.platform {
        Platform::Linux => template.linux,
        Platform::MacOs => template.macos,
        Platform::Windows => template.windows,
    }
}

fn expand_wildcards((start, rest): (PathBuf, &str)) -> Vec<PathBuf> {
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    if !rest.contains('*') {
        let mut path = start;
        path.extend(parts);
        return vec![path];
    }
    let mut found = Vec::new();
    search(start, &parts, &mut found);
    found
}

/// The names in folders that many programs share, such as the home folder. Listing each once saves
/// about a hundred lookups of files that do not exist.
pub(super) struct FolderListings(Vec<(PathBuf, HashSet<OsString>)>);

impl FolderListings {
    /// Lists the home folder, the folder for settings and the given folders.
    pub(super) fn read(env: &Env, folders: &[Arc<PathBuf>]) -> Self {
        // Other file systems may ignore case, so a name that is not listed may still exist.
        if !cfg!(target_os = "linux") {
            return Self(Vec::new());
        }
        let own = env.home.clone().into_iter().chain(known_folder("xdg", env));
        let all = own.chain(folders.iter().map(|folder| folder.as_ref().clone()));
        // Files in a folder that cannot be listed may still be readable by name.
        let listing = |folder: PathBuf| {
            let entries = std::fs::read_dir(&folder).ok()?;
            let names = entries.map(|entry| Ok(entry?.file_name()));
            let names: std::io::Result<HashSet<OsString>> = names.collect();
            Some((folder, names.ok()?))
        };
        Self(all.filter_map(listing).collect())
    }

    /// Tells whether the listing of a folder proves that a path below it does not exist.
    fn is_certainly_absent(&self, folder: &Path, rest: &str) -> bool {
        let first = rest.split('/').find(|part| !part.is_empty());
        let known = self.0.iter().find(|(own, _)| own == folder);
        match (known, first) {
            (Some((_, names)), Some(first)) if !first.contains('*') => {
                !names.contains(OsStr::new(first))
            }
            _ => false,
        }
    }
}

/// Splits a template into a folder on this machine and the rest of the template.
fn resolve_start<'a>(template: &'a str, env: &Env, base: &Path) -> Option<(PathBuf, &'a str)> {
    if template.is_empty() {
        return None;
    }
    if let Some(rest) = template.strip_prefix("${") {
        let close = crate::expand::closing_brace(rest)?;
        let (variable, rest) = (&rest[..close], &rest[close + 1..]);
        let (name, otherwise) = match variable.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (variable, None),
        };
        let folder = match (env.folder_variable(name), otherwise) {
            (Some(folder), _) => folder,
            (None, Some(fallback)) => {
                let (folder, below) = resolve_start(fallback, env, base)?;
                below
                    .split('/')
                    .filter(|part| !part.is_empty())
                    .fold(folder, |path, part| path.join(part))
            }
            (None, None) => return None,
        };
        return Some((folder, rest));
    }
    if let Some(rest) = template.strip_prefix('/') {
        return Some((env.system_root.clone(), rest));
    }
    if let Some(rest) = template.strip_prefix('~') {
        return Some((env.home.clone()?, rest));
    }
    if let Some((word, rest)) = template.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        return Some((known_folder(word, env)?, rest));
    }
    Some((base.to_owned(), template))
}

/// The code of problems with variables that name a folder by a relative path.
pub(crate) const RELATIVE_FOLDER: &str = "relative-folder";

/// Variables for folders and files that are in no template of a program.
const FOLDER_VARIABLES: [&str; 5] =
    ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "WHARF_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// Reports the folder variables that are ignored because their paths are relative.
pub(crate) fn relative_folder_problems(env: &Env) -> Vec<Problem> {
    let mut names: BTreeSet<&str> = FOLDER_VARIABLES.into();
    if env.platform == Platform::Windows {
        names.extend(["USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles"]);
    } else {
        names.insert("HOME");
    }
    let files = formats::PROGRAMS.iter().flat_map(|program| program.files);
    for file in files.filter(|file| file.level != Level::Env) {
        let rest = for_platform(&file.template, env).strip_prefix("${");
        names.extend(rest.and_then(|rest| rest.split([':', '}']).next()));
    }
    let is_ignored =
        |name: &&str| env.nonempty_variable(name).is_some() && env.folder_variable(name).is_none();
    let report = |name: &str| {
        Problem::warning(RELATIVE_FOLDER, format!("{name} is a relative path; ignored"))
            .hint(format!("set {name} to a path that begins with / or ~, or unset it"))
    };
    names.into_iter().filter(is_ignored).map(report).collect()
}

fn known_folder(word: &str, env: &Env) -> Option<PathBuf> {
    // Part by part, so that the path has the separators of the system that it is used on.
    let home = |below: &str| {
        let home = env.home.clone()?;
        Some(below.split('/').fold(home, |path, part| path.join(part)))
    };
    let variable = |name: &str| env.folder_variable(name);
    match word {
        "xdg" => variable("XDG_CONFIG_HOME").or_else(|| home(".config")),
        "data" => variable("XDG_DATA_HOME").or_else(|| home(".local/share")),
        "config" => match env.platform {
            Platform::Linux => known_folder("xdg", env),
            Platform::MacOs => home("Library/Application Support"),
            Platform::Windows => known_folder("appdata", env),
        },
        "appdata" => variable("APPDATA").or_else(|| home("AppData/Roaming")),
        "localappdata" => variable("LOCALAPPDATA").or_else(|| home("AppData/Local")),
        "programdata" => {
            variable("ProgramData").or_else(|| Some(env.system_root.join("ProgramData")))
        }
        "programfiles" => {
            variable("ProgramFiles").or_else(|| Some(env.system_root.join("Program Files")))
        }
        _ => None,
    }
}

/// Adds every file below a folder that matches the parts of a template, ordered by name.
fn search(folder: PathBuf, parts: &[&str], found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else {
        if folder.exists() {
            found.push(folder);
        }
        return;
    };
    if found.len() >= MAX_MATCHES {
        return;
    }
    if *part == "**" {
        search_below(&folder, rest, MAX_WILDCARD_DEPTH, found);
    } else if part.contains('*') {
        for name in names_in(&folder).filter(|name| matches_wildcard(name, part)) {
            search(folder.join(name), rest, found);
        }
    } else {
        search(folder.join(part), rest, found);
    }
}

fn search_below(folder: &Path, rest: &[&str], deep: usize, found: &mut Vec<PathBuf>) {
    search(folder.to_owned(), rest, found);
    if deep == 0 {
        return;
    }
    for name in names_in(folder) {
        // A plugin's own dependencies are not plugins.
        if name == "node_modules" || name == ".git" || found.len() >= MAX_MATCHES {
            continue;
        }
        let below = folder.join(name);
        if below.symlink_metadata().is_ok_and(|data| data.is_dir()) {
            search_below(&below, rest, deep - 1, found);
        }
    }
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_MATCHES);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.into_iter()
}

fn matches_wildcard(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
                && (!name.starts_with('.') || before.starts_with('.'))
        }
        None => name == pattern,
    }
}
