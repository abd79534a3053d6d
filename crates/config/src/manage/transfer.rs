//! Import and export: copies servers from and to the files of other programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::catalog::{Catalog, DefinitionState, LoadOptions, Server, load};
use crate::credentials::Credentials;
use crate::discover::{self, notation_of, paths};
use crate::document;
use crate::edit::{self, Change, JsonValue};
use crate::env::Env;
use crate::formats::{self, ExportStyle, FileShape, Program, braced_variable};
use crate::problem::Problem;
use crate::server::Definition;
use crate::source::{FilePrecedence, Level};
use crate::store::{self, WriteLock};

use super::add::{bearer, remove_credential};
use super::literal_secrets::{LiteralSecret, TakenToken, literal_secrets, take_token};
use super::portable::translate;
use super::{
    ConfigScope, ManageError, edit_text, ensure_inside, lock, native, native_file, project_folder,
    trust_entries,
};

/// What to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferRequest {
    /// The other program's short name; for an import also a file.
    pub program: String,
    /// The servers to copy; empty means all.
    pub names: Vec<String>,
    /// The scope of the file to write: Wharf's for an import, the other program's for an export.
    pub scope: ConfigScope,
    /// Whether entries of the same name are replaced.
    pub replace: bool,
    /// Only report what would change.
    pub dry_run: bool,
    /// Whether an import moves literal tokens to the credential store.
    pub store_tokens: bool,
    /// How to load the catalog.
    pub options: LoadOptions,
}

/// The result of an import or export, or of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// The file.
    #[serde(serialize_with = "crate::source::serialize_path")]
    pub path: PathBuf,
    /// The backup of the file before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// New entries.
    pub added: Vec<String>,
    /// Entries that were replaced.
    pub changed: Vec<String>,
    /// Entries that the file already has with the same content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<String>,
    /// Servers that were not copied.
    pub skipped: Vec<SkippedServer>,
    /// Fields of copied servers that could not be copied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<TransferNote>,
    /// Literal secrets in the copied entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<LiteralSecret>,
    /// Servers whose token was moved to the credential store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<String>,
    /// The diff of the text, with secrets redacted.
    pub diff: String,
}

/// A server that was not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedServer {
    /// The server.
    pub name: String,
    /// Why not.
    #[serde(serialize_with = "serialize_reason")]
    pub why: SkipReason,
}

/// Why a server was not copied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// It comes from a project, and the person has not accepted it.
    #[error("it is not trusted")]
    Untrusted,
    /// Another entry has its name and must not be replaced.
    #[error("it exists there")]
    Exists,
    /// Another reason, in words.
    #[error("{0}")]
    Other(String),
}

impl From<String> for SkipReason {
    fn from(words: String) -> Self {
        Self::Other(words)
    }
}

fn serialize_reason<S: serde::Serializer>(
    why: &SkipReason,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(why)
}

/// A field that was not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TransferNote {
    /// The server.
    pub name: String,
    /// A sentence about the field.
    pub text: String,
}

/// Imports servers of another program, or of a file, into one of Wharf's own files.
pub fn import(env: &Env, request: &TransferRequest) -> Result<Transfer, ManageError> {
    let catalog = load_without_run_trust(env, request)?;
    let found = definitions_to_import(env, request, &catalog)?;
    let mut batch =
        TransferBatch::new(env, native_file(env, request.scope)?, &["mcpServers"], request)?;
    let mut seen = BTreeSet::new();
    for (definition, is_trusted) in found {
        let name = definition.name.as_str();
        if !batch.includes(name) || seen.contains(name) {
            continue;
        }
        seen.insert(name.to_owned());
        let mut taken = None;
        let entry = if is_trusted {
            let name = name.parse::<crate::NewServerName>();
            name.map_err(|error| SkipReason::Other(error.to_string())).and_then(|_| {
                let mut portable = translate(&definition, env, braced_variable)?;
                if request.store_tokens {
                    taken = take_token(&mut portable);
                }
                check_literal_values(&portable.env, env)?;
                check_literal_values(&portable.headers, env)?;
                let mut entry = native::entry(&portable);
                if taken.is_some() {
                    entry.set("auth", bearer("new"));
                }
                Ok(entry)
            })
        } else {
            Err(SkipReason::Untrusted)
        };
        if batch.put(name, entry) {
            batch.note_secrets(&definition, env, taken);
        }
    }
    batch.skip_missing(&seen);
    let transfer = batch.finish(env)?;
    if request.scope == ConfigScope::Project && !request.dry_run {
        let names: Vec<&str> =
            transfer.added.iter().chain(&transfer.changed).map(String::as_str).collect();
        trust_entries(env, &transfer.path, &names)?;
    }
    Ok(transfer)
}

