//! Finds the tool that a call names, within the scope of the caller.

use std::sync::Arc;
use std::time::Duration;

use super::execution::unavailable;
use crate::call::{CallDetails, CallError};
use crate::connections::{ServerSnapshot, Snapshot};
use crate::runtime::{Runtime, Unavailable};
use crate::scope::Scope;
use crate::status::Status;
use crate::tools::{Tool, ToolMatch, strip_server_name};

/// How many of several tools are named.
const MAX_NAMED: usize = 5;

/// How many servers that are not connected are named.
const MAX_MISSING: usize = 3;

impl Runtime {
    /// Finds a tool by a name or an alias. A name that only a cached list lacks waits for the live
    /// list, at most `limit`. For the caller, tools outside of its scope do not exist.
    pub(super) async fn look_up(
        &self,
        name: &str,
        scope: &Scope,
        limit: Duration,
    ) -> Result<Arc<Tool>, (CallError, CallDetails)> {
        let is_allowed = |server: &ServerSnapshot| scope.allows_server(server.name.as_str());
        let listed = tokio::time::timeout(limit, self.listed_within(name, is_allowed)).await;
        let snapshot = listed.unwrap_or_else(|_| self.snapshot());
        let registry = snapshot.registry();
        let narrowed = match registry.find(name) {
            // The usual case needs no list of the tools in the scope.
            ToolMatch::Tool(tool) | ToolMatch::Hidden(tool)
                if scope.allows(tool) && !self.is_of_another_server(name, tool, &snapshot) =>
            {
                return Ok(Arc::clone(tool));
            }
            _ if scope.allows_everything() => Arc::clone(registry),
            _ => Arc::new(registry.narrowed(|tool| scope.allows(tool))),
        };
        match narrowed.find(name) {
            ToolMatch::Tool(tool) | ToolMatch::Hidden(tool)
                if !self.is_of_another_server(name, tool, &snapshot) =>
            {
                Ok(Arc::clone(tool))
            }
            ToolMatch::Ambiguous(tools) => {
                let names: Vec<&str> =
                    tools.iter().take(MAX_NAMED).map(|tool| tool.name()).collect();
                Err((CallError::ambiguous_tool(name, &names), CallDetails::without_server(name)))
            }
            ToolMatch::Tool(_) | ToolMatch::Hidden(_) | ToolMatch::Unknown => {
                let nearest = narrowed.nearest(name);
                let wanted = NotFound { text: name, snapshot: &snapshot, scope, nearest };
                Err(self.not_found(&wanted, limit))
            }
        }
    }

    /// Tells whether a text is the raw name of a tool, but names another server as in `server.tool`.
    /// While that server is not connected, its calls must not reach the one with the raw name.
    fn is_of_another_server(&self, text: &str, tool: &Tool, snapshot: &Snapshot) -> bool {
        tool.tool() == text
            && tool.name() != text
            && self.servers_named(text, snapshot).iter().any(|named| named != tool.server())
    }

    /// Returns why no tool has this name: the server that it names is not connected, or does not
    /// have such a tool. The result does not depend on whether the tools of the server were cached.
    fn not_found(&self, wanted: &NotFound<'_>, limit: Duration) -> (CallError, CallDetails) {
        let &NotFound { text, snapshot, scope, nearest } = wanted;
        let is_allowed = |server: &str, tool: &str| scope.allows_tool(server, tool);
        if let Some(excluded) = snapshot.excluded_tool_where(text, is_allowed) {
            return excluded;
        }
        let mut named = self.servers_named(text, snapshot);
        named.retain(|name| scope.allows_server(name.as_str()));
        let views: Vec<&Arc<ServerSnapshot>> =
            named.iter().filter_map(|name| snapshot.server(name.as_str())).collect();
        let why = |view: &&Arc<ServerSnapshot>| match view.status {
            status if status.is_pending() => {
                Some(Unavailable::TimedOut { server: view.name.clone(), limit })
            }
            _ => self.check_connected(view).err(),
        };
        let trouble = views.iter().find_map(|view| Some((*view, why(view)?)));
        let details = |view: &ServerSnapshot| {
            let server = view.name.as_str();
            let naming = self.settings().tools.naming;
            let tool = strip_server_name(text, server)
                .or_else(|| naming.tool_part(text, server, view.prefix()))
                .unwrap_or(text);
            CallDetails::new(&view.name, tool, &view.source)
        };
        match (trouble, &views[..]) {
            (Some((view, why)), _) => (unavailable(why), details(view)),
            (None, [view]) => (CallError::unknown_tool(text, nearest), details(view)),
            (None, _) => (wanted.unknown_without_server(self), CallDetails::without_server(text)),
        }
    }
}

/// A name that no tool in the scope has.
struct NotFound<'a> {
    text: &'a str,
    snapshot: &'a Snapshot,
    scope: &'a Scope,
    nearest: Option<&'a str>,
}

impl NotFound<'_> {
    /// Returns the error for a name that names no server. While the tools of some servers are not
    /// known, the tool may be one of theirs.
    fn unknown_without_server(&self, runtime: &Runtime) -> CallError {
        if runtime.has_shut_down() {
            return unavailable(Unavailable::ShutDown);
        }
        let missing = self.snapshot.servers().filter(|server| {
            let may_come = matches!(
                server.status,
                Status::Connecting | Status::Reconnecting | Status::Disconnected
            );
            may_come && !server.has_known_tools() && self.scope.allows_server(server.name.as_str())
        });
        let missing: Vec<(&str, Status)> =
            missing.map(|server| (server.name.as_str(), server.status)).collect();
        match &missing[..] {
            [] => CallError::unknown_tool(self.text, self.nearest),
            _ => CallError::tool_not_listed_yet(
                self.text,
                &missing[..missing.len().min(MAX_MISSING)],
            ),
        }
    }
}
