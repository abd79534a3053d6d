//! The stored history of the catalog's servers: number of tools and last attempt to connect. Verbs
//! that do not connect show it.

use std::collections::BTreeMap;

use wharf::{EarlierRun, LastAttempt, Options};
use wharf_config::view::CatalogServerView;
use wharf_config::{Catalog, DefinitionState, ServerName};

use super::Invocation;

/// The history of the servers of a catalog.
#[derive(Debug)]
pub(crate) struct CatalogHistory(BTreeMap<ServerName, EarlierRun>);

impl CatalogHistory {
    /// Reads the stored records. Does not connect.
    pub(crate) fn load(catalog: &Catalog, invocation: &Invocation) -> Self {
        Self(wharf::earlier_runs(
            catalog,
            &Options::new(invocation.env.clone()).store_in_wharf_home(),
        ))
    }

    /// Returns how many tools a server had at the last connection. The records belong to the
    /// enabled definition of a name, so other definitions get `None`.
    pub(crate) fn tools(&self, server: &CatalogServerView<'_>) -> Option<usize> {
        let is_enabled = server.state == DefinitionState::Enabled.word();
        self.0.get(server.name).filter(|_| is_enabled)?.tools
    }

    /// Returns the last attempt if it failed; `None` for a definition that is not enabled.
    pub(crate) fn last_failure(&self, server: &CatalogServerView<'_>) -> Option<&LastAttempt> {
        let is_enabled = server.state == DefinitionState::Enabled.word();
        self.last_attempt(server.name).filter(|last| is_enabled && !last.is_ok())
    }

    /// Returns the last attempt to connect to an enabled server.
    pub(crate) fn last_attempt(&self, server: &ServerName) -> Option<&LastAttempt> {
        self.0.get(server)?.last.as_ref()
    }
}