/// Exports the servers that Wharf would connect to another program's file.
pub fn export(env: &Env, request: &TransferRequest) -> Result<Transfer, ManageError> {
    let catalog = load_without_run_trust(env, request)?;
    let unknown = || unknown_program(&request.program, export_targets().map(|(id, _)| id));
    let program = formats::program_by_name(&request.program).ok_or_else(unknown)?;
    let style = program.export.ok_or_else(unknown)?;
    let path = target_file(env, program, style, request.scope)?;
    let mut batch = TransferBatch::new(env, path, style.keys, request)?;
    let mut seen = BTreeSet::new();
    for server in catalog.winners() {
        let name = server.definition.name.as_str();
        if !batch.includes(name) {
            continue;
        }
        seen.insert(name.to_owned());
        // Built-in defaults are exported only by name.
        if server.definition.source.level == Level::Builtin && request.names.is_empty() {
            continue;
        }
        let entry = match server.state {
            _ if server.definition.source.path == batch.path => {
                Err("it is there already".to_owned().into())
            }
            DefinitionState::Enabled | DefinitionState::Native => {
                exported(server, env, style).map_err(SkipReason::from)
            }
            DefinitionState::Untrusted => Err(SkipReason::Untrusted),
            DefinitionState::Duplicate => {
                Err("the same server is there under another name".to_owned().into())
            }
            // `winners` does not return shadowed definitions.
            DefinitionState::Shadowed => continue,
            DefinitionState::Disabled => Err("it is disabled".to_owned().into()),
            DefinitionState::Invalid => Err("it is invalid".to_owned().into()),
        };
        if batch.put(name, entry) {
            batch.note_losses(server, style);
            batch.note_secrets(&server.definition, env, None);
        }
    }
    // Other programs cannot read Wharf's credential store.
    batch.secrets.iter_mut().for_each(|secret| secret.can_be_stored = false);
    batch.skip_missing(&seen);
    batch.finish(env)
}

/// Lists the programs to which servers can be exported, with short name and display name.
pub fn export_targets() -> impl Iterator<Item = (&'static str, &'static str)> {
    formats::PROGRAMS
        .iter()
        .filter(|program| program.export.is_some())
        .map(|program| (program.id, program.name))
}

/// Loads the catalog without trust for one run, because a copy outlives the run.
fn load_without_run_trust(env: &Env, request: &TransferRequest) -> Result<Catalog, ManageError> {
    Ok(load(env, LoadOptions { trust_project: false, ..request.options })?)
}

fn exported(server: &Server, env: &Env, style: &ExportStyle) -> Result<JsonValue, String> {
    if server.definition.fields.auth.is_some() {
        return Err("its sign-in is in Wharf's credential store and is not copied".to_owned());
    }
    style.write_entry(&translate(&server.definition, env, style.variable)?)
}

/// Fails if a literal value would change its meaning: in Wharf's own files, `!` begins a command,
/// and the name of a set variable means its value.
fn check_literal_values(pairs: &[(String, String)], env: &Env) -> Result<(), String> {
    for (name, value) in pairs {
        if value.starts_with('!') || env.nonempty_variable(value).is_some() {
            return Err(format!(
                "the value of \"{name}\" would mean something else in Wharf's file; put it into a variable"
            ));
        }
    }
    Ok(())
}

/// Finds the file to write: the program's first file that exists, otherwise its first file.
fn target_file(
    env: &Env,
    program: &'static Program,
    style: &ExportStyle,
    scope: ConfigScope,
) -> Result<PathBuf, ManageError> {
    let (level, word) = match scope {
        ConfigScope::Project => (Level::Project, "project"),
        ConfigScope::User => (Level::User, "user"),
    };
    let none = || ManageError::NoSuchFile { program: program.name, scope: word };
    let folder = match scope {
        ConfigScope::Project => project_folder(env).ok_or(ManageError::NoProject)?,
        ConfigScope::User => env.cwd.clone(),
    };
    if let (ConfigScope::Project, Some(file)) = (scope, style.project_file) {
        let path = folder.join(file);
        ensure_inside(&folder, &path)?;
        return Ok(path);
    }
    let own = program.files.iter().filter(|file| {
        file.level == level
            && file.precedence != FilePrecedence::First
            && !matches!(file.shape, FileShape::Notice(_))
    });
    let candidates: Vec<PathBuf> =
        own.flat_map(|file| paths(&file.template, env, &folder)).collect();
    let there = candidates.iter().find(|path| path.exists());
    let path = there.or(candidates.first()).cloned().ok_or_else(none)?;
    if scope == ConfigScope::Project {
        ensure_inside(&folder, &path)?;
    }
    Ok(path)
}

