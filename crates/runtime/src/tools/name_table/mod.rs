//! Who has which name: decided over all tools known at a time, and never taken back.
//!
//! Of several that wish for one free name, the tool whose raw names needed no change gets it, else
//! the one with the smaller raw identity; each other one gets letters of its own. A name that was
//! given stays given, also while its server is away. The file is in `store::tool_names`.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use super::naming::{Naming, PreferredName};

/// How many tools that a server no longer has keep their names; only a server that renames its
/// tools all the time has more.
const MAX_REMOVED_TOOLS: usize = 10_000;

/// The names given so far, in this process and in earlier ones.
#[derive(Debug)]
pub(crate) struct NameTable {
    servers: HashMap<Arc<str>, ServerNames>,
    taken: HashMap<Arc<str>, TakenName>,
    round: u32,
    is_changed: bool,
    /// The servers that this process leaves alone.
    skipped: Vec<SkippedServer>,
    /// The names that were given for this process only.
    temporary: HashSet<Arc<str>>,
    today: u32,
    /// Tells this book of names from any other.
    table_id: Arc<()>,
}

/// A server that this process leaves alone, and that may want a name.
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

/// Names that are to be saved, by server.
pub(crate) type UnsavedNames = Vec<(Arc<str>, ServerNames)>;

/// Returns the number of days since 1970.
pub(crate) fn today() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs() / 86_400).unwrap_or(u32::MAX)
}

/// Since when a name is taken, and for which of that round's newcomers.
#[derive(Debug, Clone, Copy)]
struct TakenName {
    round: u32,
    new_tool: usize,
}

/// The tools of one server that need names; the raw names differ.
pub(super) struct NameRequest<'a> {
    pub(super) server: &'a str,
    pub(super) tools: Vec<(&'a str, &'a PreferredName)>,
}

/// The names of the claims' tools, as far as they are known.
type AssignedNames = Vec<Vec<Option<Arc<str>>>>;

/// A tool that has no name yet.
struct NewTool<'a> {
    position: (usize, usize),
    server: &'a str,
    tool: &'a str,
    preferred: &'a PreferredName,
}

impl NewTool<'_> {
    /// The smallest gets the name.
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

    /// Says which servers this process leaves alone. A name that a tool of theirs could have is
    /// given for this process only: who has it for good is decided when all of them are asked.
    pub(crate) fn set_skipped_servers(&mut self, skipped: Vec<SkippedServer>) {
        self.skipped = skipped;
    }

    /// Returns what is to be saved, if anything: all names but those for this process only.
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

    /// Notes that what was taken to be saved could not be.
    pub(crate) fn mark_unsaved(&mut self) {
        self.is_changed = true;
    }

    /// Returns what tells this book of names from any other.
    pub(super) fn table_id(&self) -> &Arc<()> {
        &self.table_id
    }

    /// Returns the tools that have certain names, as `server/tool`; one pass over all names.
    pub(super) fn owners(&self, wanted: &HashSet<&str>) -> HashMap<Arc<str>, String> {
        let mut owners = HashMap::new();
        for (server, names) in &self.servers {
            for (tool, name) in names.tools.iter().filter(|(_, name)| wanted.contains(&***name)) {
                owners.insert(name.clone(), format!("{server}/{tool}"));
            }
        }
        owners
    }

    /// Gives every tool a name, in the order of the claims.
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

    /// Finds the tools that have their names already. A name that no longer fits, because the
    /// prefix or the way of naming has changed, becomes free before newcomers are looked at.
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

    /// Gives free names to those who wish for them; returns the others.
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

    /// Gives names with letters of their own; returns them in the order of the newcomers.
    ///
    /// Only where such a name is taken does it matter who comes first, and that hardly ever
    /// happens. So the others are put in order when it does, and begin anew.
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

    /// Gives a name with letters of its own, if nobody has it.
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

    /// Frees the names of tools that are gone, if there are far too many.
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
