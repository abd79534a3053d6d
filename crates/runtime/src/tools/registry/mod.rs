//! All tools of all servers under their names, immutable.
//!
//! An offer remembers its named tools, so a registry in which one of many servers has changed costs
//! little more than a list of pointers. Denied and withheld tools keep their names and are found by a
//! call, which can then say why it is refused; they are not listed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use wharf_config::{Problem, text};

use super::alias;
use super::names::{Claims, Names};
use super::offer::{Offer, Prepared};
use super::tool::{Tool, Visibility};

/// How many of a server's renamed tools are told by name.
const MOST_TOLD: usize = 3;

/// How many characters of a raw name are shown.
const MOST_SHOWN: usize = 60;

/// The tools of an offer under their names.
#[derive(Debug)]
pub(super) struct Named {
    /// The book that the names are from.
    book: Arc<()>,
    /// By name.
    offered: Vec<Arc<Tool>>,
    /// By name.
    hidden: Vec<Arc<Tool>>,
    collisions: Option<Problem>,
}

/// All tools under their names.
#[derive(Debug, Default)]
pub struct Registry {
    tools: Vec<Arc<Tool>>,
    hidden: Vec<Arc<Tool>>,
    problems: Vec<Problem>,
}

/// What a name given by somebody leads to.
#[derive(Debug)]
pub enum Found<'a> {
    /// A tool.
    Tool(&'a Arc<Tool>),
    /// A tool that is not offered; its [`Tool::visibility`] says why.
    Hidden(&'a Arc<Tool>),
    /// Several tools; each can be called by its own name.
    Ambiguous(Vec<&'a Arc<Tool>>),
    /// Nothing.
    Unknown,
}

impl Registry {
    /// Puts the offers of different servers together; of two offers of one server the first counts.
    pub(crate) fn build(offers: &[Arc<Offer>], names: &mut Names) -> Self {
        let mut servers = HashSet::with_capacity(offers.len());
        let offers: Vec<&Offer> = offers
            .iter()
            .filter(|offer| servers.insert(offer.server()))
            .map(|offer| &**offer)
            .collect();
        let has_names = |offer: &Offer| {
            offer.named.get().is_some_and(|named| Arc::ptr_eq(&named.book, names.token()))
        };
        let (known, unnamed): (Vec<&Offer>, Vec<&Offer>) =
            offers.into_iter().partition(|offer| has_names(offer));
        let fresh = name_all(&unnamed, names);
        let strangers: Vec<Named> = unnamed
            .iter()
            .zip(fresh)
            // Only an offer that was named from another book keeps those names.
            .filter_map(|(offer, named)| offer.named.set(named).err())
            .collect();
        let groups = known.iter().chain(&unnamed).filter_map(|offer| {
            offer.named.get().filter(|group| Arc::ptr_eq(&group.book, names.token()))
        });
        Self::gather(groups.chain(&strangers).collect())
    }

    /// Returns the tools that are offered, by name.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// Returns the tools that are denied or withheld, by name.
    pub fn hidden(&self) -> &[Arc<Tool>] {
        &self.hidden
    }

    /// Returns a tool that is offered, by its name or an alias that means no other tool.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        match self.find(name) {
            Found::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Finds what a text means: the name of a tool, else `server/tool`, `server.tool`, `server tool` or
    /// `mcp__server__tool` with the raw names, else the raw name of a tool that only one server has.
    pub fn find(&self, name: &str) -> Found<'_> {
        for (tools, is_offered) in [(&self.tools, true), (&self.hidden, false)] {
            if let Ok(index) = tools.binary_search_by(|tool| tool.name().cmp(name)) {
                let tool = &tools[index];
                return if is_offered { Found::Tool(tool) } else { Found::Hidden(tool) };
            }
        }
        let all = || self.tools.iter().chain(&self.hidden);
        let is_alias =
            |tool: &&Arc<Tool>| alias::tool_of(name, tool.server().as_str()) == Some(tool.tool());
        let mut meant: Vec<&Arc<Tool>> = all().filter(is_alias).collect();
        if meant.is_empty() {
            meant = all().filter(|tool| tool.tool() == name).collect();
        }
        match (meant.len(), meant.pop()) {
            (1, Some(tool)) if tool.visibility() == Visibility::Offered => Found::Tool(tool),
            (1, Some(tool)) => Found::Hidden(tool),
            (_, Some(tool)) => {
                meant.push(tool);
                Found::Ambiguous(meant)
            }
            (_, None) => Found::Unknown,
        }
    }

    /// Returns the name of the offered tool that was probably meant: by its name, by `server/tool`, or
    /// by its raw name.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let path = |tool: &Tool| format!("{}/{}", tool.server(), tool.tool());
        let is_path = name.contains(['/', '.', ' ']);
        let meant =
            if name.contains('/') { name.to_owned() } else { name.replacen(['.', ' '], "/", 1) };
        let word = |tool: &Tool, is_raw: bool| match (is_path, is_raw) {
            (true, _) => path(tool),
            (false, true) => tool.tool().to_owned(),
            (false, false) => tool.name().to_owned(),
        };
        [false, true].into_iter().find_map(|is_raw| {
            let words: Vec<String> = self.tools.iter().map(|tool| word(tool, is_raw)).collect();
            let nearest = text::nearest(&meant, words.iter().map(String::as_str))?;
            let index = words.iter().position(|word| word == nearest)?;
            Some(self.tools[index].name())
        })
    }

    /// Returns the collisions of names, one problem per server.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn gather(mut named: Vec<&Named>) -> Self {
        let mut problems: Vec<Problem> =
            named.iter().filter_map(|named| named.collisions.clone()).collect();
        problems.sort_by(|a, b| a.server.cmp(&b.server));
        // The tools of a server mostly stand together, so this leaves next to nothing to sort.
        named.sort_by_key(|named| named.offered.first().map(|tool| tool.name()));
        let tools = named.iter().flat_map(|named| &named.offered).cloned();
        let hidden = named.iter().flat_map(|named| &named.hidden).cloned();
        Self { tools: sorted(tools.collect()), hidden: sorted(hidden.collect()), problems }
    }
}

