//! The published state of all servers at one moment: immutable, shared, cheap to clone.
//!
//! A snapshot keeps its peers alive, and newer snapshots do not change it. Reading one takes no
//! lock.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tracing::span::Id;
use wharf_config::text::clip;
use wharf_config::{Level, Problem, ServerName, Source, TransportKind};
use wharf_protocol::Peer;
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::peer::ListCut;
use wharf_protocol::view::ServerCapabilities;

use super::shared::RuntimeSettings;
use crate::call::{CallDetails, CallError, CallErrorReason};
use crate::resolve::Secrets;
use crate::status::{ServerFailure, Status};
use crate::tools::omitted_tools::{self, OmitReason};
use crate::tools::server_tools::ServerTools;
use crate::tools::{Registry, Tool};
use crate::trust_gate::TrustedServer;

/// The code of the problem that a value was omitted.
pub(crate) const OMITTED_VALUE: &str = "omitted-value";

/// All servers and their tools at one moment.
pub struct Snapshot {
    servers: BTreeMap<ServerName, Arc<ServerSnapshot>>,
    pub(crate) settings: RuntimeSettings,
    registry: Arc<Registry>,
}

/// One server at one moment.
#[derive(Clone)]
pub struct ServerSnapshot {
    /// Its name.
    pub name: ServerName,
    /// The file that defines it.
    pub source: Arc<Source>,
    /// Its transport, if the entry names one.
    pub transport: Option<TransportKind>,
    /// Its status.
    pub status: Status,
    /// Why it is not connected.
    pub failure: Option<Arc<ServerFailure>>,
    /// The information of its last connection.
    pub info: Option<Arc<ConnectionInfo>>,
    /// Whether headless runs fail without it.
    pub is_required: bool,
    /// Why its tool list is not complete, if it is not.
    pub cut: Option<ListCut>,
    /// The problems of its definition.
    pub(crate) definition_problems: Arc<[Problem]>,
    /// The values that were omitted in the last attempt to connect.
    pub(crate) omissions: Arc<[Problem]>,
    pub(crate) trusted: Option<Arc<TrustedServer>>,
    pub(crate) peer: Option<Peer>,
    /// The span of the connection that `peer` belongs to.
    pub(crate) span_id: Option<Id>,
    pub(crate) server_tools: Option<Arc<ServerTools>>,
    /// The secrets to redact in its text.
    pub(crate) secrets: Arc<Secrets>,
}

/// Information about a connection: what the server declared, and how long it took.
#[derive(Debug, Clone)]
pub struct ConnectionInfo {
    /// The name that the server declares: untrusted text.
    pub name: String,
    /// Its version: untrusted text.
    pub version: String,
    /// The negotiated protocol revision.
    pub revision: Revision,
    /// The transport in use: `stdio`, `http`, `sse`, `in-process` for a server in this process, or
    /// `pipe` for a transport of the program.
    pub transport: &'static str,
    /// The server's instructions for a model's prompt: untrusted text.
    pub instructions: Option<String>,
    /// The capabilities that the server declares: untrusted. Without any if they are too large.
    pub capabilities: ServerCapabilities,
    /// How long connecting took.
    pub connect_time: Duration,
    /// How long listing its tools took.
    pub list_time: Duration,
}

impl ConnectionInfo {
    /// Returns the era that its revision belongs to.
    pub fn era(&self) -> Era {
        self.revision.era()
    }
}

impl Snapshot {
    pub(super) fn new(
        servers: BTreeMap<ServerName, Arc<ServerSnapshot>>,
        settings: RuntimeSettings,
        registry: Arc<Registry>,
    ) -> Self {
        Self { servers, settings, registry }
    }