/// Returns the definitions of a program or of a file, each with whether it is trusted.
fn definitions_to_import(
    env: &Env,
    request: &TransferRequest,
    catalog: &Catalog,
) -> Result<Vec<(Definition, bool)>, ManageError> {
    let known = formats::PROGRAMS.iter().filter(|program| !program.files.is_empty());
    let path = env.path_from(&request.program, &env.cwd);
    let program = formats::program_by_name(&request.program);
    let program = program.filter(|own| known.clone().any(|program| program.id == own.id));
    let is_known_file = catalog.files.iter().any(|file| file.path == path);
    if program.is_some() || is_known_file {
        let wanted = |server: &&Server| {
            let source = &server.definition.source;
            program.map_or(source.path == path, |program| source.provider == program.id)
        };
        let found = catalog.servers.iter().filter(wanted);
        return Ok(found.map(|own| (own.definition.clone(), own.trust.allows_use())).collect());
    }
    // The file belongs to no known program. The person named it, so it is trusted.
    match discover::read_file(env, &path) {
        Some(found) => match found.problems.into_iter().find(Problem::is_error) {
            Some(problem) => Err(ManageError::Problem(Box::new(problem))),
            None => Ok(found.definitions.into_iter().map(|own| (own, true)).collect()),
        },
        None if looks_like_path(&request.program) => Err(ManageError::MissingFile { path }),
        None => Err(unknown_program(&request.program, known.map(|program| program.id))),
    }
}

fn unknown_program(name: &str, known: impl Iterator<Item = &'static str>) -> ManageError {
    let known: Vec<&'static str> = known.collect();
    let nearest = crate::text::nearest(name, known.iter().copied());
    ManageError::UnknownProgram { name: name.to_owned(), nearest, known }
}

fn looks_like_path(text: &str) -> bool {
    text.contains(std::path::is_separator) || Path::new(text).extension().is_some()
}

/// Collects the changes to one file.
struct TransferBatch<'a> {
    _lock: Option<WriteLock>,
    /// The text of the file before the changes.
    before: String,
    path: PathBuf,
    keys: &'static [&'static str],
    request: &'a TransferRequest,
    existing: Vec<(String, JsonValue)>,
    changes: Vec<Change>,
    added: Vec<String>,
    changed: Vec<String>,
    unchanged: Vec<String>,
    skipped: Vec<SkippedServer>,
    notes: Vec<TransferNote>,
    secrets: Vec<LiteralSecret>,
    /// Tokens for the credential store, each with its server and the index of its change.
    tokens: Vec<(String, usize, TakenToken)>,
}