fn sorted(mut tools: Vec<Arc<Tool>>) -> Vec<Arc<Tool>> {
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// Gives names to the tools of offers that have none.
fn name_all(offers: &[&Offer], names: &mut Names) -> Vec<Named> {
    let claims: Vec<Claims<'_>> = offers
        .iter()
        .map(|offer| Claims {
            server: offer.server().as_str(),
            tools: (offer.tools.iter())
                .map(|tool| (&**offer.origin.listed.tools[tool.index].name(), &tool.wish))
                .collect(),
        })
        .collect();
    let given = names.assign(&claims);
    let told = offers.iter().zip(&given).flat_map(|(offer, given)| {
        renamed(offer, given).take(MOST_TOLD).map(|(tool, _)| &*tool.wish.stem)
    });
    let holders = names.holders(&told.collect());
    let groups = offers.iter().zip(given).map(|(offer, given)| {
        let collisions = collisions(offer, &given, &holders);
        let (offered, hidden) = tools_of(offer, &given);
        Named { book: names.token().clone(), offered, hidden, collisions }
    });
    groups.collect()
}

/// Makes the tools of an offer: those to be listed, and the others; each by name.
fn tools_of(offer: &Offer, given: &[Arc<str>]) -> (Vec<Arc<Tool>>, Vec<Arc<Tool>>) {
    let (mut offered, mut hidden) = (Vec::with_capacity(given.len()), Vec::new());
    for index in by_name(given) {
        let tool = &offer.tools[index];
        let tool = Arc::new(Tool {
            name: given[index].clone(),
            origin: offer.origin.clone(),
            index: tool.index,
            schema: tool.schema.clone(),
            strict: OnceLock::new(),
            approval: tool.approval,
            visibility: tool.visibility,
            check: OnceLock::new(),
        });
        let is_offered = tool.visibility == Visibility::Offered;
        if is_offered { &mut offered } else { &mut hidden }.push(tool);
    }
    (offered, hidden)
}

/// Returns the places of different names in their order.
///
/// The names of a server begin alike, and the sixteen bytes from where they do not are mostly enough
/// to tell which comes first. Kept side by side they are compared much faster than texts that lie
/// all over the memory.
fn by_name(names: &[Arc<str>]) -> impl Iterator<Item = usize> {
    let first = names.first().map_or("", |name| name).as_bytes();
    let common = names.iter().fold(first.len(), |common, name| {
        let pairs = name.as_bytes().iter().zip(&first[..common]);
        pairs.take_while(|(own, first)| own == first).count()
    });
    let telling = |name: &str| {
        let mut bytes = [0; 16];
        for (byte, own) in bytes.iter_mut().zip(&name.as_bytes()[common..]) {
            *byte = *own;
        }
        u128::from_be_bytes(bytes)
    };
    let mut places: Vec<(u128, usize)> =
        names.iter().enumerate().map(|(index, name)| (telling(name), index)).collect();
    places.sort_unstable_by(|(a, left), (b, right)| {
        a.cmp(b).then_with(|| names[*left].cmp(&names[*right]))
    });
    places.into_iter().map(|(_, index)| index)
}

/// Returns the tools that did not get the name they wished for.
fn renamed<'a>(
    offer: &'a Offer,
    given: &'a [Arc<str>],
) -> impl Iterator<Item = (&'a Prepared, &'a Arc<str>)> {
    let pairs = offer.tools.iter().zip(given);
    pairs.filter(|(tool, name)| !tool.wish.is_long && **name != tool.wish.stem)
}

/// Reports the tools that did not get their names, the first of them by name.
fn collisions(
    offer: &Offer,
    given: &[Arc<str>],
    holders: &HashMap<Arc<str>, String>,
) -> Option<Problem> {
    let count = renamed(offer, given).count();
    let told = renamed(offer, given).take(MOST_TOLD).map(|(tool, name)| {
        let raw = text::clip(offer.origin.listed.tools[tool.index].name(), MOST_SHOWN);
        let stem = &tool.wish.stem;
        let holder = holders.get(stem).map_or("another tool", String::as_str);
        format!("\"{raw}\" is {name}, since \"{}\" is {stem}", text::clip(holder, MOST_SHOWN))
    });
    let mut message = format!("names already taken: {}", told.collect::<Vec<_>>().join("; "));
    if count > MOST_TOLD {
        message = format!("{message}; and {} more", count - MOST_TOLD);
    }
    let problem = Problem::warning("name-collision", message).of_server(offer.server().as_str());
    (count > 0).then(|| problem.hint("`prefix` gives a server's tools names of their own"))
}

#[cfg(test)]
mod tests;
