//! Loads a catalog: finds the files of every program, reads them, and merges what they define.

use std::path::PathBuf;

use serde::Serialize;

use crate::discover::{self, Discovery, relative_folder_problems};
use crate::env::Env;
use crate::exa;
use crate::formats;
use crate::merge::{self, MergeOptions};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::server::Definition;
use crate::settings::{Settings, SettingsFiles};
use crate::source::Level;
use crate::switches::Switches;
use crate::trust::{Trust, TrustStore};

use super::{Catalog, DefinitionState};

/// Options of [`load`].
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// Do not read project files, as with `discovery.project = false`.
    pub without_project: bool,
    /// Treat every project definition as trusted, in this run only.
    pub trust_project: bool,
    /// The session has its own web search, so Exa servers are not connected.
    pub native_web_search: bool,
    /// Read Wharf's own files, to change them, even if a variable or setting excludes them.
    pub for_editing: bool,
    /// Add the default servers if nothing defines a server.
    pub with_defaults: bool,
}

/// Why no catalog could be made.
#[derive(Debug, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
    /// The folder is relative, and there is no environment with a working folder.
    #[error("the folder \"{}\" is relative, but no environment was given", .path.display())]
    RelativeFolder {
        /// The folder.
        path: PathBuf,
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
            Self::RelativeFolder { .. } => {
                "give an absolute folder, or the environment with its working folder"
            }
            Self::NoFolder { .. } => "name a folder that exists",
        }
    }
}

/// Finds, reads, checks and merges all definitions.
///
/// If the variable `WHARF_MCP_SERVERS` of `env` is set, it replaces all files: a JSON object from
/// names to entries, with the fields of `mcpServers` in Wharf's own files (`command`, `args`,
/// `env`, `cwd`, `url`, `headers`, `timeout`, …). Its servers need no trust; `{}` means no servers.
/// Without the feature `discovery`, Wharf's own files are the only ones.
///
/// If nothing defines a server, the catalog is empty, or has the default servers if
/// [`LoadOptions::with_defaults`] asks for them.
///
/// # Errors
/// If the working folder does not exist, or `WHARF_MCP_SERVERS` is not a JSON object. Everything
/// else becomes a problem in the catalog.
pub fn load(env: &Env, options: LoadOptions) -> Result<Catalog, DiscoveryError> {
    let files =
        if options.without_project { SettingsFiles::UserOnly } else { SettingsFiles::WithProject };
    load_with(env, options, || Settings::load_from(env, files))
}

/// Does the same as [`load`] with these settings; the files of the settings are not read.
///
/// The settings `discovery.*` say which files are read for servers.
///
/// ```
/// use wharf_config::{Env, LoadOptions, Platform, Settings, load_with_settings};
///
/// # let folder = tempfile::tempdir()?;
/// let env = Env::new(Platform::HOST, folder.path());
/// let settings = Settings::default().with("discovery.project", false)?;
/// let catalog = load_with_settings(&env, LoadOptions::default(), &settings)?;
/// assert_eq!(catalog.settings, settings);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`load`].
pub fn load_with_settings(
    env: &Env,
    options: LoadOptions,
    settings: &Settings,
) -> Result<Catalog, DiscoveryError> {
    load_with(env, options, || (settings.clone(), relative_folder_problems(env)))
}

fn load_with(
    env: &Env,
    options: LoadOptions,
    settings: impl FnOnce() -> (Settings, Vec<Problem>),
) -> Result<Catalog, DiscoveryError> {
    if !env.cwd.is_dir() {
        return Err(DiscoveryError::NoFolder { path: env.cwd.clone() });
    }
    let (settings, mut problems) = settings();
    let (trust_store, trust_problem) = TrustStore::load(env);
    problems.extend(trust_problem);
    let found = find(env, options, &settings)?;
    let switches = Switches::of(env, &found, &mut problems);
    problems.extend(found.problems);
    let mut definitions = found.definitions;
    if options.with_defaults && definitions.is_empty() && may_add_defaults(env, &settings) {
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
        problems,
        files: found.files,
        settings,
        project_folders,
        is_folder_trusted,
        exa_keys,
        native_web_search: options.native_web_search,
        ..Catalog::new(env)
    })
}

/// Tells whether the default servers may be used if nothing is defined. `WHARF_MCP_SERVERS` replaces
/// all files, so it replaces the defaults, too.
fn may_add_defaults(env: &Env, settings: &Settings) -> bool {
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