    /// Returns all servers, ordered by name.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<ServerSnapshot>> {
        self.servers.values()
    }

    /// Returns a server by its name.
    pub fn server(&self, name: &str) -> Option<&Arc<ServerSnapshot>> {
        self.servers.get(&ServerName::new(name))
    }

    /// Returns all tools, live and cached ones, sorted by name.
    pub fn tools(&self) -> &[Arc<Tool>] {
        self.registry.tools()
    }

    /// Returns all tools with their names, live and cached ones.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the error for a tool that a server lists but that is excluded or unusable.
    pub fn excluded_tool(&self, text: &str) -> Option<(CallError, CallDetails)> {
        self.excluded_tool_where(text, |_, _| true)
    }

    /// Does the same for the tools that a condition on the raw names of server and tool allows.
    pub(crate) fn excluded_tool_where(
        &self,
        text: &str,
        is_allowed: impl Fn(&str, &str) -> bool,
    ) -> Option<(CallError, CallDetails)> {
        self.servers.values().find_map(|server| {
            let (server_tools, trusted) = (server.server_tools.as_ref()?, server.trusted.as_ref()?);
            let found = omitted_tools::find(server_tools, &trusted.spec.policy, text)?;
            if !is_allowed(found.server.as_str(), &found.tool) {
                return None;
            }
            let (name, tool) = (clip(found.server.as_str(), 100), clip(&found.tool, 100));
            let (message, hint) = match found.why {
                OmitReason::Excluded => (
                    format!("tool \"{tool}\" of \"{name}\" is excluded"),
                    format!("\"excludeTools\" in the entry of \"{name}\" leaves it out"),
                ),
                OmitReason::NotIncluded => (
                    format!("tool \"{tool}\" of \"{name}\" is excluded"),
                    format!("\"includeTools\" in the entry of \"{name}\" does not name it"),
                ),
                OmitReason::Unusable(why) => (
                    format!("tool \"{tool}\" of \"{name}\" was omitted: {why}"),
                    "report it to the author of the server".to_owned(),
                ),
            };
            let error = CallError::not_run(CallErrorReason::Omitted, message).with_hint(hint);
            Some((error, CallDetails::new(&found.server, &found.tool, &server.source)))
        })
    }

    /// Returns the servers that are connecting.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<ServerSnapshot>> {
        self.servers.values().filter(|server| server.status == Status::Connecting)
    }

    /// Returns the required servers that are not connected.
    pub fn missing_required(&self) -> impl Iterator<Item = &Arc<ServerSnapshot>> {
        let servers = self.servers.values();
        servers.filter(|server| server.is_required && server.status != Status::Connected)
    }
}

/// Shows the servers, each with its status and the number of its tools.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.servers.values().collect::<Vec<_>>()).finish()
    }
}

/// Shows only name, status and the number of tools: the rest may be secret.
impl fmt::Debug for ServerSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerSnapshot({} {}, {} tools)", self.name, self.status, self.tools())
    }
}

impl ServerSnapshot {
    /// Returns the number of its tools, live or cached.
    pub fn tools(&self) -> usize {
        self.server_tools.as_ref().map_or(0, |server_tools| server_tools.len())
    }

    /// Returns all problems of the server, errors and warnings.
    pub fn problems(&self) -> Vec<Problem> {
        let tool_problems =
            self.server_tools.iter().flat_map(|server_tools| server_tools.problems());
        let cut = self.cut_problem();
        self.definition_problems
            .iter()
            .chain(&*self.omissions)
            .cloned()
            .chain(tool_problems)
            .chain(cut)
            .collect()
    }

    /// Returns a problem if its tool list is not complete.
    pub fn cut_problem(&self) -> Option<Problem> {
        self.cut.map(|cut| cut_problem(&self.name, "tools", cut))
    }

    /// Returns why it is not connected, in one line, with the last meaningful line of its stderr.
    pub fn connection_problem(&self) -> Option<String> {
        match (self.status, &self.failure) {
            (Status::Untrusted, _) => Some("came with this project and is not trusted".to_owned()),
            (_, Some(failure)) if self.status != Status::Connected => Some(failure.in_one_line()),
            _ => None,
        }
    }

    /// Returns the values that were omitted in the last attempt to connect: headers, variables or a
    /// credential that could not be resolved.
    pub fn omitted_values(&self) -> Vec<Problem> {
        self.omissions.iter().filter(|problem| problem.code == OMITTED_VALUE).cloned().collect()
    }

    /// Tells whether it came with a project.
    pub fn is_from_project(&self) -> bool {
        self.source.level == Level::Project
    }

    /// Returns the prefix that replaces its name in tool names.
    pub(crate) fn prefix(&self) -> Option<&str> {
        self.trusted.as_ref()?.spec.policy.prefix.as_deref()
    }

    /// Tells whether its tools are known, live or cached.
    pub(crate) fn has_known_tools(&self) -> bool {
        self.server_tools.is_some()
    }
}

/// Makes the problem of a list that was cut off.
pub(crate) fn cut_problem(server: &ServerName, what: &str, cut: ListCut) -> Problem {
    Problem::warning("list-cut", format!("its list of {what} was cut: {cut}"))
        .of_server(server.as_str())
        .hint(format!(
            "only the {what} before the limit can be used; report this to the author of the server"
        ))
}
