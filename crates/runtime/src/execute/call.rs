//! One call as the host makes it: options are set, then it is awaited and becomes an outcome.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tracing::Instrument;
use wharf_protocol::Json;

use super::execution::Execution;
use super::options::{CallOptions, ToolRef};
use crate::approval::CallOrigin;
use crate::arguments::Arguments;
use crate::call::{CallDetails, CallError, CallErrorReason, CallPhaseCell, Outcome, PhaseTracker};
use crate::call_context::CallContext;
use crate::runtime::Runtime;
use crate::scope::Scope;
use crate::spans;
use crate::tools::Tool;

/// A call of a tool; it starts when it is awaited.
///
/// Dropping the future cancels the request at the server; [`CallError::cancelled_in`] is what to
/// report then.
///
/// ```
/// # use std::time::Duration;
/// # use serde_json::json;
/// # async fn run(runtime: wharf::Runtime) -> Result<(), Box<dyn std::error::Error>> {
/// let outcome = runtime
///     .call("docs/read_file", json!({ "path": "notes.txt" }))
///     .idle_timeout(Duration::from_secs(10))
///     .deadline(Duration::from_secs(60))
///     .await;
/// println!("{}", outcome.text);
/// # Ok(())
/// # }
/// ```
#[must_use = "a call starts when it is awaited"]
pub struct ToolCall {
    runtime: Runtime,
    scope: Arc<Scope>,
    tool: CalledTool,
    arguments: Arguments,
    options: CallOptions,
}

/// The tool of a call, which lives as long as the call.
enum CalledTool {
    Name(String),
    Tool(Arc<Tool>),
}

impl Runtime {
    /// Makes a call of a tool; awaiting it returns the outcome, and a failure is an outcome, too.
    ///
    /// A server that is not connected is connected, also if it has failed before. The call is sent
    /// again only if it provably did not run, or if the entry has `"retry": "hints"` and the tool
    /// is declared read-only or idempotent. A tool is called as its server offers it when the
    /// request is sent: one that has changed since it was looked up is checked and approved again.
    pub fn call<'a>(
        &self,
        tool: impl Into<ToolRef<'a>>,
        arguments: impl Into<Arguments>,
    ) -> ToolCall {
        ToolCall::new(self, Arc::clone(&self.0.scope), tool.into(), arguments.into())
    }
}

impl ToolCall {
    pub(crate) fn new(
        runtime: &Runtime,
        scope: Arc<Scope>,
        tool: ToolRef<'_>,
        arguments: Arguments,
    ) -> Self {
        let tool = match tool {
            ToolRef::Name(name) => CalledTool::Name(name.to_owned()),
            ToolRef::Tool(tool) => CalledTool::Tool(tool),
        };
        let (runtime, options) = (runtime.clone(), CallOptions::default());
        Self { runtime, scope, tool, arguments, options }
    }