impl<'a> TransferBatch<'a> {
    fn new(
        env: &Env,
        path: PathBuf,
        keys: &'static [&'static str],
        request: &'a TransferRequest,
    ) -> Result<Self, ManageError> {
        let lock = if request.dry_run { None } else { Some(lock(env)?) };
        let before = store::read(&path)?.unwrap_or_default();
        let root = document::parse(&before, notation_of(&path)).map_err(|error| {
            ManageError::Edit { path: path.clone(), source: edit::EditError::Syntax(error) }
        })?;
        let servers = root.root.pointer(keys).and_then(document::Node::as_map);
        let existing = servers.into_iter().flat_map(document::Map::iter);
        let existing = existing.map(|(key, node)| (key.text.clone(), JsonValue::from(node)));
        let existing = existing.collect();
        Ok(Self {
            _lock: lock,
            before,
            path,
            keys,
            request,
            existing,
            changes: Vec::new(),
            added: Vec::new(),
            changed: Vec::new(),
            unchanged: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            secrets: Vec::new(),
            tokens: Vec::new(),
        })
    }

    fn includes(&self, name: &str) -> bool {
        self.request.names.is_empty() || self.request.names.iter().any(|wanted| wanted == name)
    }

    /// Adds the change for a server, or the reason to skip it; returns whether it was added.
    fn put(&mut self, name: &str, entry: Result<JsonValue, SkipReason>) -> bool {
        let exists = self.existing.iter().any(|(own, _)| own == name);
        let entry = match entry {
            Ok(value) if exists && self.has_same_entry(name, &value) => {
                self.unchanged.push(name.to_owned());
                return false;
            }
            Ok(_) if exists && !self.request.replace => Err(SkipReason::Exists),
            other => other,
        };
        match entry {
            Ok(value) => {
                let path = self.keys.iter().copied().chain([name]).map(str::to_owned).collect();
                self.changes.push(Change::Set { path, value });
                let list = if exists { &mut self.changed } else { &mut self.added };
                list.push(name.to_owned());
                true
            }
            Err(why) => {
                self.skipped.push(SkippedServer { name: name.to_owned(), why });
                false
            }
        }
    }

    /// Tells whether the file has the same entry already.
    fn has_same_entry(&self, name: &str, entry: &JsonValue) -> bool {
        self.existing.iter().any(|(own, value)| own == name && value == entry)
    }

    /// Adds notes about tool filters that the other program does not support.
    fn note_losses(&mut self, server: &Server, style: &ExportStyle) {
        let policy = &server.definition.fields.policy;
        let lost = [
            (policy.include_tools.is_some() && style.filters[0].is_none(), "includeTools"),
            (!policy.exclude_tools.is_empty() && style.filters[1].is_none(), "excludeTools"),
        ];
        for (_, field) in lost.into_iter().filter(|(is_lost, _)| *is_lost) {
            let name = server.definition.name.as_str().to_owned();
            let text = format!("\"{field}\" is not copied: all its tools will be offered there");
            self.notes.push(TransferNote { name, text });
        }
    }

    /// Adds the literal secrets of the server that was added last.
    fn note_secrets(&mut self, definition: &Definition, env: &Env, taken: Option<TakenToken>) {
        let is_taken = taken.is_some();
        let literal = literal_secrets(definition, env).into_iter();
        self.secrets.extend(literal.filter(|secret| !(is_taken && secret.can_be_stored)));
        if let Some(token) = taken {
            let name = definition.name.as_str().to_owned();
            self.tokens.push((name, self.changes.len() - 1, token));
        }
    }

    /// Stores tokens and sets the references in the entries. The caller holds the lock.
    fn store_tokens(&mut self, env: &Env) -> Result<Vec<String>, ManageError> {
        let mut ids = Vec::new();
        if self.tokens.is_empty() {
            return Ok(ids);
        }
        let mut credentials = Credentials::load(env)?;
        for (_, at, taken) in &self.tokens {
            let id = credentials.add_bearer(&taken.resource, &taken.token)?;
            if let Some(Change::Set { value, .. }) = self.changes.get_mut(*at) {
                value.set("auth", bearer(&id));
            }
            ids.push(id);
        }
        credentials.save()?;
        Ok(ids)
    }

    fn skip_missing(&mut self, seen: &BTreeSet<String>) {
        for name in self.request.names.iter().filter(|name| !seen.contains(*name)) {
            let why = SkipReason::Other("no such server".to_owned());
            self.skipped.push(SkippedServer { name: name.clone(), why });
        }
    }

    fn finish(mut self, env: &Env) -> Result<Transfer, ManageError> {
        // Tokens are stored first: an unused token is better than an entry with a missing token.
        let ids = if self.request.dry_run { Vec::new() } else { self.store_tokens(env)? };
        let stored = self.tokens.iter().map(|(name, ..)| name.clone()).collect();
        match self.write(stored) {
            Ok(transfer) => Ok(transfer),
            Err(error) => {
                for id in ids {
                    // If this fails, too, the first error is more useful.
                    drop(remove_credential(env, &id));
                }
                Err(error)
            }
        }
    }

    fn write(self, stored: Vec<String>) -> Result<Transfer, ManageError> {
        let after = edit_text(&self.path, &self.before, &self.changes)?;
        let label = self.path.to_string_lossy();
        let diff = edit::diff(&self.before, &after, notation_of(&self.path), &label);
        let mut backup = None;
        if !self.request.dry_run && after != self.before {
            backup = store::back_up(&self.path)?;
            store::write(&self.path, &after)?;
        }
        Ok(Transfer {
            path: self.path,
            backup,
            added: self.added,
            changed: self.changed,
            unchanged: self.unchanged,
            skipped: self.skipped,
            notes: self.notes,
            secrets: self.secrets,
            stored,
            diff,
        })
    }
}
