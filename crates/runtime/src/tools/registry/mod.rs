//! All tools of all servers, sorted by name; immutable.
//!
//! The named tools of each server are cached, so that rebuilding after a change of one server
//! mostly copies pointers. Denied and withheld tools are not listed, but they keep their names,
//! and a call finds them and is refused with the reason.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use wharf_config::{Problem, text};

use super::alias;
use super::name_table::{NameRequest, NameTable};
use super::server_tools::{PreparedTool, ServerTools};
use super::tool::{Tool, Visibility};

/// The maximum number of renamed tools in a message.
const MAX_LISTED_NAMES: usize = 3;

/// The maximum number of characters of a raw name in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// The tools of one server with their assigned names.
#[derive(Debug)]
pub(super) struct NamedTools {
    /// Sorted by name.
    listed: Vec<Arc<Tool>>,
    /// Sorted by name.
    hidden: Vec<Arc<Tool>>,
    collisions: Option<Problem>,
}

/// All tools, sorted by name.
#[derive(Debug, Default)]
pub struct Registry {
    tools: Vec<Arc<Tool>>,
    hidden: Vec<Arc<Tool>>,
    problems: Vec<Problem>,
}

/// The result of looking up a name or an alias.
#[derive(Debug)]
pub enum ToolMatch<'a> {
    /// A tool.
    Tool(&'a Arc<Tool>),
    /// A tool that is not listed; its [`Tool::visibility`] says why.
    Hidden(&'a Arc<Tool>),
    /// Several tools; each can be called by its assigned name.
    Ambiguous(Vec<&'a Arc<Tool>>),
    /// No tool.
    Unknown,
}

impl<'a> ToolMatch<'a> {
    fn of(tool: &'a Arc<Tool>) -> Self {
        match tool.visibility() {
            Visibility::Listed => Self::Tool(tool),
            Visibility::Denied | Visibility::Withheld => Self::Hidden(tool),
        }
    }
}

impl Registry {
    /// Builds the registry from the tools of all servers.
    pub(crate) fn build(all_tools: &[Arc<ServerTools>], names: &mut NameTable) -> Self {
        let unnamed: Vec<&ServerTools> = all_tools
            .iter()
            .map(|server_tools| &**server_tools)
            .filter(|server_tools| server_tools.named.get().is_none())
            .collect();
        for (server_tools, named) in unnamed.iter().zip(assign_names(&unnamed, names)) {
            server_tools.named.get_or_init(|| named);
        }
        Self::merge(all_tools.iter().filter_map(|server_tools| server_tools.named.get()).collect())
    }

    /// Returns the listed tools, sorted by name.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// Returns the denied and withheld tools, sorted by name.
    pub fn hidden(&self) -> &[Arc<Tool>] {
        &self.hidden
    }

    /// Returns a listed tool by its name or by an unambiguous alias.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        match self.find(name) {
            ToolMatch::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Finds a tool by its assigned name, else by `server/tool`, `server.tool`, `server tool` or
    /// `mcp__server__tool` with the raw names, else by a raw name that only one server has.
    ///
    /// A server may give a tool any raw name, also the path of another server's tool. So a text that
    /// is a path or an assigned name is never a raw name.
    pub fn find(&self, name: &str) -> ToolMatch<'_> {
        for tools in [&self.tools, &self.hidden] {
            if let Ok(index) = tools.binary_search_by(|tool| tool.name().cmp(name)) {
                return ToolMatch::of(&tools[index]);
            }
        }
        let all = || self.tools.iter().chain(&self.hidden);
        let is_alias = |tool: &&Arc<Tool>| {
            alias::strip_server_name(name, tool.server().as_str()) == Some(tool.tool())
        };
        let mut meant: Vec<&Arc<Tool>> = all().filter(is_alias).collect();
        if meant.is_empty() && !name.contains('/') && !name.starts_with("mcp_") {
            meant = all().filter(|tool| tool.tool() == name).collect();
        }
        match meant[..] {
            [] => ToolMatch::Unknown,
            [tool] => ToolMatch::of(tool),
            [..] => ToolMatch::Ambiguous(meant),
        }
    }

    /// Returns the name of the listed tool with the most similar name, `server/tool` or raw name.
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

    /// Returns the registry with only some of its tools.
    pub(crate) fn narrowed(&self, is_allowed: impl Fn(&Tool) -> bool) -> Self {
        let allowed = |tools: &[Arc<Tool>]| {
            tools.iter().filter(|tool| is_allowed(tool)).cloned().collect::<Vec<_>>()
        };
        let (tools, hidden) = (allowed(&self.tools), allowed(&self.hidden));
        Self { tools, hidden, problems: Vec::new() }
    }

    /// Returns the collisions of names, one problem per server.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn merge(mut named: Vec<&NamedTools>) -> Self {
        let mut problems: Vec<Problem> =
            named.iter().filter_map(|named| named.collisions.clone()).collect();
        problems.sort_by(|a, b| a.server.cmp(&b.server));
        // The tools of a server are mostly adjacent, so little is left to sort.
        named.sort_by_key(|named| named.listed.first().map(|tool| tool.name()));
        let tools = named.iter().flat_map(|named| &named.listed).cloned();
        let hidden = named.iter().flat_map(|named| &named.hidden).cloned();
        Self { tools: sorted(tools.collect()), hidden: sorted(hidden.collect()), problems }
    }
}

