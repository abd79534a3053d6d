//! Adds a server to one of Wharf's own files.

use crate::catalog::{DefinitionState, LoadOptions, load};
use crate::credentials::Credentials;
use crate::document::{Node, SyntaxError};
use crate::edit::{Change, JsonValue};
use crate::env::Env;
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::{NewServerName, ServerSpec, Transport};
use crate::spec::{self, SpecResult};
use crate::store;

use super::{
    ChangeSummary, ConfigScope, ManageError, edit_file, lock, native_entry, native_file,
    native_keys, trust_entries,
};

/// A server to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddRequest {
    /// Its name.
    pub name: String,
    /// The entry, with the fields of Wharf's own files.
    pub entry: JsonValue,
    /// A token for the credential store.
    pub token: Option<Secret>,
    /// The file to change.
    pub scope: ConfigScope,
    /// Whether an entry of this name is replaced.
    pub replace: bool,
}

/// Adds or replaces a server. A server that is added to a project is trusted.
pub fn add(env: &Env, request: AddRequest) -> Result<ChangeSummary, ManageError> {
    let AddRequest { name, mut entry, token, scope, replace } = request;
    let name: NewServerName = name.parse()?;
    let name = name.as_str();
    let spec = check(env, name, &entry)?;
    let path = native_file(env, scope)?;
    let _lock = lock(env)?;
    let before = store::read(&path)?.unwrap_or_default();
    let existing = native_entry(&before, name);
    if existing.is_some() && !replace {
        return Err(ManageError::AlreadyExists { name: name.to_owned(), path });
    }
    // The token is stored first: an unused token is better than an entry with a missing token.
    let mut stored = None;
    if let Some(token) = token {
        let resource = resource_of(spec.as_ref())?;
        let mut credentials = Credentials::load(env)?;
        let id = credentials.add_bearer(&resource, &token)?;
        credentials.save()?;
        entry.set("auth", bearer(&id));
        stored = Some(id);
    }
    let set = Change::Set { path: native_keys(name), value: entry };
    if let Err(error) = edit_file(&path, &[set]) {
        if let Some(id) = stored {
            // If this fails, too, the first error is more useful.
            drop(remove_credential(env, &id));
        }
        return Err(error);
    }
    if let Some(old) = existing.as_ref().and_then(credential_of) {
        remove_credential(env, old)?;
    }
    if scope == ConfigScope::Project {
        trust_entries(env, &path, &[name])?;
    }
    let verb = if existing.is_some() { "Replaced" } else { "Added" };
    let message = format!("{verb} server \"{name}\" in {}", env.display_path(&path));
    Ok(ChangeSummary { name: name.to_owned(), path: Some(path), message })
}

/// Reads the entry as it will be read from the file, and fails if it is not valid.
fn check(env: &Env, name: &str, entry: &JsonValue) -> Result<Option<ServerSpec>, ManageError> {
    let invalid = |reason: &str, hint| ManageError::Invalid { reason: reason.to_owned(), hint };
    if !entry.is_object() {
        return Err(invalid("the entry must be a JSON object", None));
    }
    let servers = JsonValue::object([(name, entry.clone())]);
    let alone = JsonValue::object([("mcpServers", servers)]).to_string();
    let alone = env.clone().with_variable("WHARF_MCP_SERVERS", alone);
    let catalog = load(&alone, LoadOptions::default())?;
    let Some(server) = catalog.servers.into_iter().next() else { return Ok(None) };
    let closer = match server.state {
        DefinitionState::Invalid => SpecResult::default(),
        // A disabled entry was not expanded, but must be valid when it is switched on.
        DefinitionState::Disabled => {
            spec::build_spec(&server.definition, env, &NamedFiles::default())
        }
        _ => return Ok(server.spec.map(|spec| *spec)),
    };
    match server.problems.iter().chain(&closer.problems).find(|problem| problem.is_error()) {
        Some(Problem { message, hint, .. }) => Err(invalid(message, hint.clone())),
        None if server.state == DefinitionState::Invalid => Err(invalid("it cannot be used", None)),
        None => Ok(closer.spec),
    }
}

/// Returns the address to which a token of this server is bound.
pub(super) fn resource_of(spec: Option<&ServerSpec>) -> Result<String, ManageError> {
    match spec.map(|spec| &spec.transport) {
        Some(Transport::Http(endpoint) | Transport::Sse(endpoint)) => {
            endpoint.url.resource().ok_or_else(|| ManageError::Invalid {
                reason: "a placeholder in \"url\" has no value".to_owned(),
                hint: Some("a token is bound to one address: set the variable first".to_owned()),
            })
        }
        _ => Err(ManageError::TokenWithoutUrl),
    }
}

/// Makes the `auth` of an entry whose token is in the credential store.
pub(super) fn bearer(id: &str) -> JsonValue {
    JsonValue::object([("type", "bearer"), ("credentialId", id)])
}

/// Returns the reference to a stored token in an entry.
pub(super) fn credential_of(entry: &Node) -> Option<&str> {
    entry.pointer(&["auth", "credentialId"])?.as_str()
}

/// Removes a credential from the store. The caller holds the lock.
pub(super) fn remove_credential(env: &Env, id: &str) -> Result<(), ManageError> {
    let mut credentials = Credentials::load(env)?;
    if credentials.remove(id) {
        credentials.save()?;
    }
    Ok(())
}

/// Parses an entry from JSON, which may have comments.
pub fn entry_from_json(text: &str) -> Result<JsonValue, ManageError> {
    text.parse().map_err(|error: SyntaxError| ManageError::Invalid {
        reason: format!("{error} (line {}, column {})", error.line, error.column),
        hint: Some(
            "give a JSON object such as {\"command\": \"npx\", \"args\": [\"…\"]}".to_owned(),
        ),
    })
}
