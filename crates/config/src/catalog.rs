//! The catalog: every definition that was found, its state, the winner of each name, and all
//! problems.
//!
//! No definition is dropped: shadowed, disabled, untrusted and invalid ones stay in the list.
//! [`load`] makes a catalog from files; `one_off` makes one from an entry on the command line.

use std::path::PathBuf;
use std::sync::Arc;

use crate::discover::{self, Discovery};
use crate::env::Env;
use crate::exa;
use crate::formats;
use crate::merge::{self, MergeOptions};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::{Definition, ServerName, ServerSpec, TransportKind};
use crate::settings::{Settings, SettingsFiles};
use crate::source::{Level, Source};
use crate::spec::FieldUse;
use crate::switches::Switches;
use crate::trust::{Trust, TrustStore};

/// All server definitions that apply in one working folder.
#[derive(Debug)]
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
}

/// One definition and its state after merging.
#[derive(Debug)]
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

/// Options of [`load`].
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Do not read project files, as with `discovery.project = false`.
    pub without_project: bool,
    /// Treat every project definition as trusted, in this run only.
    pub trust_project: bool,
    /// The session has its own web search, so Exa servers are not connected.
    pub native_web_search: bool,
    /// Read Wharf's own files, to change them, even if a variable or setting excludes them.
    pub for_editing: bool,
}

/// Why no catalog could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// `WHARF_MCP_SERVERS` is not a JSON object of servers.
    #[error(
        "WHARF_MCP_SERVERS is not a JSON object of servers: {reason} (line {line}, column {column})"
    )]
    Variable {
        /// What is wrong with it.
        reason: String,
        /// The line in the variable.
        line: u32,
        /// The column in that line.
        column: u32,
    },
    /// The working folder does not exist.
    #[error("no such working folder: {}", .path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
}

impl DiscoveryError {
    /// Says what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Variable { .. } => "correct the variable, or unset it to use your files",
            Self::NoFolder { .. } => "name a folder that exists",
        }
    }
}

/// Finds, reads, checks and merges all definitions.
///
/// If the variable `WHARF_MCP_SERVERS` of `env` is set, it replaces all files: a JSON object from
/// names to entries, with the fields of `mcpServers` in Wharf's own files (`command`, `args`,
/// `env`, `cwd`, `url`, `headers`, `timeout`, …). Its servers need no trust; `{}` means no servers.
/// If nothing defines a server, the catalog has the default servers.
///
/// # Errors
/// If the working folder does not exist, or `WHARF_MCP_SERVERS` is not a JSON object. Everything
/// else becomes a problem in the catalog.
pub fn load(env: &Env, options: LoadOptions) -> Result<Catalog, DiscoveryError> {
    if !env.cwd.is_dir() {
        return Err(DiscoveryError::NoFolder { path: env.cwd.clone() });
    }
    let files =
        if options.without_project { SettingsFiles::UserOnly } else { SettingsFiles::WithProject };
    let (settings, mut problems) = Settings::load_from(env, files);
    let (trust_store, trust_problem) = TrustStore::load(env);
    problems.extend(trust_problem);
    let found = find(env, options, &settings)?;
    let switches = Switches::of(env, &found, &mut problems);
    problems.extend(found.problems);
    let mut definitions = found.definitions;
    if definitions.is_empty() && needs_defaults(env, &settings) {
        definitions = crate::defaults::definitions(env);
    }
    let is_of_project = |definition: &Definition| definition.source.level == Level::Project;
    let is_project_trusted = options.trust_project && definitions.iter().any(is_of_project);
    let files = NamedFiles::default();
    let judge = |definition: Definition| {
        let trust = match definition.source.level {
            Level::Project if options.trust_project => Trust::Accepted,
            _ => trust_store.check(&definition, env, &files),
        };
        (definition, trust)
    };
    let judged = definitions.into_iter().map(judge).collect();
    let project_folders = discover::project_folders(env);
    let project_folders: Vec<PathBuf> =
        project_folders.iter().map(|folder| folder.to_path_buf()).collect();
    let is_folder_trusted = is_project_trusted || trust_store.trusts_folder(&project_folders);
    let merge_options = MergeOptions {
        env,
        files: &files,
        switches: &switches,
        keep_duplicates: settings.is_set_to("discovery.duplicates", "keep"),
        native_web_search: options.native_web_search,
        is_folder_trusted,
    };
    let servers = merge::merge(judged, &merge_options);
    let native = servers.iter().filter(|server| server.state == DefinitionState::Native);
    let exa_keys = native.filter_map(|server| exa::find_key(server.spec.as_ref()?, env)).collect();
    Ok(Catalog {
        servers,
        excluded: Vec::new(),
        problems,
        files: found.files,
        settings,
        project_folders,
        is_folder_trusted,
        exa_keys,
    })
}

/// Tells whether the default servers are used if nothing is defined. `WHARF_MCP_SERVERS` replaces
/// all files, so it replaces the defaults, too.
fn needs_defaults(env: &Env, settings: &Settings) -> bool {
    let is_disabled = settings.list("discovery.disabled").iter().any(|id| id == "defaults");
    !is_disabled && servers_variable(env).is_none()
}

/// Returns the variable that replaces all files, if it is not empty.
fn servers_variable(env: &Env) -> Option<&str> {
    env.variable("WHARF_MCP_SERVERS").filter(|text| !text.trim().is_empty())
}

fn find(env: &Env, options: LoadOptions, settings: &Settings) -> Result<Discovery, DiscoveryError> {
    let variable = servers_variable(env).filter(|_| !options.for_editing);
    let (Some(text), Some(program)) = (variable, formats::program("env")) else {
        let wanted = settings.is_on("discovery.project") || options.for_editing;
        let for_editing = |ids: &[String]| {
            let ids = ids.iter().filter(|id| *id != "wharf" || !options.for_editing);
            ids.cloned().collect::<Vec<_>>()
        };
        let wanted = discover::DiscoveryScope {
            with_projects: wanted && !options.without_project,
            disabled_programs: &for_editing(settings.list("discovery.disabled")),
            programs_disabled_by_project: &for_editing(&settings.programs_disabled_by_project),
        };
        return Ok(discover::discover(env, wanted));
    };
    let failed = |reason: String, line, column| DiscoveryError::Variable { reason, line, column };
    let found = discover::read_variable(env, program, "WHARF_MCP_SERVERS", text)
        .map_err(|error| failed(error.message, error.line, error.column))?;
    let not_a_map = found.problems.iter().find(|problem| problem.code == "not-an-object");
    match not_a_map {
        Some(problem) => Err(failed(problem.message.clone(), problem.line.unwrap_or(1), 1)),
        None => Ok(found),
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
