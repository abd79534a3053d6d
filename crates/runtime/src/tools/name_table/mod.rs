//! Assigns names to the tools of all servers. An assigned name never changes.
//!
//! Name collisions: if several tools prefer one free name, the tool with unchanged raw names gets
//! it, else the one with the smallest raw names; the others get a suffix. A name also stays while
//! its server is disconnected. The file is in `store::tool_names`.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use super::naming::{Naming, PreferredName};

/// The maximum number of removed tools of a server that keep their names; only a server that keeps
/// renaming its tools has more.
const MAX_REMOVED_TOOLS: usize = 10_000;

/// All assigned names, of this process and of earlier ones.
#[derive(Debug)]
pub(crate) struct NameTable {
    servers: HashMap<Arc<str>, ServerNames>,
    taken: HashMap<Arc<str>, TakenName>,
    round: u32,
    is_changed: bool,
    /// The servers that this process does not use.
    skipped: Vec<SkippedServer>,
    /// The names that are valid for this process only.
    temporary: HashSet<Arc<str>>,
    today: u32,
    /// Identifies this table.
    table_id: Arc<()>,
}

/// A server that this process does not use, and whose tools may need names later.
#[derive(Debug)]
pub(crate) struct SkippedServer {
    pub(crate) naming: Naming,
    pub(crate) server: String,
    pub(crate) prefix: Option<String>,
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
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs() / 86_400).unwrap_or(u32::MAX)
}

/// The round in which a name was taken, and the index of the new tool that has it.
#[derive(Debug, Clone, Copy)]
struct TakenName {
    round: u32,
    new_tool: usize,
}

/// The tools of one server that need names; the raw names are distinct.
pub(super) struct NameRequest<'a> {
    pub(super) server: &'a str,
    pub(super) tools: Vec<(&'a str, &'a PreferredName)>,
}

/// The names of all requested tools, as far as they are known.
type AssignedNames = Vec<Vec<Option<Arc<str>>>>;

/// A tool that has no name yet.
struct NewTool<'a> {
    position: (usize, usize),
    server: &'a str,
    tool: &'a str,
    preferred: &'a PreferredName,
}

impl NewTool<'_> {
    /// The tool with the smallest rank gets the name.
    fn rank(&self) -> (Reverse<bool>, &str, &str) {
        (Reverse(self.preferred.is_exact), self.server, self.tool)
    }
}

impl Default for NameTable {
    fn default() -> Self {
        Self {
            servers: HashMap::new(),
            taken: HashMap::new(),
            round: 0,
            is_changed: false,
            skipped: Vec::new(),
            temporary: HashSet::new(),
            today: today(),
            table_id: Arc::new(()),
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
            if let Entry::Vacant(free) = self.taken.entry(name.clone()) {
                free.insert(TakenName { round: 0, new_tool: 0 });
                known.tools.insert(tool.into(), name);
            }
        }
        self.servers.insert(server.into(), known);
    }

    /// Sets the servers that this process does not use. A name that one of their tools could have
    /// is valid for this process only; it is assigned for good when all these servers are used.
    pub(crate) fn set_skipped_servers(&mut self, skipped: Vec<SkippedServer>) {
        self.skipped = skipped;
    }

