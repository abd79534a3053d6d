//! Assigns names to the tools of all servers. An assigned name never changes.
//!
//! Name collisions: a tool of a server that does not own the preferred name (`name_owners`) gets a
//! suffix. If several tools prefer one free name, the tool with unchanged raw names gets it, else
//! the one with the smallest raw names; the others get a suffix. A name also stays while its server
//! is disconnected. The file is in `store::tool_names`.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use wharf_config::time::unix_seconds;

use super::name_owners::NameOwners;
use super::naming::PreferredName;

/// The maximum number of removed tools of a server that keep their names; only a server that keeps
/// renaming its tools has more.
const MAX_REMOVED_TOOLS: usize = 10_000;

/// All assigned names, of this process and of earlier ones.
#[derive(Debug)]
pub(crate) struct NameTable {
    servers: HashMap<Arc<str>, ServerNames>,
    taken: HashSet<Arc<str>>,
    is_changed: bool,
    owners: NameOwners,
    today: u32,
}

/// The names of one server's tools.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerNames {
    /// The day on which it last had tools, counted from 1970.
    pub(crate) seen: u32,
    /// Raw name of a tool → its name.
    pub(crate) tools: HashMap<Arc<str>, Arc<str>>,
}

/// The names to be saved, by server.
pub(crate) type UnsavedNames = Vec<(Arc<str>, ServerNames)>;

/// Returns the number of days since 1970.
pub(crate) fn today() -> u32 {
    u32::try_from(unix_seconds(SystemTime::now()) / 86_400).unwrap_or(u32::MAX)
}

/// The tools of one server that need names; the raw names are distinct.
pub(super) struct NameRequest<'a> {
    pub(super) server: &'a str,
    pub(super) tools: Vec<(&'a str, &'a PreferredName)>,
}

/// A tool that has no name yet.
struct NewTool<'a> {
    server: &'a str,
    tool: &'a str,
    preferred: &'a PreferredName,
}

impl<'a> NewTool<'a> {
    /// The tool with the smallest rank gets the name.
    fn rank(&self) -> (Reverse<bool>, &'a str, &'a str) {
        (Reverse(self.preferred.is_exact), self.server, self.tool)
    }
}

impl Default for NameTable {
    fn default() -> Self {
        Self {
            servers: HashMap::new(),
            taken: HashSet::new(),
            is_changed: false,
            owners: NameOwners::default(),
            today: today(),
        }
    }
}

impl NameTable {
    /// Adds the names of a server that were stored by an earlier run. Of two tools with one name,
    /// the first keeps it.
    pub(crate) fn restore<'a>(
        &mut self,
        server: &str,
        seen: u32,
        tools: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        let mut known = ServerNames { seen: seen.min(self.today), tools: HashMap::new() };
        for (tool, name) in tools {
            let name: Arc<str> = name.into();
            if self.taken.insert(name.clone()) {
                known.tools.insert(tool.into(), name);
            }
        }
        self.servers.insert(server.into(), known);
    }

    /// Sets the servers that own the names that are assigned from now on.
    pub(crate) fn set_owners(&mut self, owners: NameOwners) {
        self.owners = owners;
    }

    /// Returns the names to be saved, if they changed.
    pub(crate) fn take_unsaved(&mut self) -> Option<UnsavedNames> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let all = self.servers.iter();
        Some(all.map(|(name, tools)| (name.clone(), tools.clone())).collect())
    }

    /// Records that the names from [`NameTable::take_unsaved`] could not be saved.
    pub(crate) fn mark_unsaved(&mut self) {
        self.is_changed = true;
    }

    /// Returns the server that owns a name.
    pub(super) fn owner(&self, name: &str) -> Option<&str> {
        self.owners.owner(name)
    }

    /// Returns the tools that have these names, as `server/tool`. One pass over all names.
    pub(super) fn tools_named(&self, wanted: &HashSet<&str>) -> HashMap<Arc<str>, String> {
        let mut owners = HashMap::new();
        for (server, names) in &self.servers {
            for (tool, name) in names.tools.iter().filter(|(_, name)| wanted.contains(&***name)) {
                owners.insert(name.clone(), format!("{server}/{tool}"));
            }
        }
        owners
    }

    /// Assigns a name to every tool, and returns the names in the order of the requests.
    pub(super) fn assign(&mut self, requests: &[NameRequest<'_>]) -> Vec<Vec<Arc<str>>> {
        let mut new_tools = Vec::new();
        for request in requests.iter().filter(|request| !request.tools.is_empty()) {
            self.find_new(request, &mut new_tools);
        }
        self.taken.reserve(new_tools.len());
        new_tools.sort_unstable_by_key(NewTool::rank);
        let mut others = Vec::new();
        for new_tool in new_tools {
            let PreferredName { stem, is_long, .. } = new_tool.preferred;
            let is_owner = self.owners.may_have(new_tool.server, stem);
            if !is_long && is_owner && self.taken.insert(stem.clone()) {
                self.store(&new_tool, stem.clone());
            } else {
                others.push(new_tool);
            }
        }
        // A name with a suffix may be taken, too, so the order counts.
        others.sort_unstable_by_key(|new_tool| (new_tool.server, new_tool.tool));
        for new_tool in others {
            let name = self.free_suffix(&new_tool);
            self.store(&new_tool, name);
        }
        for request in requests {
            self.free_removed(request);
        }
        let names = requests.iter().map(|request| {
            let known = self.servers.get(request.server);
            request.tools.iter().filter_map(|(tool, _)| known?.tools.get(*tool).cloned()).collect()
        });
        names.collect()
    }

    /// Finds the tools that have no name. A name that is no longer valid, because the prefix or the
    /// naming has changed, becomes free before new names are assigned.
    fn find_new<'a>(&mut self, request: &NameRequest<'a>, new_tools: &mut Vec<NewTool<'a>>) {
        let known = self.servers.entry(request.server.into()).or_default();
        self.is_changed |= known.seen != self.today;
        known.seen = self.today;
        for (tool, preferred) in &request.tools {
            match known.tools.get(*tool) {
                Some(name) if preferred.allows(name) => continue,
                Some(name) => {
                    self.taken.remove(name);
                    known.tools.remove(*tool);
                    self.is_changed = true;
                }
                None => {}
            }
            new_tools.push(NewTool { server: request.server, tool, preferred });
        }
    }

    /// Returns the first free name with a suffix, which is taken then.
    fn free_suffix(&mut self, new_tool: &NewTool<'_>) -> Arc<str> {
        let name =
            |attempt| new_tool.preferred.with_suffix(new_tool.server, new_tool.tool, attempt);
        let mut attempt = 0;
        while !self.taken.insert(name(attempt)) {
            attempt += 1;
        }
        name(attempt)
    }

    fn store(&mut self, new_tool: &NewTool<'_>, name: Arc<str>) {
        self.is_changed = true;
        if let Some(known) = self.servers.get_mut(new_tool.server) {
            known.tools.insert(new_tool.tool.into(), name);
        }
    }

    /// Frees the names of removed tools, if there are too many.
    fn free_removed(&mut self, request: &NameRequest<'_>) {
        let Some(known) = self.servers.get_mut(request.server) else { return };
        if known.tools.len() <= request.tools.len() + MAX_REMOVED_TOOLS {
            return;
        }
        let present: HashSet<&str> = request.tools.iter().map(|(tool, _)| *tool).collect();
        for (_, name) in known.tools.extract_if(|tool, _| !present.contains(&**tool)) {
            self.taken.remove(&name);
        }
    }
}