fn sorted(mut tools: Vec<Arc<Tool>>) -> Vec<Arc<Tool>> {
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// Assigns names to the tools of lists that have none.
fn assign_names(all_tools: &[&ServerTools], names: &mut NameTable) -> Vec<NamedTools> {
    let requests: Vec<NameRequest<'_>> = all_tools
        .iter()
        .map(|server_tools| NameRequest {
            server: server_tools.server().as_str(),
            tools: (server_tools.tools.iter())
                .map(|tool| (&**server_tools.listed()[tool.index].name(), &tool.preferred))
                .collect(),
        })
        .collect();
    let assigned = names.assign(&requests);
    let wanted = all_tools.iter().zip(&assigned).flat_map(|(server_tools, assigned)| {
        renamed(server_tools, assigned)
            .take(MAX_LISTED_NAMES)
            .map(|(tool, _)| &*tool.preferred.stem)
    });
    let owners = names.tools_named(&wanted.collect());
    let groups = all_tools.iter().zip(assigned).map(|(server_tools, assigned)| {
        let collisions = collisions(server_tools, &assigned, &owners, names);
        let (listed, hidden) = tools_of(server_tools, &assigned);
        NamedTools { listed, hidden, collisions }
    });
    groups.collect()
}

/// Creates the tools of one server, listed and hidden ones, each sorted by name.
fn tools_of(server_tools: &ServerTools, assigned: &[Arc<str>]) -> (Vec<Arc<Tool>>, Vec<Arc<Tool>>) {
    let mut named: Vec<_> = assigned.iter().zip(&server_tools.tools).collect();
    named.sort_unstable_by_key(|(name, _)| *name);
    let tools = named.into_iter().map(|(name, tool)| {
        Arc::new(Tool {
            name: name.clone(),
            origin: server_tools.origin.clone(),
            index: tool.index,
            schema: tool.schema.clone(),
            strict: OnceLock::new(),
            approval: tool.approval,
            visibility: tool.visibility,
            check: OnceLock::new(),
        })
    });
    tools.partition(|tool| tool.visibility == Visibility::Listed)
}

/// Returns the tools that did not get their preferred names.
fn renamed<'a>(
    server_tools: &'a ServerTools,
    assigned: &'a [Arc<str>],
) -> impl Iterator<Item = (&'a PreparedTool, &'a Arc<str>)> {
    let pairs = server_tools.tools.iter().zip(assigned);
    pairs.filter(|(tool, name)| !tool.preferred.is_long && **name != tool.preferred.stem)
}

/// Returns a problem for the tools that did not get their preferred names.
fn collisions(
    server_tools: &ServerTools,
    assigned: &[Arc<str>],
    owners: &HashMap<Arc<str>, String>,
    names: &NameTable,
) -> Option<Problem> {
    let count = renamed(server_tools, assigned).count();
    let renamed_tools =
        renamed(server_tools, assigned).take(MAX_LISTED_NAMES).map(|(tool, name)| {
            let raw = text::clip(server_tools.listed()[tool.index].name(), MAX_SHOWN_CHARS);
            let stem = &tool.preferred.stem;
            let why = match (owners.get(stem), names.owner(stem)) {
                (Some(tool), _) => format!("\"{}\" is {stem}", text::clip(tool, MAX_SHOWN_CHARS)),
                (None, Some(server)) => {
                    format!("{stem} is kept for server \"{}\"", text::clip(server, MAX_SHOWN_CHARS))
                }
                (None, None) => format!("another tool is {stem}"),
            };
            format!("\"{raw}\" is {name}, since {why}")
        });
    let mut message =
        format!("names already taken: {}", renamed_tools.collect::<Vec<_>>().join("; "));
    if count > MAX_LISTED_NAMES {
        message = format!("{message}; and {} more", count - MAX_LISTED_NAMES);
    }
    let problem =
        Problem::warning("name-collision", message).of_server(server_tools.server().as_str());
    (count > 0).then(|| problem.hint("set `prefix` to give the server's tools other names"))
}

#[cfg(test)]
mod tests;