    /// Returns the names to be saved, if they changed: all except those for this process only.
    pub(crate) fn take_unsaved(&mut self) -> Option<UnsavedNames> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let mut servers: UnsavedNames =
            self.servers.iter().map(|(name, tools)| (name.clone(), tools.clone())).collect();
        if !self.temporary.is_empty() {
            for (_, server) in &mut servers {
                server.tools.retain(|_, name| !self.temporary.contains(name));
            }
        }
        Some(servers)
    }

    /// Records that the names from [`NameTable::take_unsaved`] could not be saved.
    pub(crate) fn mark_unsaved(&mut self) {
        self.is_changed = true;
    }

    /// Returns the identity of this table.
    pub(super) fn table_id(&self) -> &Arc<()> {
        &self.table_id
    }

    /// Returns the tools that have these names, as `server/tool`. One pass over all names.
    pub(super) fn owners(&self, wanted: &HashSet<&str>) -> HashMap<Arc<str>, String> {
        let mut owners = HashMap::new();
        for (server, names) in &self.servers {
            for (tool, name) in names.tools.iter().filter(|(_, name)| wanted.contains(&***name)) {
                owners.insert(name.clone(), format!("{server}/{tool}"));
            }
        }
        owners
    }

    /// Assigns a name to every tool, and returns the names in the order of the claims.
    pub(super) fn assign(&mut self, requests: &[NameRequest<'_>]) -> Vec<Vec<Arc<str>>> {
        self.round += 1;
        let (mut assigned, new_tools) = self.find_assigned(requests);
        self.taken.reserve(new_tools.len());
        let others = self.assign_preferred(&new_tools);
        let suffixed = self.assign_suffixes(&new_tools, others);
        for (new_tool, name) in new_tools.iter().zip(suffixed) {
            let name = name.unwrap_or_else(|| new_tool.preferred.stem.clone());
            assigned[new_tool.position.0][new_tool.position.1] = Some(name);
        }
        self.store(requests, &new_tools, &assigned);
        assigned.into_iter().map(|names| names.into_iter().flatten().collect()).collect()
    }

    /// Finds the tools that already have names. A name that is no longer valid, because the prefix
    /// or the naming has changed, becomes free before new names are assigned.
    fn find_assigned<'a>(
        &mut self,
        requests: &[NameRequest<'a>],
    ) -> (AssignedNames, Vec<NewTool<'a>>) {
        let mut new_tools = Vec::new();
        let mut assigned = Vec::with_capacity(requests.len());
        for (number, request) in requests.iter().enumerate() {
            let mut known = self.servers.get_mut(request.server);
            let mut names = Vec::with_capacity(request.tools.len());
            for (index, (tool, preferred)) in request.tools.iter().copied().enumerate() {
                let own = known.as_ref().and_then(|known| known.tools.get(tool)).cloned();
                let fitting = own.clone().filter(|name| preferred.allows(name));
                if let (Some(own), None) = (own, &fitting) {
                    self.taken.remove(&own);
                    known.as_mut().and_then(|known| known.tools.remove(tool));
                    self.is_changed = true;
                }
                if fitting.is_none() {
                    let position = (number, index);
                    new_tools.push(NewTool { position, server: request.server, tool, preferred });
                }
                names.push(fitting);
            }
            assigned.push(names);
        }
        (assigned, new_tools)
    }

    /// Assigns preferred names that are free; returns the indices of the other tools.
    fn assign_preferred(&mut self, new_tools: &[NewTool<'_>]) -> Vec<usize> {
        let mut others = Vec::new();
        for (index, new_tool) in new_tools.iter().enumerate() {
            if new_tool.preferred.is_long {
                others.push(index);
                continue;
            }
            match self.taken.entry(new_tool.preferred.stem.clone()) {
                Entry::Vacant(free) => {
                    free.insert(TakenName { round: self.round, new_tool: index });
                }
                Entry::Occupied(mut taken) => {
                    let rival = *taken.get();
                    let is_open = rival.round == self.round;
                    if is_open && new_tool.rank() < new_tools[rival.new_tool].rank() {
                        taken.get_mut().new_tool = index;
                        others.push(rival.new_tool);
                    } else {
                        others.push(index);
                    }
                }
            }
        }
        others
    }

    /// Assigns names with suffixes; the result has one name per new tool.
    ///
    /// The order of the tools matters only if such a name is taken, which is rare. In this case
    /// the tools are sorted and all suffixes are assigned again.
    fn assign_suffixes(
        &mut self,
        new_tools: &[NewTool<'_>],
        mut others: Vec<usize>,
    ) -> Vec<Option<Arc<str>>> {
        let mut names = vec![None; new_tools.len()];
        let mut are_free = true;
        for &index in &others {
            names[index] = self.try_suffix(&new_tools[index], index, 0);
            are_free = names[index].is_some();
            if !are_free {
                break;
            }
        }
        if are_free {
            return names;
        }
        for name in names.iter_mut().filter_map(Option::take) {
            self.taken.remove(&name);
        }
        others.sort_unstable_by_key(|index| (new_tools[*index].server, new_tools[*index].tool));
        for index in others {
            names[index] =
                (0..).find_map(|attempt| self.try_suffix(&new_tools[index], index, attempt));
        }
        names
    }

    /// Assigns a name with a suffix, if it is free.
    fn try_suffix(
        &mut self,
        new_tool: &NewTool<'_>,
        index: usize,
        attempt: u32,
    ) -> Option<Arc<str>> {
        let name = new_tool.preferred.with_suffix(new_tool.server, new_tool.tool, attempt);
        match self.taken.entry(name.clone()) {
            Entry::Vacant(free) => {
                free.insert(TakenName { round: self.round, new_tool: index });
                Some(name)
            }
            Entry::Occupied(_) => None,
        }
    }

    fn store(
        &mut self,
        requests: &[NameRequest<'_>],
        new_tools: &[NewTool<'_>],
        assigned: &AssignedNames,
    ) {
        for request in requests.iter().filter(|request| !request.tools.is_empty()) {
            if !self.servers.contains_key(request.server) {
                self.servers.insert(request.server.into(), ServerNames::default());
            }
            if let Some(known) = self.servers.get_mut(request.server)
                && known.seen != self.today
            {
                known.seen = self.today;
                self.is_changed = true;
            }
        }
        let temporary = self.temporary.len();
        for new_tool in new_tools {
            let name = &assigned[new_tool.position.0][new_tool.position.1];
            if let Some(name) = name.as_ref().filter(|name| self.may_belong_to_skipped_server(name))
            {
                self.temporary.insert(name.clone());
            }
        }
        self.is_changed |= new_tools.len() > self.temporary.len() - temporary;
        for group in new_tools.chunk_by(|a, b| a.position.0 == b.position.0) {
            let Some(known) = self.servers.get_mut(group[0].server) else { continue };
            known.tools.reserve(group.len());
            for new_tool in group {
                let name = assigned[new_tool.position.0][new_tool.position.1].clone();
                if let Some(name) = name {
                    known.tools.insert(new_tool.tool.into(), name);
                }
            }
        }
        for request in requests {
            self.free_removed(request);
        }
    }

    fn may_belong_to_skipped_server(&self, name: &str) -> bool {
        let could_have = |other: &SkippedServer| {
            other.naming.may_name(name, &other.server, other.prefix.as_deref())
        };
        self.skipped.iter().any(could_have)
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
