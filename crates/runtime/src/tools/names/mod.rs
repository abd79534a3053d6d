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

use super::naming::{Naming, Wish};

/// How many tools that a server no longer has keep their names; only a server that renames its tools
/// all the time has more.
const MOST_GONE: usize = 10_000;

/// The names given so far, in this process and in earlier ones.
#[derive(Debug)]
pub(crate) struct Names {
    servers: HashMap<Arc<str>, ServerNames>,
    taken: HashMap<Arc<str>, Taken>,
    round: u32,
    is_changed: bool,
    /// The servers that this process leaves alone.
    contested: Vec<Contender>,
    /// The names that were given for this process only.
    for_now: HashSet<Arc<str>>,
    today: u32,
    /// Tells this book of names from any other.
    token: Arc<()>,
}

/// A server that this process leaves alone, and that may want a name.
#[derive(Debug)]
pub(crate) struct Contender {
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
struct Taken {
    round: u32,
    newcomer: usize,
}

/// The tools of one server that need names; the raw names differ.
pub(super) struct Claims<'a> {
    pub(super) server: &'a str,
    pub(super) tools: Vec<(&'a str, &'a Wish)>,
}

/// The names of the claims' tools, as far as they are known.
type Given = Vec<Vec<Option<Arc<str>>>>;

/// A tool that has no name yet.
struct Newcomer<'a> {
    place: (usize, usize),
    server: &'a str,
    tool: &'a str,
    wish: &'a Wish,
}

impl Newcomer<'_> {
    /// The smallest gets the name.
    fn rank(&self) -> (Reverse<bool>, &str, &str) {
        (Reverse(self.wish.is_exact), self.server, self.tool)
    }
}

impl Default for Names {
    fn default() -> Self {
        Self {
            servers: HashMap::new(),
            taken: HashMap::new(),
            round: 0,
            is_changed: false,
            contested: Vec::new(),
            for_now: HashSet::new(),
            today: today(),
            token: Arc::new(()),
        }
    }
}

