//! Finds the tool that a call means, and turns whatever happens into an outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tracing::Instrument;
use wharf_protocol::Json;

use super::execution::{Execution, unavailable};
use crate::approval::CallOrigin;
use crate::call::{CallDetails, CallError, Outcome, PhaseTracker};
use crate::connections::{ServerSnapshot, Snapshot};
use crate::runtime::{Runtime, Unavailable};
use crate::spans;
use crate::tools::{Tool, ToolMatch, strip_server_name};

/// How many of several tools are named.
const MAX_NAMED: usize = 5;

/// How one call is made.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Who calls: an agent needs approval, a person who typed the call does not.
    pub caller: CallOrigin,
    /// How long connecting may take, and then how long the server may be silent; without it, its
    /// entry decides. The approver is not limited.
    pub timeout: Option<Duration>,
    /// Receives the parameters of each `notifications/progress` as they came, which is untrusted
    /// text. Called in the task that reads the connection, so it must not block.
    pub progress: Option<Arc<dyn Fn(Json) + Send + Sync>>,
    /// Records how far the call has come.
    pub phase_tracker: PhaseTracker,
    /// Members for `_meta`.
    pub meta: Vec<(String, Json)>,
}

/// The tool of a call: a name or an alias that is looked up once, or a tool that was looked up
/// already.
#[derive(Debug, Clone)]
pub enum ToolRef<'a> {
    /// A name, or an alias such as `server/tool`.
    Name(&'a str),
    /// A tool of this runtime.
    Tool(Arc<Tool>),
}

impl<'a> From<&'a str> for ToolRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for ToolRef<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<&Arc<Tool>> for ToolRef<'_> {
    fn from(tool: &Arc<Tool>) -> Self {
        Self::Tool(Arc::clone(tool))
    }
}

impl Runtime {
    /// Calls a tool and returns the outcome; a failure is an outcome, too.
    ///
    /// A server that is not connected is connected, also if it has failed before. The call is sent
    /// again only if it provably did not run, or if the entry has `"retry": "hints"` and the tool
    /// is declared read-only or idempotent. Dropping the future cancels the request at the server;
    /// [`CallError::cancelled_in`] is what to report then. A tool is called as its server offers it
    /// when the request is sent: one that has changed since it was looked up is checked and
    /// approved again.
    pub async fn call(
        &self,
        tool: impl Into<ToolRef<'_>>,
        arguments: &Json,
        options: &CallOptions,
    ) -> Outcome {
        let began = Instant::now();
        let tool = match tool.into() {
            ToolRef::Tool(tool) => tool,
            ToolRef::Name(name) => match self.look_up(name, options).await {
                Ok(tool) => tool,
                Err((error, details)) => {
                    let duration = began.elapsed();
                    return Outcome::from_error(error, CallDetails { duration, ..details });
                }
            },
        };
        let span = spans::call_span(&tool);
        let execution = Execution::new(self, Arc::clone(&tool), arguments, options);
        let execution = execution.run().instrument(span.clone());
        // A panic in a callback of the host, or in Wharf, costs this call alone.
        let result = AssertUnwindSafe(execution).catch_unwind().await;
        let result = result.unwrap_or_else(|_| Err(CallError::panicked()));
        spans::record_call(&span, &result);
        let details = CallDetails::new(tool.server(), tool.tool(), tool.source());
        let omitted = self.snapshot().server(tool.server().as_str()).map(|it| it.omitted_values());
        let omitted = omitted.into_iter().flatten().map(|problem| problem.message.clone());
        let details =
            CallDetails { duration: began.elapsed(), omitted: omitted.collect(), ..details };
        match result {
            Ok(result) => Outcome::from_result(&result, details),
            Err(error) => Outcome::from_error(error, details),
        }
    }

    /// Finds a tool by a name or an alias. A name that only a cached list lacks waits for the live
    /// list.
    async fn look_up(
        &self,
        name: &str,
        options: &CallOptions,
    ) -> Result<Arc<Tool>, (CallError, CallDetails)> {
        let limit = options.timeout.unwrap_or_else(|| self.settings().call_cap);
        let listed = tokio::time::timeout(limit, self.listed_for(name)).await;
        let snapshot = listed.unwrap_or_else(|_| self.snapshot());
        match snapshot.registry().find(name) {
            ToolMatch::Tool(tool) | ToolMatch::Hidden(tool) => Ok(Arc::clone(tool)),
            ToolMatch::Ambiguous(tools) => {
                let names: Vec<&str> =
                    tools.iter().take(MAX_NAMED).map(|tool| tool.name()).collect();
                Err((CallError::ambiguous_tool(name, &names), CallDetails::without_server(name)))
            }
            ToolMatch::Unknown => Err(self.not_found(name, &snapshot, limit)),
        }
    }

    /// Returns why no tool has this name: the server that it names is not connected, or does not
    /// have such a tool. The result does not depend on whether the tools of the server were cached.
    fn not_found(
        &self,
        text: &str,
        snapshot: &Snapshot,
        limit: Duration,
    ) -> (CallError, CallDetails) {
        if let Some(excluded) = snapshot.excluded_tool(text) {
            return excluded;
        }
        let named = self.servers_named(text, snapshot);
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
        let unknown = || CallError::unknown_tool(text, snapshot.registry().nearest(text));
        match (trouble, &views[..]) {
            (Some((view, why)), _) => (unavailable(why), details(view)),
            (None, [view]) => (unknown(), details(view)),
            (None, _) => (unknown(), CallDetails::without_server(text)),
        }
    }
}
