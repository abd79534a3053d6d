//! The context of every verb: environment, flags, output, and functions to load the catalog.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use wharf_config::settings::{Settings, SettingsFiles};
use wharf_config::{
    Catalog, DefinitionState, DiscoveryError, Env, LoadOptions, Problem, Server, load,
};

use super::Failure;
use super::trace::Trace;
use crate::args::Flags;
use crate::host::Host;
use crate::ui::{Ui, Verbosity, phrase, style};

/// One run of one verb.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// Environment variables, working folder and home folder.
    pub(crate) env: Env,
    /// The output.
    pub(crate) ui: Ui,
    /// How the catalog is loaded.
    pub(crate) options: LoadOptions,
    /// Collects the messages exchanged with servers, if `--trace` is given.
    pub(crate) trace: OnceCell<Trace>,
}

impl Invocation {
    /// Combines the flags and the environment.
    pub(crate) fn new(flags: &Flags, host: Host) -> Self {
        let Host { env, terminal } = host;
        let variable = env.nonempty_variable("WHARF_TRUST_PROJECT");
        let options = LoadOptions {
            without_project: flags.no_project,
            trust_project: flags.trust_project || matches!(variable, Some("1" | "true")),
            with_defaults: true,
            ..LoadOptions::default()
        };
        let ui = Ui::new(flags, terminal, &env);
        Self { env, ui, options, trace: OnceCell::new() }
    }

    /// Loads the catalog, and prints the problems that concern every verb.
    pub(crate) fn load(&self) -> Result<Catalog, DiscoveryError> {
        let catalog = self.load_quietly()?;
        self.print_general_problems(&catalog);
        if self.ui.verbosity == Verbosity::Verbose {
            for file in &catalog.files {
                let place = phrase::path(&file.path, &self.env);
                let text = format!("read: {place} ({})", phrase::source(file));
                self.ui.notice(&style::faint(&text));
            }
        }
        Ok(catalog)
    }

    /// Loads the catalog and prints nothing.
    pub(crate) fn load_quietly(&self) -> Result<Catalog, DiscoveryError> {
        load(&self.env, self.options)
    }

    /// Loads the catalog with the recorded trust, for the verbs that change it: `--trust-project`
    /// is ignored.
    pub(crate) fn load_with_recorded_trust(&self) -> Result<Catalog, DiscoveryError> {
        let catalog = load(&self.env, LoadOptions { trust_project: false, ..self.options })?;
        self.print_general_problems(&catalog);
        Ok(catalog)
    }

    /// Prints what a project's settings change, for a verb that does not load the catalog.
    pub(crate) fn print_settings_problems(&self) {
        let (_, problems) = Settings::load_from(&self.env, self.settings_files());
        let problems = problems.iter().filter(|problem| problem.concerns_every_verb());
        self.ui.problems(problems, &self.env);
    }

    /// Returns which settings files apply.
    pub(crate) fn settings_files(&self) -> SettingsFiles {
        if self.options.without_project {
            SettingsFiles::UserOnly
        } else {
            SettingsFiles::WithProject
        }
    }

    /// Prints what a project's settings change, and which variables are ignored.
    fn print_general_problems(&self, catalog: &Catalog) {
        let problems = catalog.problems.iter().filter(|problem| problem.concerns_every_verb());
        self.ui.problems(problems, &self.env);
    }
}

/// Returns the winner of a name, or the first candidate if all definitions are hidden.
pub(crate) fn find_server<'a>(catalog: &'a Catalog, name: &'a str) -> Result<&'a Server, Failure> {
    let found = catalog.winner(name).or_else(|| catalog.candidates(name).next());
    found.ok_or_else(|| Failure::not_found(name, catalog))
}

/// Why only the default servers exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultsReason {
    /// No file defines a server.
    NothingConfigured,
    /// A file that could not be read may define servers.
    Unreadable,
}

/// Returns why only the default servers exist, if that is so.
pub(crate) fn defaults_reason(catalog: &Catalog, env: &Env) -> Option<DefaultsReason> {
    let mut providers = catalog.servers.iter().map(|server| server.definition.source.provider);
    if catalog.servers.is_empty() || !providers.all(|provider| provider == "defaults") {
        return None;
    }
    let has_servers = |problem: &Problem| {
        problem.path.as_deref().is_some_and(|path| !is_settings_or_trust(path, catalog, env))
    };
    let mut errors = catalog.problems.iter().filter(|problem| problem.is_error());
    Some(if errors.any(has_servers) {
        DefaultsReason::Unreadable
    } else {
        DefaultsReason::NothingConfigured
    })
}

/// Tells whether a file is the user's or the project's `config.toml`.
pub(crate) fn is_settings(path: &Path, catalog: &Catalog, env: &Env) -> bool {
    let of_project = |folder: &PathBuf| path == folder.join(".wharf/config.toml");
    Settings::path(env).is_some_and(|own| path == own)
        || catalog.project_folders.iter().any(of_project)
}

/// Tells whether a file is one of Wharf's own that defines no servers.
pub(crate) fn is_settings_or_trust(path: &Path, catalog: &Catalog, env: &Env) -> bool {
    let is_trust = || env.wharf_home().is_some_and(|home| path == home.join("trust.json"));
    is_settings(path, catalog, env) || is_trust()
}

/// Formats the counts that are not zero, such as `2 enabled`.
pub(crate) fn format_counts<'a>(counts: impl IntoIterator<Item = (usize, &'a str)>) -> Vec<String> {
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    counts.map(|(number, word)| format!("{number} {word}")).collect()
}

/// Counts the definitions in each of these states.
pub(crate) fn count_states(
    catalog: &Catalog,
    states: &[DefinitionState],
) -> impl Iterator<Item = (usize, &'static str)> {
    states.iter().map(|state| (count_state(catalog, *state), state.word()))
}

/// Counts the definitions in a state.
pub(crate) fn count_state(catalog: &Catalog, state: DefinitionState) -> usize {
    catalog.servers.iter().filter(|server| server.state == state).count()
}