    /// Sets all options at once.
    pub fn with_options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// Limits how long connecting may take, and then how long the server may be silent. Progress
    /// of the server counts as an answer.
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.options.idle_timeout = Some(limit);
        self
    }

    /// Limits the whole call, from the lookup of the tool until the result, approval included.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.options.deadline = Some(limit);
        self
    }

    /// Sets who calls: a call that a person typed needs no approval.
    pub fn caller(mut self, caller: CallOrigin) -> Self {
        self.options.caller = caller;
        self
    }

    /// Sets the context of the call, instead of that of the view.
    pub fn context(mut self, context: CallContext) -> Self {
        self.options.context = Some(context);
        self
    }

    /// Passes the parameters of each `notifications/progress` to a listener, which must not block.
    /// They are untrusted text.
    pub fn on_progress(mut self, listener: impl Fn(Json) + Send + Sync + 'static) -> Self {
        self.options.progress = Some(Arc::new(listener));
        self
    }

    /// Records in a tracker how far the call has come, for a caller that drops it.
    pub fn track_phase(mut self, tracker: &PhaseTracker) -> Self {
        self.options.phase_tracker = tracker.clone();
        self
    }

    /// Adds a member to `_meta` of the request.
    pub fn meta(mut self, key: impl Into<String>, value: Json) -> Self {
        self.options.meta.push((key.into(), value));
        self
    }

    async fn run(mut self) -> Outcome {
        let began = Instant::now();
        self.options.context = self.options.context.take().or_else(|| self.scope.context.clone());
        let deadline = self.options.deadline.into_iter().chain(self.scope.max_call).min();
        let phase = CallPhaseCell::new(&self.options.phase_tracker);
        let called = OnceLock::new();
        let dropped = RecordIfDropped { call: &self, phase: &phase, called: &called, began };
        let (result, details) = match deadline {
            None => self.find_and_execute(&called, &phase).await,
            Some(limit) => {
                let call = self.find_and_execute(&called, &phase);
                tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
                    let error = CallError::deadline_reached(limit, phase.phase());
                    (Err(Box::new(error)), self.details_of(called.get().map(|tool| &**tool)))
                })
            }
        };
        let details = CallDetails { duration: began.elapsed(), ..details };
        let outcome = match result {
            Ok(outcome) => Outcome { details, ..*outcome },
            Err(error) => Outcome::from_error(*error, details),
        };
        // It ended, so it is recorded here.
        std::mem::forget(dropped);
        self.runtime.announce_call(&outcome, self.options.context.as_ref());
        outcome
    }

    /// Finds the tool, stores it in `called`, and executes the call.
    async fn find_and_execute(
        &self,
        called: &OnceLock<Arc<Tool>>,
        phase: &CallPhaseCell,
    ) -> (Result<Box<Outcome>, Box<CallError>>, CallDetails) {
        let tool = match &self.tool {
            CalledTool::Tool(tool) if self.scope.allows(tool) => Arc::clone(tool),
            CalledTool::Tool(tool) => {
                let error = CallError::unknown_tool(tool.name(), None);
                return (Err(Box::new(error)), CallDetails::without_server(tool.name()));
            }
            CalledTool::Name(name) => {
                let limit = self.options.idle_timeout;
                let limit = limit.unwrap_or_else(|| self.runtime.settings().call_cap);
                match self.runtime.look_up(name, &self.scope, limit).await {
                    Ok(tool) => tool,
                    Err((error, details)) => return (Err(Box::new(error)), details),
                }
            }
        };
        let tool = called.get_or_init(|| tool);
        let result = self.execute(tool, phase).await;
        let details = self.details_of(Some(tool));
        match result {
            Ok(result) => (Ok(Box::new(Outcome::from_result(&result, details.clone()))), details),
            Err(error) => (Err(Box::new(error)), details),
        }
    }

    async fn execute(
        &self,
        tool: &Arc<Tool>,
        phase: &CallPhaseCell,
    ) -> Result<wharf_protocol::view::ToolResult, CallError> {
        let arguments = self.arguments.clone().into_json();
        let arguments = arguments.map_err(|why| {
            let message = format!("the arguments {why}");
            CallError::not_run(CallErrorReason::BadArguments, message)
        })?;
        let span = spans::call_span(tool, self.options.context.as_ref());
        let tool = Arc::clone(tool);
        let execution = Execution::new(&self.runtime, &self.scope, tool, &self.options, phase);
        let execution = execution.run(arguments).instrument(span.clone());
        // A panic in a callback of the host, or in Wharf, costs this call alone.
        let result = AssertUnwindSafe(execution).catch_unwind().await;
        let result = result.unwrap_or_else(|_| Err(CallError::panicked()));
        spans::record_call(&span, &result);
        result
    }

    fn details_of(&self, tool: Option<&Tool>) -> CallDetails {
        let Some(tool) = tool else {
            return match &self.tool {
                CalledTool::Name(name) => CallDetails::without_server(name),
                CalledTool::Tool(tool) => CallDetails::without_server(tool.name()),
            };
        };
        let snapshot = self.runtime.snapshot();
        let omitted = snapshot.server(tool.server().as_str()).map(|it| it.omitted_values());
        let omitted = omitted.into_iter().flatten().map(|problem| problem.message.clone());
        let details = CallDetails::new(tool.server(), tool.tool(), tool.source());
        CallDetails { omitted: omitted.collect(), ..details }
    }
}

/// Records a call whose future is dropped before it ends: it may have been sent.
struct RecordIfDropped<'a> {
    call: &'a ToolCall,
    phase: &'a CallPhaseCell,
    called: &'a OnceLock<Arc<Tool>>,
    began: Instant,
}

impl Drop for RecordIfDropped<'_> {
    fn drop(&mut self) {
        let details = self.call.details_of(self.called.get().map(|tool| &**tool));
        let details = CallDetails { duration: self.began.elapsed(), ..details };
        let error = CallError::cancelled_in(self.phase.phase());
        let outcome = Outcome::from_error(error, details);
        self.call.runtime.announce_call(&outcome, self.call.options.context.as_ref());
    }
}

impl IntoFuture for ToolCall {
    type Output = Outcome;
    type IntoFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Shows no arguments, because they may be secret.
impl fmt::Debug for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = match &self.tool {
            CalledTool::Name(name) => name,
            CalledTool::Tool(tool) => tool.name(),
        };
        formatter
            .debug_struct("ToolCall")
            .field("tool", &tool)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
