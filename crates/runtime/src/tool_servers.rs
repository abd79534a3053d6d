//! Finds the servers that may have the tool that a text names, before and after connecting.
//!
//! The text is the name of a tool, `server/tool`, `server.tool`, `server tool`,
//! `mcp__server__tool`, or the raw name of a tool that only one server has. The
//! [`Registry`](crate::tools::Registry) then finds the tool itself. A cached list can name servers
//! to connect to, but never proves that a tool does not exist.

use std::collections::BTreeSet;
use std::sync::Arc;

use wharf_config::{Catalog, Server, ServerName};

use crate::connections::{ServerSnapshot, Snapshot};
use crate::options::Options;
use crate::runtime::Runtime;
use crate::status::Status;
use crate::store::attempts::AttemptsFile;
use crate::store::server_identity::ServerIdentity;
use crate::store::tool_cache::ToolCache;
use crate::store::tool_names::ToolNamesFile;
use crate::tools::{Naming, ToolMatch, alias, naming};
use crate::trust_gate::{self, GateDecision};

/// The servers that may have the tool that a text names, whatever their status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolServers {
    /// The text names these servers. There is at least one.
    Named(Vec<ServerName>),
    /// The text names no server. These have a tool of this raw name in the cache, or nothing is
    /// cached of them. There is at least one.
    Likely(Vec<ServerName>),
    /// Nothing is known: every server may have the tool.
    Any,
}

impl ToolServers {
    /// Tells whether a server is among them.
    pub fn includes(&self, server: &str) -> bool {
        match self {
            Self::Named(names) | Self::Likely(names) => {
                names.iter().any(|name| name.as_str() == server)
            }
            Self::Any => true,
        }
    }

    /// Returns the servers that the text names; none if it names none.
    pub fn named(&self) -> &[ServerName] {
        match self {
            Self::Named(names) => names,
            Self::Likely(_) | Self::Any => &[],
        }
    }
}

/// Finds the servers that may have the tool that a text names, without connecting to any.
///
/// Uses the names of the servers first. Reads the stored tool names and the cached lists only if
/// the server names do not decide it.
///
/// ```
/// use wharf::config::load;
/// use wharf::{
///     Env, LoadOptions, Options, Platform, ServerName, ToolServers, servers_of_tool,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let servers = r#"{ "db": { "command": "a" }, "db2": { "command": "b" } }"#;
/// let env = Env::new(Platform::HOST, folder.path())
///     .with_home(folder.path())
///     .with_variable("WHARF_MCP_SERVERS", servers);
/// let catalog = load(&env, LoadOptions::default())?;
/// let options = Options::new(env);
/// let found = servers_of_tool("db2/echo", &catalog, &options);
/// assert_eq!(found, ToolServers::Named(vec![ServerName::new("db2")]));
/// assert_eq!(servers_of_tool("echo", &catalog, &options), ToolServers::Any);
/// # Ok(())
/// # }
/// ```
pub fn servers_of_tool(text: &str, catalog: &Catalog, options: &Options) -> ToolServers {
    let naming = Naming::from(&catalog.settings);
    let mut seen = BTreeSet::new();
    let winners = catalog.winners().into_iter();
    // The text may also name a server without a winner.
    let all =
        winners.chain(&catalog.servers).map(|server| (&server.definition.name, prefix(server)));
    let all = all.filter(|(name, _)| seen.insert(*name));
    let named = servers_named_by(text, naming, all);
    match &named[..] {
        [] => servers_with_tool(text, catalog, options),
        [_] => ToolServers::Named(named),
        [..] => ToolServers::Named(name_owner(text, options).map_or_else(
            || named.clone(),
            |owner| match named.iter().find(|name| name.as_str() == owner) {
                Some(owner) => vec![owner.clone()],
                None => named.clone(),
            },
        )),
    }
}

fn prefix(server: &Server) -> Option<&str> {
    server.definition.fields.policy.prefix.as_deref()
}

