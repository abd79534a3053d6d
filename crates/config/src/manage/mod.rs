//! What a person does to their servers: add, remove, switch, copy from and to other programs.
//!
//! Every change is made under the one lock: read, edit as text, write as a whole. Only Wharf's own
//! files are changed, except by `export`, which asks for another program's file by name.

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
use crate::server::Definition;
use crate::source::Level;
use crate::store::{self, WriteLock};
use crate::trust::{TrustStore, TrustSubject};

pub use add::{AddRequest, add, entry_from_json};
pub use error::ManageError;
pub use literal_secrets::LiteralSecret;
pub(crate) use native::pairs;
pub(crate) use portable::Portable;
pub use remove::remove;
pub use switch::{Switch, switch};
pub use token::{has_entry, set_token};
pub use transfer::{
    SkipReason, SkippedServer, Transfer, TransferNote, TransferRequest, export, export_targets,
    import,
};

/// Which of Wharf's own files is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// The project's.
    Project,
    /// The person's.
    User,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSummary {
    /// The server.
    pub name: String,
    /// The file that was changed, if one was.
    pub path: Option<PathBuf>,
    /// What happened, in a sentence.
    pub message: String,
}

/// Returns the folder in which a project's servers are kept: the repository's root, else the
/// working folder. There is none in the home folder, which is never a project.
pub fn project_folder(env: &Env) -> Option<PathBuf> {
    let folders = project_folders(env);
    let root = repository_root(&env.cwd);
    let root = root.filter(|root| folders.iter().any(|folder| **folder == *root));
    root.or_else(|| folders.last().map(|folder| folder.as_ref().clone()))
}

/// Returns the scope for somebody who named none: the project, where there is one.
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

/// Links are followed, but those of a project came with it: one that leads out of it could make
/// the person write to a file of their own.
fn ensure_inside(folder: &Path, path: &Path) -> Result<(), ManageError> {
    let Ok(real_folder) = folder.canonicalize() else { return Ok(()) };
    for part in path.ancestors().take_while(|part| *part != folder) {
        let is_link = part.symlink_metadata().is_ok_and(|about| about.is_symlink());
        let leads_inside = || part.canonicalize().is_ok_and(|real| real.starts_with(&real_folder));
        if is_link && !leads_inside() {
            return Err(ManageError::OutsideProject { path: part.to_owned() });
        }
    }
    Ok(())
}

/// The same for the file that a definition was found in.
fn ensure_in_project(definition: &Definition) -> Result<(), ManageError> {
    match definition.source.level {
        Level::Project => ensure_inside(&definition.folder, &definition.source.path),
        Level::Env | Level::User | Level::Builtin => Ok(()),
    }
}

/// Takes the lock under which files are changed.
pub fn lock(env: &Env) -> Result<WriteLock, ManageError> {
    let home = env.wharf_home().ok_or(ManageError::NoHome)?;
    Ok(WriteLock::acquire(&home.join("run"), store::LOCK_TIMEOUT)?)
}

/// Reads a file, makes changes in its text and writes it. The caller holds the lock.
fn edit_file(path: &Path, changes: &[Change]) -> Result<(), ManageError> {
    let before = store::read(path)?.unwrap_or_default();
    let after = edit_text(path, &before, changes)?;
    if after != before {
        store::write(path, &after)?;
    }
    Ok(())
}

/// Returns the text of a file with changes made in it.
fn edit_text(path: &Path, before: &str, changes: &[Change]) -> Result<String, ManageError> {
    let notation = crate::discover::notation_of(path);
    edit::apply(before, notation, changes)
        .map_err(|source| ManageError::Edit { path: path.to_owned(), source })
}

/// Agrees to what the person has just put into the project's file themselves.
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

/// Looks at everything that can be changed, as it is now.
fn load_for_editing(env: &Env, options: LoadOptions) -> Result<Catalog, ManageError> {
    Ok(load(env, LoadOptions { for_editing: true, ..options })?)
}

/// Says that there is no such server; a file of our own that cannot be read may have it, though.
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

/// The keys that lead to a server in one of Wharf's own files.
fn native_keys(name: &str) -> Vec<String> {
    vec!["mcpServers".to_owned(), name.to_owned()]
}

/// Reads the entry of a server from the text of one of Wharf's own files.
fn native_entry(text: &str, name: &str) -> Option<crate::document::Node> {
    let root = crate::document::parse(text, Notation::Json).ok()?.root;
    root.pointer(&["mcpServers", name]).cloned()
}
