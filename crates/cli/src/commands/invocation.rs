//! What every verb needs: the surroundings, the common flags, the screen, and a way to look.

use wharf_config::{Catalog, DiscoveryError, Env, LoadOptions, Server, State, load};

use super::Failure;
use crate::args::Flags;
use crate::host::Host;
use crate::ui::{Loudness, Ui, phrase, style};

/// One run of one verb.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// The person's surroundings.
    pub(crate) env: Env,
    /// The screen.
    pub(crate) ui: Ui,
    options: LoadOptions,
}

impl Invocation {
    /// Puts together what the flags and the machine say.
    pub(crate) fn new(flags: &Flags, host: Host) -> Self {
        let Host { env, terminal } = host;
        let said = env.filled_variable("WHARF_TRUST_PROJECT");
        let options = LoadOptions {
            without_project: flags.no_project,
            trust_project: flags.trust_project || matches!(said, Some("1" | "true")),
            ..LoadOptions::default()
        };
        let ui = Ui::new(flags, terminal, &env);
        Self { env, ui, options }
    }

    /// Finds every server.
    pub(crate) fn load(&self) -> Result<Catalog, DiscoveryError> {
        let catalog = load(&self.env, self.options)?;
        if self.ui.loudness == Loudness::Verbose {
            for file in &catalog.files {
                let place = phrase::path(&file.path, &self.env);
                let text = format!("read: {place} ({})", phrase::source(file));
                self.ui.notice(&style::faint(&text));
            }
        }
        Ok(catalog)
    }

    /// Tells whether project definitions count as trusted in this run.
    pub(crate) fn trusts_project(&self) -> bool {
        self.options.trust_project
    }

    /// Finds every server, with trust as it is on record: for the verbs that change it.
    pub(crate) fn load_with_recorded_trust(&self) -> Result<Catalog, DiscoveryError> {
        load(&self.env, LoadOptions { trust_project: false, ..self.options })
    }
}

/// Returns the definition that has a name, or the best one where every one is hidden.
pub(crate) fn find<'a>(catalog: &'a Catalog, name: &'a str) -> Result<&'a Server, Failure> {
    let found = catalog.winner(name).or_else(|| catalog.candidates(name).next());
    found.ok_or_else(|| Failure::not_found(name, catalog))
}

/// Tells whether nobody has configured anything, so that only the defaults are there.
pub(crate) fn only_defaults(catalog: &Catalog) -> bool {
    let mut providers = catalog.servers.iter().map(|server| server.definition.source.provider);
    !catalog.servers.is_empty() && providers.all(|provider| provider == "defaults")
}

/// Counts the definitions by state, in words: `9 enabled`, `1 untrusted`.
pub(crate) fn counted(catalog: &Catalog, states: &[State]) -> Vec<String> {
    let counted = states.iter().map(|state| (count_state(catalog, *state), state.word()));
    counted
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect()
}

/// Counts the definitions in a state.
pub(crate) fn count_state(catalog: &Catalog, state: State) -> usize {
    catalog.servers.iter().filter(|server| server.state == state).count()
}
