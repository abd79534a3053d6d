//! The catalog: every definition that was found, its state, the winner of each name, and all
//! problems.
//!
//! No definition is dropped: shadowed, disabled, untrusted and invalid ones stay in the list.
//! `load` makes a catalog from files, `insert` adds the servers of the embedding program, and
//! `one_off` makes a catalog from an entry on the command line.

mod insert;
mod load;
mod one_off;
#[cfg(test)]
mod tests;
mod trusting;

use std::path::PathBuf;
use std::sync::Arc;

use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::{Definition, ServerName, ServerSpec, TransportKind};
use crate::settings::Settings;
use crate::source::Source;
use crate::spec::FieldUse;
use crate::trust::Trust;

pub use insert::PROGRAM;
pub use load::{DiscoveryError, LoadOptions, load, load_with_settings};
pub use one_off::{ONE_OFF, load_one_off};
pub use trusting::TrustReview;

/// All server definitions that apply in one working folder.
///
/// ```
/// use wharf_config::{Approval, Catalog, Env, Http, Stdio};
///
/// let env = Env::of_process();
/// let mut catalog = Catalog::new(&env);
/// catalog.insert("time", Stdio::new("uvx").arg("mcp-server-time").approval(Approval::Never));
/// catalog.insert("docs", Http::new("https://docs.example/mcp").bearer("token"));
/// catalog.settings = catalog.settings.with("tools.naming", "precise")?;
/// assert_eq!(catalog.winners().len(), 2);
/// # Ok::<(), wharf_config::settings::SettingError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    /// All definitions, in order of precedence.
    pub servers: Vec<Server>,
    /// Definitions that [`Catalog::keep_only`] removed: they exist, but this run does not use them.
    pub excluded: Vec<Server>,
    /// Problems of files and settings; those of one server are in [`Server::problems`].
    pub problems: Vec<Problem>,
    /// Every config file that exists, even if it defines no server.
    pub files: Vec<Arc<Source>>,
    /// The effective settings.
    pub settings: Settings,
    /// The folders that count as the project, nearest first.
    pub project_folders: Vec<PathBuf>,
    /// The project is trusted for this run, or the person trusts something in its folders.
    pub is_folder_trusted: bool,
    /// API keys of the Exa servers that the session replaces.
    pub exa_keys: Vec<Secret>,
    /// The session has its own web search, so Exa servers are not connected.
    native_web_search: bool,
    /// The folder of servers that the embedding program defines without one.
    working_folder: Arc<PathBuf>,
}

/// One definition and its state after merging.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The entry as written.
    pub definition: Definition,
    /// Its state.
    pub state: DefinitionState,
    /// Whether the person trusts it; only project definitions need trust.
    pub trust: Trust,
    /// Its transport, if its fields determine one.
    pub transport: Option<TransportKind>,
    /// The expanded definition, if it is enabled, a duplicate or native.
    pub spec: Option<Box<ServerSpec>>,
    /// Why it is disabled.
    pub reason: Option<String>,
    /// The source of the definition that shadows it.
    pub shadowed_by: Option<Arc<Source>>,
    /// The name of the server that it duplicates.
    pub duplicate_of: Option<ServerName>,
    /// Every placeholder in it.
    pub uses: Vec<FieldUse>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// The state of a definition after merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionState {
    /// It will be connected.
    Enabled,
    /// It is switched off in a file.
    Disabled,
    /// It comes from a project and the person has not accepted it.
    Untrusted,
    /// Its fields are incomplete or contradict each other.
    Invalid,
    /// Another definition wins its name.
    Shadowed,
    /// A server under another name has the same transport.
    Duplicate,
    /// The session provides the same function itself.
    Native,
}

impl DefinitionState {
    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
            Self::Invalid => "invalid",
            Self::Shadowed => "shadowed",
            Self::Duplicate => "duplicate",
            Self::Native => "native",
        }
    }
}

impl Catalog {
    /// Returns the winner of each name, sorted by name.
    pub fn winners(&self) -> Vec<&Server> {
        let mut winners: Vec<&Server> = self
            .servers
            .iter()
            .filter(|server| server.state != DefinitionState::Shadowed)
            .collect();
        winners.sort_by_cached_key(|server| sort_key(server));
        winners
    }

    /// Returns all definitions, sorted by name and then by precedence.
    pub fn all(&self) -> Vec<&Server> {
        let mut all: Vec<&Server> = self.servers.iter().collect();
        all.sort_by_cached_key(|server| sort_key(server));
        all
    }

    /// Returns the winner of a name.
    pub fn winner(&self, name: &str) -> Option<&Server> {
        let named = self.servers.iter().filter(|server| server.definition.name.as_str() == name);
        named.into_iter().find(|server| server.state != DefinitionState::Shadowed)
    }

    /// Returns all definitions of a name, in order of precedence.
    pub fn candidates<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Server> {
        self.servers.iter().filter(move |server| server.definition.name.as_str() == name)
    }

    /// Keeps the wanted definitions and moves all others to [`Catalog::excluded`].
    pub fn keep_only(&mut self, is_wanted: impl Fn(&Server) -> bool) {
        let (wanted, others) = std::mem::take(&mut self.servers).into_iter().partition(is_wanted);
        self.servers = wanted;
        self.excluded.extend::<Vec<Server>>(others);
    }

    /// Returns the most similar name, for a hint after a typing mistake.
    pub fn nearest_name(&self, name: &str) -> Option<&str> {
        let names = self.servers.iter().map(|server| server.definition.name.as_str());
        crate::text::nearest(name, names.filter(|own| *own != name))
    }
}

/// The code of the warning about a definition that hides one of the person.
pub(crate) const HIDES: &str = "hides";

fn sort_key(server: &Server) -> (String, String) {
    let name = server.definition.name.as_str();
    (name.to_lowercase(), name.to_owned())
}

impl Server {
    pub(crate) fn new(mut definition: Definition, trust: Trust) -> Self {
        let problems = std::mem::take(&mut definition.problems);
        Self {
            definition,
            state: DefinitionState::Enabled,
            trust,
            transport: None,
            spec: None,
            reason: None,
            shadowed_by: None,
            duplicate_of: None,
            uses: Vec::new(),
            problems,
        }
    }

    /// Makes a server whose name another definition wins.
    pub(crate) fn shadowed(definition: Definition, trust: Trust, by: Arc<Source>) -> Self {
        let mut server = Self::new(definition, trust);
        server.transport = crate::spec::check_transport(&server.definition).ok();
        server.state = DefinitionState::Shadowed;
        server.shadowed_by = Some(by);
        server
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }
}