/// Returns the servers that a text names, by their names and prefixes.
pub(crate) fn servers_named_by<'a>(
    text: &str,
    naming: Naming,
    servers: impl Iterator<Item = (&'a ServerName, Option<&'a str>)>,
) -> Vec<ServerName> {
    let is_name = naming::is_name(text);
    let is_named = |(server, prefix): &(&ServerName, Option<&str>)| {
        alias::strip_server_name(text, server.as_str()).is_some()
            || is_name && naming.may_name(text, server.as_str(), *prefix)
    };
    servers.filter(is_named).map(|(server, _)| server.clone()).collect()
}

/// Returns the server to which a full tool name is assigned.
fn name_owner(text: &str, options: &Options) -> Option<String> {
    let folder = options.cache.as_ref().filter(|_| naming::is_name(text))?;
    ToolNamesFile::open(Some(folder)).owner(text)
}

/// Returns the servers with a cached tool of this raw name, and those without a cached list, except
/// ones whose last attempt to connect failed.
fn servers_with_tool(text: &str, catalog: &Catalog, options: &Options) -> ToolServers {
    let Some(folder) = &options.cache else { return ToolServers::Any };
    let cache = ToolCache::read_only(folder).for_client(&options.client_features.capabilities());
    if cache.is_empty() {
        return ToolServers::Any;
    }
    let attempts = AttemptsFile::open(Some(folder)).load();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for planned in trust_gate::plan(catalog, &options.env) {
        let GateDecision::Allowed(server) = &planned.decision else { continue };
        let key = cache.key(&ServerIdentity::new(server, &options.env));
        match cache.load(&key) {
            Some(cached) if cached.tools.iter().any(|tool| **tool.name() == *text) => {
                known.push(planned.name);
            }
            Some(_) => {}
            None if attempts.get(&key).is_some_and(|last| !last.is_ok()) => {}
            None => unknown.push(planned.name),
        }
    }
    if known.is_empty() {
        return ToolServers::Any;
    }
    known.append(&mut unknown);
    ToolServers::Likely(known)
}

impl Runtime {
    /// Waits for the tool lists that decide which tool a text names, and returns the snapshot.
    ///
    /// Does not wait for a tool that is known, live or cached. Otherwise connects and awaits the
    /// servers that the text names, or all servers if it names none, each within its own limit. A
    /// server that is not named and whose last attempt failed gets the short limit of a startup.
    pub async fn listed_for(&self, text: &str) -> Arc<Snapshot> {
        self.listed_within(text, |_| true).await
    }

    /// Works like `listed_for` with only the allowed servers; the others are neither connected nor awaited.
    pub(crate) async fn listed_within(
        &self,
        text: &str,
        is_allowed: impl Fn(&ServerSnapshot) -> bool,
    ) -> Arc<Snapshot> {
        let snapshot = self.snapshot();
        let is_raw = match snapshot.registry().find(text) {
            // A server whose tools are not known yet may have a tool of the same raw name.
            ToolMatch::Tool(tool) | ToolMatch::Hidden(tool) => {
                let is_raw = tool.tool() == text && tool.name() != text;
                if !is_raw {
                    return snapshot;
                }
                true
            }
            ToolMatch::Ambiguous(_) | ToolMatch::Unknown => false,
        };
        let named = self.servers_named(text, &snapshot);
        let is_awaited = |server: &ServerSnapshot| {
            let is_meant = if is_raw {
                !server.has_known_tools()
            } else {
                named.is_empty() || named.contains(&server.name)
            };
            is_meant && is_allowed(server)
        };
        for server in snapshot.servers().filter(|server| is_awaited(server)) {
            let needs_connection = match server.status {
                Status::Disconnected => !is_raw,
                Status::Failed | Status::NeedsAuth => !named.is_empty(),
                _ => false,
            };
            if needs_connection {
                self.connect_in_background(server.name.as_str()).await;
            }
        }
        if named.is_empty() {
            return self.wait_for_needed(is_awaited).await;
        }
        self.wait_for_snapshot(|now| now.pending().all(|server| !is_awaited(server))).await
    }

    /// Returns the servers of a snapshot that a text names.
    pub(crate) fn servers_named(&self, text: &str, snapshot: &Snapshot) -> Vec<ServerName> {
        let naming = self.settings().tools.naming;
        servers_named_by(
            text,
            naming,
            snapshot.servers().map(|server| (&server.name, server.prefix())),
        )
    }
}
