//! What is known of servers from an earlier time, for the verbs that only look.

use std::collections::BTreeMap;

use wharf::{EarlierRun, LastAttempt, Options};
use wharf_config::view::CatalogServerView;
use wharf_config::{Catalog, DefinitionState, ServerName};

use super::Invocation;

/// What is known of the servers of a catalog.
#[derive(Debug)]
pub(crate) struct CatalogHistory(BTreeMap<ServerName, EarlierRun>);

impl CatalogHistory {
    /// Looks it up; nothing is connected.
    pub(crate) fn load(catalog: &Catalog, invocation: &Invocation) -> Self {
        Self(wharf::earlier_runs(catalog, &Options::new(invocation.env.clone())))
    }

    /// Returns how many tools a server has. A hidden definition has none, whoever has its name.
    pub(crate) fn tools(&self, server: &CatalogServerView<'_>) -> Option<usize> {
        let is_enabled = server.state == DefinitionState::Enabled.word();
        self.0.get(server.name).filter(|_| is_enabled)?.tools
    }

    /// Returns how the last attempt ended if it failed. A hidden definition was not tried.
    pub(crate) fn last_failure(&self, server: &CatalogServerView<'_>) -> Option<&LastAttempt> {
        let is_enabled = server.state == DefinitionState::Enabled.word();
        self.last_attempt(server.name).filter(|last| is_enabled && !last.is_ok())
    }

    /// Returns how the last attempt to connect to an enabled server ended.
    pub(crate) fn last_attempt(&self, server: &ServerName) -> Option<&LastAttempt> {
        self.0.get(server)?.last.as_ref()
    }
}
