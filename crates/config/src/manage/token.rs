//! Stores or replaces the token of a server in one of Wharf's own files; the rest of its entry
//! stays unchanged.

use std::path::Path;

use crate::catalog::{DefinitionState, LoadOptions, Server};
use crate::credentials::Credentials;
use crate::edit::Change;
use crate::env::Env;
use crate::named_files::NamedFiles;
use crate::secret::Secret;
use crate::server::Transport;
use crate::source::Level;
use crate::spec;
use crate::store;

use super::add::{bearer, credential_of, resource_of};
use super::{
    ChangeSummary, ConfigScope, ManageError, edit_file, ensure_in_project, load_for_editing, lock,
    native_entry, native_file, native_keys, trust_entries,
};

/// Stores a token for a server, or replaces the one it has.
///
/// `Ok(None)` means that no file defines the server. Fails for an entry of another program's file
/// and for an untrusted entry of a project.
pub fn set_token(
    env: &Env,
    name: &str,
    scope: Option<ConfigScope>,
    token: &Secret,
) -> Result<Option<ChangeSummary>, ManageError> {
    let catalog = load_for_editing(env, LoadOptions::default())?;
    let paths: Vec<_> = match scope {
        Some(scope) => vec![native_file(env, scope)?],
        None => [ConfigScope::Project, ConfigScope::User]
            .into_iter()
            .filter_map(|scope| native_file(env, scope).ok())
            .collect(),
    };
    let is_own = |server: &&Server| paths.contains(&server.definition.source.path);
    let Some(server) = catalog.candidates(name).find(is_own) else {
        return match catalog.winner(name).filter(|_| scope.is_none()) {
            Some(other) if other.definition.source.level != Level::Builtin => {
                Err(ManageError::OtherProgramToken {
                    name: name.to_owned(),
                    path: other.definition.source.path.clone(),
                    provider: other.definition.source.provider_name,
                    provider_id: other.definition.source.provider,
                })
            }
            _ => Ok(None),
        };
    };
    if server.state == DefinitionState::Untrusted {
        return Err(ManageError::Untrusted { name: name.to_owned() });
    }
    let definition = &server.definition;
    ensure_in_project(definition)?;
    let resource = resource(server, env)?;
    let path = definition.source.path.clone();
    // Another process may be renewing the credential; its lock comes before that of the files.
    let locked = reference(&path, name)?;
    let _renewal = locked.as_deref().map(|id| Credentials::lock(env, id)).transpose()?;
    let _lock = lock(env)?;
    let known = reference(&path, name)?;
    let mut credentials = Credentials::load(env)?;
    let has_one = known.as_deref().is_some_and(|id| credentials.get(id).is_some());
    let id = credentials.set_bearer(known.as_deref(), &resource, token)?;
    credentials.save()?;
    if known.is_none() {
        let mut keys = native_keys(name);
        keys.push("auth".to_owned());
        let auth = bearer(&id);
        edit_file(&path, &[Change::Set { path: keys, value: auth }])?;
        if definition.source.level == Level::Project {
            trust_entries(env, &path, &[name])?;
        }
    }
    let verb = if has_one { "Replaced" } else { "Stored" };
    let message = format!("{verb} the token of server \"{name}\"");
    Ok(Some(ChangeSummary { name: name.to_owned(), path: Some(path), message }))
}

/// Returns the reference to a credential in an entry.
fn reference(path: &Path, name: &str) -> Result<Option<String>, ManageError> {
    let text = store::read(path)?.unwrap_or_default();
    let entry = native_entry(&text, name);
    Ok(entry.as_ref().and_then(credential_of).map(str::to_owned))
}

/// Tells whether any file defines a server of this name.
pub fn has_entry(env: &Env, name: &str) -> Result<bool, ManageError> {
    let catalog = load_for_editing(env, LoadOptions::default())?;
    let mut candidates = catalog.candidates(name);
    Ok(candidates.any(|server| server.definition.source.level != Level::Builtin))
}

/// Returns what the token is bound to: an address, or the launch identity of a program.
fn resource(server: &Server, env: &Env) -> Result<String, ManageError> {
    let definition = &server.definition;
    // A disabled server was not expanded.
    let closer = server
        .spec
        .is_none()
        .then(|| spec::build_spec(definition, env, &NamedFiles::default()).spec)
        .flatten();
    let spec = server.spec.as_deref().or(closer.as_ref());
    match spec.map(|spec| &spec.transport) {
        Some(Transport::Stdio(_)) if definition.source.level == Level::Project => {
            Err(ManageError::ProjectProgram { name: definition.name.as_str().to_owned() })
        }
        Some(Transport::Stdio(launch)) => Ok(launch.identity()),
        Some(_) => resource_of(spec),
        None => Err(ManageError::Invalid {
            reason: "its entry cannot be used".to_owned(),
            hint: server.problems.iter().find_map(|problem| problem.hint.clone()),
        }),
    }
}
