//! What every verb needs: the surroundings, the common flags, the screen, and a way to look.

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
    /// The person's surroundings.
    pub(crate) env: Env,
    /// The screen.
    pub(crate) ui: Ui,
    /// How to look.
    pub(crate) options: LoadOptions,
    /// Who sees the exchange with servers, if somebody wants to.
    pub(crate) trace: OnceCell<Trace>,
}

impl Invocation {
    /// Puts together what the flags and the machine say.
    pub(crate) fn new(flags: &Flags, host: Host) -> Self {
        let Host { env, terminal } = host;
        let said = env.nonempty_variable("WHARF_TRUST_PROJECT");
        let options = LoadOptions {
            without_project: flags.no_project,
            trust_project: flags.trust_project || matches!(said, Some("1" | "true")),
            ..LoadOptions::default()
        };
        let ui = Ui::new(flags, terminal, &env);
        Self { env, ui, options, trace: OnceCell::new() }
    }

    /// Finds every server.
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

    /// Finds every server without a word: neither which files were read nor what every verb warns
    /// of.
    pub(crate) fn load_quietly(&self) -> Result<Catalog, DiscoveryError> {
        load(&self.env, self.options)
    }

    /// Finds every server, with trust as it is on record: for the verbs that change it.
    pub(crate) fn load_with_recorded_trust(&self) -> Result<Catalog, DiscoveryError> {
        let catalog = load(&self.env, LoadOptions { trust_project: false, ..self.options })?;
        self.print_general_problems(&catalog);
        Ok(catalog)
    }

    /// Says what the settings of a project do, for a verb that does not look at all servers.
    pub(crate) fn print_settings_problems(&self) {
        let (_, problems) = Settings::load_from(&self.env, self.settings_files());
        let problems = problems.iter().filter(|problem| problem.concerns_every_verb());
        self.ui.problems(problems, &self.env);
    }

    /// Returns whose settings count.
    pub(crate) fn settings_files(&self) -> SettingsFiles {
        if self.options.without_project {
            SettingsFiles::UserOnly
        } else {
            SettingsFiles::WithProject
        }
    }

    /// Says what a project's settings did, and which variables do not count.
    fn print_general_problems(&self, catalog: &Catalog) {
        let problems = catalog.problems.iter().filter(|problem| problem.concerns_every_verb());
        self.ui.problems(problems, &self.env);
    }
}

/// Returns the definition that has a name, or the best one where every one is hidden.
pub(crate) fn find_server<'a>(catalog: &'a Catalog, name: &'a str) -> Result<&'a Server, Failure> {
    let found = catalog.winner(name).or_else(|| catalog.candidates(name).next());
    found.ok_or_else(|| Failure::not_found(name, catalog))
}

/// Why there is nothing but the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultsReason {
    /// Nobody has configured anything.
    NothingConfigured,
    /// What is configured may be in a file that could not be read.
    Unreadable,
}

/// Returns why there are only the defaults, if that is so.
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

/// Tells whether a file has Wharf's settings, the person's or the project's.
pub(crate) fn is_settings(path: &Path, catalog: &Catalog, env: &Env) -> bool {
    let of_project = |folder: &PathBuf| path == folder.join(".wharf/config.toml");
    Settings::path(env).is_some_and(|own| path == own)
        || catalog.project_folders.iter().any(of_project)
}

/// Tells whether a file is one of Wharf's own that has no servers.
pub(crate) fn is_settings_or_trust(path: &Path, catalog: &Catalog, env: &Env) -> bool {
    let is_trust = || env.wharf_home().is_some_and(|home| path == home.join("trust.json"));
    is_settings(path, catalog, env) || is_trust()
}

/// Puts numbers and their words together, without those that are zero: `2 enabled`.
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
