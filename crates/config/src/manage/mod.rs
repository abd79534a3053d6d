//! Changes of config files: add, remove, enable, disable, import and export servers, and store
//! tokens.
//!
//! Every change holds the lock of `WHARF_HOME` (decision 0002): it reads the file, edits its text
//! and replaces the whole file. Only Wharf's own files are changed, except by `export`, for which
//! the caller names another program.

mod add;
mod error;
mod literal_secrets;
mod native;
mod portable;
mod remove;
mod switch;
mod token;
mod transfer;

use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, LoadOptions, load};
use crate::discover::{project_folders, repository_root};
use crate::document::Notation;
use crate::edit::{self, Change};
use crate::env::Env;
use crate::real_path::real_path;
use crate::server::Definition;
use crate::source::Level;
use crate::store::{self, WriteLock};
use crate::trust::{TrustStore, TrustSubject};

pub use add::{AddRequest, add, entry_from_json};
pub use error::ManageError;
pub use literal_secrets::LiteralSecret;
pub(crate) use native::pairs;
pub(crate) use portable::PortableDefinition;
pub use remove::remove;
pub use switch::{Switch, switch};
pub use token::{has_entry, set_token};
pub use transfer::{
    SkipReason, SkippedServer, Transfer, TransferNote, TransferRequest, export, export_targets,
    import,
};

/// Which one of Wharf's own files is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// The project's file.
    Project,
    /// The user file.
    User,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSummary {
    /// The server.
    pub name: String,
    /// The changed file, if any.
    pub path: Option<PathBuf>,
    /// A sentence that describes the change.
    pub message: String,
}

/// Returns the project folder: the root of the repository, otherwise the outermost folder that
/// counts as the project. The home folder is never a project.
pub fn project_folder(env: &Env) -> Option<PathBuf> {
    let folders = project_folders(env);
    let root = repository_root(&env.cwd);
    let root = root.filter(|root| folders.iter().any(|folder| **folder == *root));
    root.or_else(|| folders.last().map(|folder| folder.as_ref().clone()))
}

/// Returns the default scope: the project, if there is one.
pub fn default_scope(env: &Env) -> ConfigScope {
    if project_folder(env).is_some() { ConfigScope::Project } else { ConfigScope::User }
}

/// Returns Wharf's own file of a scope.
pub fn native_file(env: &Env, scope: ConfigScope) -> Result<PathBuf, ManageError> {
    match scope {
        ConfigScope::Project => {
            let folder = project_folder(env).ok_or(ManageError::NoProject)?;
            let path = folder.join(".wharf").join("mcp.json");
            ensure_inside(&folder, &path)?;
            Ok(path)
        }
        ConfigScope::User => Ok(env.wharf_home().ok_or(ManageError::NoHome)?.join("mcp.json")),
    }
}

/// Fails if a symbolic link in a project's path leads out of the project: an untrusted project
/// could otherwise redirect a write to a file of the person. Other links are followed.
fn ensure_inside(folder: &Path, path: &Path) -> Result<(), ManageError> {
    let outside = |path: &Path| Err(ManageError::OutsideProject { path: path.to_owned() });
    let Ok(real_folder) = real_path(folder) else { return outside(folder) };
    for part in path.ancestors().take_while(|part| *part != folder) {
        let is_link = part.symlink_metadata().is_ok_and(|about| about.is_symlink());
        let leads_inside = || real_path(part).is_ok_and(|real| real.starts_with(&real_folder));
        if is_link && !leads_inside() {
            return outside(part);
        }
    }
    Ok(())
}

/// Fails if a symbolic link leads from a project definition's file out of its project.
fn ensure_in_project(definition: &Definition) -> Result<(), ManageError> {
    match definition.source.level {
        Level::Project => ensure_inside(&definition.folder, &definition.source.path),
        Level::Program | Level::Env | Level::User | Level::Builtin => Ok(()),
    }
}

/// Acquires the lock for changes of files.
pub fn lock(env: &Env) -> Result<WriteLock, ManageError> {
    let home = env.wharf_home().ok_or(ManageError::NoHome)?;
    Ok(WriteLock::acquire(&home.join("run"), store::LOCK_TIMEOUT)?)
}

/// Applies changes to a file. The caller holds the lock.
fn edit_file(path: &Path, changes: &[Change]) -> Result<(), ManageError> {
    let before = store::read(path)?.unwrap_or_default();
    let after = edit_text(path, &before, changes)?;
    if after != before {
        store::write(path, &after)?;
    }
    Ok(())
}

/// Applies changes to the text of a file and returns the new text.
fn edit_text(path: &Path, before: &str, changes: &[Change]) -> Result<String, ManageError> {
    let notation = crate::discover::notation_of(path);
    edit::apply(before, notation, changes)
        .map_err(|source| ManageError::Edit { path: path.to_owned(), source })
}

/// Accepts the entries that the person just wrote into the project's file.
fn trust_entries(env: &Env, path: &Path, names: &[&str]) -> Result<(), ManageError> {
    let catalog = load_for_editing(env, LoadOptions::default())?;
    let (mut trust, problem) = TrustStore::load(env);
    if let Some(problem) = problem {
        return Err(ManageError::Problem(Box::new(problem)));
    }
    for server in &catalog.servers {
        let definition = &server.definition;
        if definition.source.path == path && names.contains(&definition.name.as_str()) {
            trust.accept(&TrustSubject::of(definition, env));
        }
    }
    Ok(trust.save()?)
}

/// Loads the catalog with every file that can be changed.
fn load_for_editing(env: &Env, options: LoadOptions) -> Result<Catalog, ManageError> {
    Ok(load(env, LoadOptions { for_editing: true, ..options })?)
}

/// Makes the error for an unknown server: a file of Wharf that cannot be read, otherwise "not
/// found".
fn not_found(env: &Env, name: &str, catalog: &Catalog) -> ManageError {
    let unreadable = |scope| {
        let path = native_file(env, scope).ok()?;
        let text = store::read(&path).map_err(ManageError::from);
        text.and_then(|text| edit_text(&path, &text.unwrap_or_default(), &[])).err()
    };
    let nearest = || catalog.nearest_name(name).map(str::to_owned);
    [ConfigScope::Project, ConfigScope::User]
        .into_iter()
        .find_map(unreadable)
        .unwrap_or_else(|| ManageError::NotFound { name: name.to_owned(), nearest: nearest() })
}

/// Returns the path of keys to a server in Wharf's own files.
fn native_keys(name: &str) -> Vec<String> {
    vec!["mcpServers".to_owned(), name.to_owned()]
}

/// Parses the entry of a server in the text of one of Wharf's own files.
fn native_entry(text: &str, name: &str) -> Option<crate::document::Node> {
    let root = crate::document::parse(text, Notation::Json).ok()?.root;
    root.pointer(&["mcpServers", name]).cloned()
}
