//! Removes a server from one of Wharf's own files, together with its token and its trust.

use crate::catalog::{Catalog, LoadOptions, Server, load};
use crate::edit::Change;
use crate::env::Env;
use crate::source::Level;
use crate::store;
use crate::trust::TrustStore;

use super::add::{credential_of, remove_credential};
use super::{
    ChangeSummary, ConfigScope, ManageError, edit_file, ensure_in_project, load_for_editing, lock,
    native_entry, native_file, native_keys, not_found,
};

/// Removes a server. Without a scope, the first definition in Wharf's own files is removed.
pub fn remove(
    env: &Env,
    name: &str,
    scope: Option<ConfigScope>,
    options: LoadOptions,
) -> Result<ChangeSummary, ManageError> {
    let _lock = lock(env)?;
    let catalog = load_for_editing(env, options)?;
    let wanted = |level: Level| match scope {
        None => true,
        Some(ConfigScope::Project) => level == Level::Project,
        Some(ConfigScope::User) => level == Level::User,
    };
    let own = catalog.candidates(name).find(|own| {
        own.definition.source.provider == "wharf" && wanted(own.definition.source.level)
    });
    let Some(own) = own else {
        // `WHARF_MCP_SERVERS` may define it; a load for editing ignores the variable.
        let current = load(env, options)?;
        let other = current.winner(name).or_else(|| catalog.winner(name));
        return Err(match other.map(|other| &other.definition.source) {
            Some(source) if source.provider != "wharf" => ManageError::OtherProgram {
                name: name.to_owned(),
                path: source.path.clone(),
                provider: source.provider_name,
            },
            Some(source) => {
                ManageError::OtherScope { name: name.to_owned(), scope: source.level.word() }
            }
            None => not_found(env, name, &catalog),
        });
    };
    ensure_in_project(&own.definition)?;
    let path = own.definition.source.path.clone();
    let text = store::read(&path)?.unwrap_or_default();
    let credential =
        native_entry(&text, name).and_then(|entry| credential_of(&entry).map(str::to_owned));
    edit_file(&path, &[Change::Remove { path: native_keys(name) }])?;
    if let Some(credential) = credential {
        remove_credential(env, &credential)?;
    }
    if own.definition.source.level == Level::Project {
        revoke_trust(env, name, &catalog)?;
    }
    let mut message = format!("Removed server \"{name}\" from {}", env.display_path(&path));
    let below = catalog.candidates(name).find(|other| !std::ptr::eq(*other, own));
    match below {
        Some(next) => {
            let next = &next.definition.source;
            let from = env.display_path(&next.path);
            let program = next.provider_name;
            message = format!("{message}; the one in {from} ({program}) is used now");
        }
        None => remove_switches(env, name)?,
    }
    Ok(ChangeSummary { name: name.to_owned(), path: Some(path), message })
}

/// Revokes the trust in a removed server, unless another file of the project defines its name.
fn revoke_trust(env: &Env, name: &str, catalog: &Catalog) -> Result<(), ManageError> {
    let in_project = |own: &&Server| own.definition.source.level == Level::Project;
    let (mut trust, problem) = TrustStore::load(env);
    let is_last = catalog.candidates(name).filter(in_project).count() == 1;
    if problem.is_none() && is_last && trust.revoke(name, &catalog.project_folders) {
        trust.save()?;
    }
    Ok(())
}

/// Removes a name that is no longer defined from the switch lists of the user file.
fn remove_switches(env: &Env, name: &str) -> Result<(), ManageError> {
    let path = native_file(env, ConfigScope::User)?;
    let Some(text) = store::read(&path)? else { return Ok(()) };
    let lists = ["disabledServers", "enabledServers"].into_iter();
    let named = lists.filter(|list| text.contains(list));
    let changes: Vec<Change> = named
        .map(|list| Change::Exclude { path: vec![list.to_owned()], item: name.to_owned() })
        .collect();
    edit_file(&path, &changes)
}
