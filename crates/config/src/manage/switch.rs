//! Switches a server on or off.
//!
//! A server of Wharf's own files is switched in its entry. A server of another program's file is
//! switched by a list in Wharf's user file: other programs' files are not changed.

use std::path::PathBuf;

use crate::catalog::{LoadOptions, Server, load};
use crate::document::{Notation, parse};
use crate::edit::Change;
use crate::env::Env;
use crate::source::Level;
use crate::store;

use super::{
    ChangeSummary, ConfigScope, ManageError, edit_file, ensure_in_project, load_for_editing, lock,
    native_entry, native_file, native_keys, not_found, trust_entries,
};

/// Whether to switch on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Switch on: the server may be connected.
    On,
    /// Switch off: the server is never connected.
    Off,
}

/// Switches a server on or off.
pub fn switch(
    env: &Env,
    name: &str,
    to: Switch,
    options: LoadOptions,
) -> Result<ChangeSummary, ManageError> {
    let _lock = lock(env)?;
    // Trust for one run must not be saved.
    let options = LoadOptions { trust_project: false, ..options };
    // The winner is switched. If the name is not found, files that a variable or a setting excludes
    // are searched, too.
    let mut catalog = load(env, options)?;
    if catalog.candidates(name).next().is_none() {
        catalog = load_for_editing(env, options)?;
    }
    let lists = SwitchLists { path: native_file(env, ConfigScope::User)?, name };
    let named = catalog.winner(name).or_else(|| catalog.candidates(name).next());
    let Some(server) = named else {
        if to == Switch::On && lists.has("disabledServers")? {
            lists.change(&[lists.exclude("disabledServers")])?;
            let message = format!("\"{name}\" is no longer switched off, but no file defines it");
            return Ok(ChangeSummary { name: name.to_owned(), path: Some(lists.path), message });
        }
        return Err(not_found(env, name, &catalog));
    };
    let source = &server.definition.source;
    let is_own = source.provider == "wharf";
    let changed = match to {
        Switch::Off => switch_off(env, server, is_own, &lists)?,
        Switch::On => switch_on(env, server, is_own, &lists)?,
    };
    let word = match to {
        Switch::On => "enabled",
        Switch::Off => "disabled",
    };
    let message = match &changed {
        Some(path) => {
            format!("Server \"{name}\" is now {word} (recorded in {})", env.display_path(path))
        }
        None => format!("Server \"{name}\" is already {word}"),
    };
    Ok(ChangeSummary { name: name.to_owned(), path: changed, message })
}

fn switch_off(
    env: &Env,
    server: &Server,
    is_own: bool,
    lists: &SwitchLists<'_>,
) -> Result<Option<PathBuf>, ManageError> {
    if server.reason.is_some() && (is_own || lists.has("disabledServers")?) {
        return Ok(None);
    }
    if is_own {
        return switch_entry(env, server, Switch::Off).map(Some);
    }
    lists.change(&[lists.include("disabledServers"), lists.exclude("enabledServers")])?;
    Ok(Some(lists.path.clone()))
}

fn switch_on(
    env: &Env,
    server: &Server,
    is_own: bool,
    lists: &SwitchLists<'_>,
) -> Result<Option<PathBuf>, ManageError> {
    let mut changed = None;
    if lists.has("disabledServers")? {
        lists.change(&[lists.exclude("disabledServers")])?;
        changed = Some(lists.path.clone());
    }
    if server.definition.off.is_some() {
        if is_own {
            return switch_entry(env, server, Switch::On).map(Some);
        }
        if !lists.has("enabledServers")? {
            lists.change(&[lists.include("enabledServers")])?;
            changed = Some(lists.path.clone());
        }
    }
    Ok(changed)
}

/// Switches an entry of Wharf's own files with the keys that it already has, else with `enabled`.
fn switch_entry(env: &Env, server: &Server, to: Switch) -> Result<PathBuf, ManageError> {
    let definition = &server.definition;
    let name = definition.name.as_str();
    let path = &definition.source.path;
    ensure_in_project(definition)?;
    let text = store::read(path)?.unwrap_or_default();
    let entry = native_entry(&text, name);
    let has = |key: &str| entry.as_ref().is_some_and(|entry| entry.get(key).is_some());
    let (is_on, has_disabled) = (to == Switch::On, has("disabled"));
    let set = |key: &str, value: bool| {
        let mut path = native_keys(name);
        path.push(key.to_owned());
        Change::Set { path, value: value.into() }
    };
    let disabled = has_disabled.then(|| set("disabled", !is_on));
    // An entry with both keys is off if either says so.
    let enabled = (has("enabled") || !has_disabled).then(|| set("enabled", is_on));
    edit_file(path, &disabled.into_iter().chain(enabled).collect::<Vec<_>>())?;
    // The person changed it themselves, so a trusted entry stays trusted.
    if definition.source.level == Level::Project && server.trust.allows_use() {
        trust_entries(env, path, &[name])?;
    }
    Ok(path.clone())
}

/// The lists `disabledServers` and `enabledServers` of the user file.
struct SwitchLists<'a> {
    path: PathBuf,
    name: &'a str,
}

impl SwitchLists<'_> {
    fn has(&self, list: &str) -> Result<bool, ManageError> {
        let text = store::read(&self.path)?.unwrap_or_default();
        let root = parse(&text, Notation::Json).ok().map(|parsed| parsed.root);
        let names = root.as_ref().and_then(|root| root.get(list)?.as_list());
        Ok(names.unwrap_or_default().iter().any(|item| item.as_str() == Some(self.name)))
    }

    fn include(&self, list: &str) -> Change {
        Change::Include { path: vec![list.to_owned()], item: self.name.to_owned() }
    }

    fn exclude(&self, list: &str) -> Change {
        Change::Exclude { path: vec![list.to_owned()], item: self.name.to_owned() }
    }

    fn change(&self, changes: &[Change]) -> Result<(), ManageError> {
        edit_file(&self.path, changes)
    }
}
