//! Finds the one server that has a prompt or a resource, or reports that none or several have it.

use std::collections::BTreeSet;

use wharf::Snapshot;

use super::tool::not_searched;
use crate::commands::Failure;
use crate::ui::phrase;

/// The servers that have the item.
pub(crate) struct MatchingServers(BTreeSet<String>);

/// The item to find.
pub(crate) struct SoughtItem<'a> {
    /// Its kind, such as `Prompt`.
    pub(crate) what: &'static str,
    /// Its name.
    pub(crate) name: &'a str,
}

impl MatchingServers {
    /// Collects the names of servers.
    pub(crate) fn new<'a>(servers: impl Iterator<Item = &'a str>) -> Self {
        Self(servers.map(str::to_owned).collect())
    }

    /// Tells whether no server has it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the only server that has it, or an error if there is none or more than one.
    pub(crate) fn only(
        self,
        sought: &SoughtItem<'_>,
        snapshot: &Snapshot,
    ) -> Result<String, Failure> {
        let mut names = self.0.into_iter();
        match (names.next(), names.next()) {
            (Some(one), None) => Ok(one),
            (Some(one), Some(other)) => {
                let path = phrase::word(&format!("{one}/{}", sought.name));
                let more = names.map(|name| phrase::quoted(&name));
                let all = [phrase::quoted(&one), phrase::quoted(&other)].into_iter().chain(more);
                Err(Failure::Ambiguous {
                    what: sought.what,
                    name: sought.name.to_owned(),
                    servers: all.collect::<Vec<_>>().join(", "),
                    hint: format!("name the server, such as {path}"),
                })
            }
            (None, _) => {
                let hint = not_searched(snapshot);
                let hint = hint.unwrap_or_else(|| "name its server with --server".to_owned());
                let (what, name) = (sought.what, sought.name.to_owned());
                Err(Failure::ItemNotFound { what, name, hint: Some(hint) })
            }
        }
    }
}