impl Names {
    /// Adds the names of a server that were stored by an earlier run. Of two tools with one name, the
    /// first keeps it.
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
                free.insert(Taken { round: 0, newcomer: 0 });
                known.tools.insert(tool.into(), name);
            }
        }
        self.servers.insert(server.into(), known);
    }

    /// Says which servers this process leaves alone. A name that a tool of theirs could have is given
    /// for this process only: who has it for good is decided when all of them are asked.
    pub(crate) fn leave_alone(&mut self, contenders: Vec<Contender>) {
        self.contested = contenders;
    }

    /// Returns what is to be saved, if anything: all names but those for this process only.
    pub(crate) fn take_unsaved(&mut self) -> Option<UnsavedNames> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let mut servers: UnsavedNames =
            self.servers.iter().map(|(name, tools)| (name.clone(), tools.clone())).collect();
        if !self.for_now.is_empty() {
            for (_, server) in &mut servers {
                server.tools.retain(|_, name| !self.for_now.contains(name));
            }
        }
        Some(servers)
    }

    /// Notes that what was taken to be saved could not be.
    pub(crate) fn still_unsaved(&mut self) {
        self.is_changed = true;
    }

    /// Returns what tells this book of names from any other.
    pub(super) fn token(&self) -> &Arc<()> {
        &self.token
    }

    /// Returns the tools that have certain names, as `server/tool`; one pass over all names.
    pub(super) fn holders(&self, wanted: &HashSet<&str>) -> HashMap<Arc<str>, String> {
        let mut holders = HashMap::new();
        for (server, names) in &self.servers {
            for (tool, name) in names.tools.iter().filter(|(_, name)| wanted.contains(&***name)) {
                holders.insert(name.clone(), format!("{server}/{tool}"));
            }
        }
        holders
    }

    /// Gives every tool a name, in the order of the claims.
    pub(super) fn assign(&mut self, claims: &[Claims<'_>]) -> Vec<Vec<Arc<str>>> {
        self.round += 1;
        let (mut given, newcomers) = self.recall(claims);
        self.taken.reserve(newcomers.len());
        let others = self.give_wishes(&newcomers);
        let suffixed = self.give_suffixes(&newcomers, others);
        for (newcomer, name) in newcomers.iter().zip(suffixed) {
            let name = name.unwrap_or_else(|| newcomer.wish.stem.clone());
            given[newcomer.place.0][newcomer.place.1] = Some(name);
        }
        self.keep(claims, &newcomers, &given);
        given.into_iter().map(|names| names.into_iter().flatten().collect()).collect()
    }

    /// Finds the tools that have their names already. A name that no longer fits, because the
    /// prefix or the way of naming has changed, becomes free before newcomers are looked at.
    fn recall<'a>(&mut self, claims: &[Claims<'a>]) -> (Given, Vec<Newcomer<'a>>) {
        let mut newcomers = Vec::new();
        let mut given = Vec::with_capacity(claims.len());
        for (number, claim) in claims.iter().enumerate() {
            let mut known = self.servers.get_mut(claim.server);
            let mut names = Vec::with_capacity(claim.tools.len());
            for (index, (tool, wish)) in claim.tools.iter().copied().enumerate() {
                let own = known.as_ref().and_then(|known| known.tools.get(tool)).cloned();
                let fitting = own.clone().filter(|name| wish.allows(name));
                if let (Some(own), None) = (own, &fitting) {
                    self.taken.remove(&own);
                    known.as_mut().and_then(|known| known.tools.remove(tool));
                    self.is_changed = true;
                }
                if fitting.is_none() {
                    let place = (number, index);
                    newcomers.push(Newcomer { place, server: claim.server, tool, wish });
                }
                names.push(fitting);
            }
            given.push(names);
        }
        (given, newcomers)
    }

    /// Gives free names to those who wish for them; returns the others.
    fn give_wishes(&mut self, newcomers: &[Newcomer<'_>]) -> Vec<usize> {
        let mut others = Vec::new();
        for (index, newcomer) in newcomers.iter().enumerate() {
            if newcomer.wish.is_long {
                others.push(index);
                continue;
            }
            match self.taken.entry(newcomer.wish.stem.clone()) {
                Entry::Vacant(free) => {
                    free.insert(Taken { round: self.round, newcomer: index });
                }
                Entry::Occupied(mut taken) => {
                    let rival = *taken.get();
                    let is_open = rival.round == self.round;
                    if is_open && newcomer.rank() < newcomers[rival.newcomer].rank() {
                        taken.get_mut().newcomer = index;
                        others.push(rival.newcomer);
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
    /// Only where such a name is taken does it matter who comes first, and that hardly ever happens.
    /// So the others are put in order when it does, and begin anew.
    fn give_suffixes(
        &mut self,
        newcomers: &[Newcomer<'_>],
        mut others: Vec<usize>,
    ) -> Vec<Option<Arc<str>>> {
        let mut names = vec![None; newcomers.len()];
        let mut are_free = true;
        for &index in &others {
            names[index] = self.try_suffix(&newcomers[index], index, 0);
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
        others.sort_unstable_by_key(|index| (newcomers[*index].server, newcomers[*index].tool));
        for index in others {
            names[index] =
                (0..).find_map(|attempt| self.try_suffix(&newcomers[index], index, attempt));
        }
        names
    }

    /// Gives a name with letters of its own, if nobody has it.
    fn try_suffix(
        &mut self,
        newcomer: &Newcomer<'_>,
        index: usize,
        attempt: u32,
    ) -> Option<Arc<str>> {
        let name = newcomer.wish.with_suffix(newcomer.server, newcomer.tool, attempt);
        match self.taken.entry(name.clone()) {
            Entry::Vacant(free) => {
                free.insert(Taken { round: self.round, newcomer: index });
                Some(name)
            }
            Entry::Occupied(_) => None,
        }
    }

    fn keep(&mut self, claims: &[Claims<'_>], newcomers: &[Newcomer<'_>], given: &Given) {
        for claim in claims.iter().filter(|claim| !claim.tools.is_empty()) {
            if !self.servers.contains_key(claim.server) {
                self.servers.insert(claim.server.into(), ServerNames::default());
            }
            if let Some(known) = self.servers.get_mut(claim.server)
                && known.seen != self.today
            {
                known.seen = self.today;
                self.is_changed = true;
            }
        }
        let for_now = self.for_now.len();
        for newcomer in newcomers {
            let name = &given[newcomer.place.0][newcomer.place.1];
            if let Some(name) = name.as_ref().filter(|name| self.is_contested(name)) {
                self.for_now.insert(name.clone());
            }
        }
        self.is_changed |= newcomers.len() > self.for_now.len() - for_now;
        for group in newcomers.chunk_by(|a, b| a.place.0 == b.place.0) {
            let Some(known) = self.servers.get_mut(group[0].server) else { continue };
            known.tools.reserve(group.len());
            for newcomer in group {
                let name = given[newcomer.place.0][newcomer.place.1].clone();
                if let Some(name) = name {
                    known.tools.insert(newcomer.tool.into(), name);
                }
            }
        }
        for claim in claims {
            self.let_go(claim);
        }
    }

    fn is_contested(&self, name: &str) -> bool {
        let could_have =
            |other: &Contender| other.naming.may_name(name, &other.server, other.prefix.as_deref());
        self.contested.iter().any(could_have)
    }

    /// Frees the names of tools that are gone, if there are far too many.
    fn let_go(&mut self, claim: &Claims<'_>) {
        let Some(known) = self.servers.get_mut(claim.server) else { return };
        if known.tools.len() <= claim.tools.len() + MOST_GONE {
            return;
        }
        let present: HashSet<&str> = claim.tools.iter().map(|(tool, _)| *tool).collect();
        for (_, name) in known.tools.extract_if(|tool, _| !present.contains(&**tool)) {
            self.taken.remove(&name);
        }
    }
}
