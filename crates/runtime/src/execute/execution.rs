//! Does what [`Steps`] decides about one call: approve it, connect, send the request, elicit URLs.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument;
use wharf_protocol::Json;
use wharf_protocol::era::Era;
use wharf_protocol::peer::{
    Deadline, Peer, ProgressMode, RequestCause, RequestError, RequestOptions,
};
use wharf_protocol::view::ToolResult;
use wharf_protocol::view::send::Object;

use super::options::CallOptions;
use super::steps::{Step, StepEvent, Steps};
use crate::approval::{ApprovalRequest, ProposedCall};
use crate::call::request_errors::{RepeatClaims, may_repeat, to_call_error};
use crate::call::{CallError, CallErrorReason, CallPhase, CallPhaseCell};
use crate::connections::{ServerSnapshot, call_idle_timeout};
use crate::elicitation::required_urls::{self, RequiredUrls};
use crate::runtime::{Runtime, Unavailable};
use crate::scope::Scope;
use crate::spans;
use crate::status::FailureKind;
use crate::store::server_identity::has_lasting_identity;
use crate::tools::{Freshness, Tool, ToolMatch, Visibility};
use crate::trust_gate::TrustedServer;

/// One call that is being executed.
pub(super) struct Execution<'a> {
    runtime: &'a Runtime,
    scope: &'a Scope,
    /// The tool that was approved.
    tool: Arc<Tool>,
    /// The arguments as they are sent, once the call is approved.
    object: Option<Object>,
    options: &'a CallOptions,
    phase: &'a CallPhaseCell,
    /// The definition of the server that was approved.
    approved: ApprovedDefinition,
    /// The limit for everything together, except the approval.
    cap: Duration,
    until: Instant,
    steps: Steps,
    /// The server that the next request goes to.
    connected: Option<(Arc<ServerSnapshot>, Peer)>,
    /// The last request, if it failed.
    failed: Option<FailedRequest>,
}

/// The definition of a server, as it was when a call was approved.
#[derive(Default)]
struct ApprovedDefinition {
    server: Option<Arc<TrustedServer>>,
    /// Identifies it; empty if there is none.
    key: String,
}

/// A request that brought no result.
struct FailedRequest {
    error: RequestError,
    server: Arc<ServerSnapshot>,
    peer: Peer,
    sent: Instant,
    /// How far the server's error output went when the request was sent.
    stderr_position: u64,
}

impl<'a> Execution<'a> {
    pub(super) fn new(
        runtime: &'a Runtime,
        scope: &'a Scope,
        tool: Arc<Tool>,
        options: &'a CallOptions,
        phase: &'a CallPhaseCell,
    ) -> Self {
        let cap = runtime.settings().call_cap;
        Self {
            runtime,
            scope,
            tool,
            object: None,
            options,
            phase,
            approved: ApprovedDefinition::default(),
            cap,
            until: Instant::now() + cap,
            steps: Steps::default(),
            connected: None,
            failed: None,
        }
    }

    /// Executes the call. Dropping the future cancels the request at the server.
    pub(super) async fn run(mut self, arguments: Json) -> Result<ToolResult, CallError> {
        let mut step = Step::Approve;
        loop {
            let event = match step {
                Step::Approve => self.approve(&arguments).await?,
                Step::Connect => self.connect().await?,
                Step::Send => match self.send().await {
                    Ok(result) => return Ok(result),
                    Err(event) => event,
                },
                Step::ElicitUrls => self.elicit_required_urls().await,
                Step::Fail => return Err(self.error()),
            };
            step = self.steps.next(event);
            if let (StepEvent::Failed { .. } | StepEvent::UrlsCompleted, Step::Connect) =
                (event, step)
            {
                let attempt = self.steps.attempt();
                tracing::debug!(attempt, "a call is sent again");
            }
        }
    }

    /// Checks the arguments, and asks whoever has to approve the call.
    async fn approve(&mut self, arguments: &Json) -> Result<StepEvent, CallError> {
        self.phase.set(CallPhase::Send);
        // The arguments of a tool that may not be called are not checked.
        if self.tool.visibility() == Visibility::Listed {
            self.tool.check(arguments)?;
        }
        self.approved = self.definition_now();
        let call = self.proposed_call(arguments);
        let asked = Instant::now();
        self.scope.approvals.decide(self.options.caller, call).await?;
        // The limit is one for the server; a person may take longer.
        self.until += asked.elapsed();
        let object = Object::try_from(arguments.clone()).map_err(|_| {
            CallError::not_run(CallErrorReason::BadArguments, "the arguments must be a JSON object")
        })?;
        self.object = Some(object);
        Ok(StepEvent::Approved)
    }

    fn proposed_call(&self, arguments: &Json) -> ProposedCall {
        let tool = &self.tool;
        let is_pinned = tool.freshness() == Freshness::Live && tool.is_pinned_unchanged();
        let request = ApprovalRequest {
            server: tool.server().as_str().to_owned(),
            tool: tool.tool().to_owned(),
            arguments: arguments.clone(),
            annotations: tool.annotations(),
            hints: tool.hints(),
            is_pinned,
            provider_name: tool.source().provider_name.to_owned(),
            context: self.options.context.clone(),
        };
        let server = self.approved.server.as_deref();
        let is_definition_lasting = server.is_some_and(has_lasting_identity);
        ProposedCall {
            request,
            policy: tool.approval(),
            is_withheld: tool.visibility() == Visibility::Withheld,
            definition: self.approved.key.clone(),
            is_definition_lasting,
            pin: is_pinned.then(|| tool.pin()),
        }
    }

    /// Returns the definition of the server that offers the tool.
    fn definition_now(&self) -> ApprovedDefinition {
        let snapshot = self.runtime.snapshot();
        let server = snapshot.server(self.tool.server().as_str());
        let server = server.and_then(|server| server.trusted.clone());
        let key = server.as_ref().map(|server| self.definition_key(server));
        ApprovedDefinition { key: key.unwrap_or_default(), server }
    }

    fn definition_key(&self, server: &TrustedServer) -> String {
        self.runtime.0.shared.history.definition_key(server)
    }

    /// Tells whether the definition of a connected server is the one that was approved.
    fn is_approved_definition(&self, server: &ServerSnapshot) -> bool {
        match (&self.approved.server, &server.trusted) {
            // The usual case needs no hash.
            (Some(approved), Some(now)) if Arc::ptr_eq(approved, now) => true,
            // The key has no handles of programs, and is empty if there is no secret to make it.
            (Some(approved), Some(now)) => {
                approved.has_same_connection_as(now)
                    && self.definition_key(now) == self.approved.key
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// Waits for the server, and compares it and the tool with what was approved: the tool may have
    /// come from the cache, or have changed while the server was away, and another catalog may have
    /// replaced the server while a person decided.
    async fn connect(&mut self) -> Result<StepEvent, CallError> {
        let name = self.tool.server().as_str();
        let left = self.left();
        let snapshot = self.runtime.snapshot();
        let limit =
            snapshot.server(name).map_or(left, |server| idle_limit(server, self.options, left));
        self.phase.set(CallPhase::Connect);
        let connected = self.runtime.peer(name, limit).await.map_err(unavailable)?;
        let now = self.tool_now()?;
        let has_changed =
            has_changed(&self.tool, &now) || !self.is_approved_definition(&connected.0);
        self.tool = now;
        self.connected = Some(connected);
        Ok(if has_changed { StepEvent::ToolChanged } else { StepEvent::Connected })
    }

    /// Sends the request and waits for its result; otherwise returns how it failed.
    async fn send(&mut self) -> Result<ToolResult, StepEvent> {
        let Some((server, peer)) = self.connected.take() else {
            return Err(StepEvent::Failed { may_repeat: false, is_error_response: false });
        };
        let left = self.left();
        let mut request = request_options(&server, self.options, left);
        let attempt = self.steps.attempt();
        let span =
            spans::attempt_span(attempt, &self.tool, server.span_id.as_ref(), &peer, &mut request);
        let call = peer.call_tool(self.tool.tool(), self.object.as_ref(), &request);
        let (sent, stderr_position) = (Instant::now(), peer.stderr_position());
        self.phase.set(CallPhase::Receive);
        let answer = tokio::time::timeout(left, call.instrument(span.clone())).await;
        // A server that keeps sending requests of its own gets no more time than one that answers.
        let timed_out = RequestError::TimedOut { limit: self.cap, never_sent: false };
        let answer = answer.unwrap_or(Err(timed_out));
        spans::record_attempt(&span, &answer);
        let error = match answer {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        if may_mean_disconnected(&error) {
            self.runtime.check_alive(self.tool.server());
        }
        let claims = claims(&self.tool, &server, peer.era());
        let event = StepEvent::Failed {
            may_repeat: may_repeat(&error, claims),
            is_error_response: error.error_response().is_some(),
        };
        self.failed = Some(FailedRequest { error, server, peer, sent, stderr_position });
        Err(event)
    }

    /// Asks the person to visit the URLs that the server requires before the call.
    async fn elicit_required_urls(&self) -> StepEvent {
        let Some(FailedRequest { error, peer, sent, .. }) = &self.failed else {
            return StepEvent::UrlsNotCompleted;
        };
        let context = self.options.context.as_ref();
        let required =
            RequiredUrls { error, server: self.tool.server(), peer, sent: *sent, context };
        let shared = &self.runtime.0.shared;
        let visiting = required_urls::elicit_all(
            required,
            &shared.options.client_features,
            &shared.completed_urls,
        );
        match tokio::time::timeout(self.left(), visiting).await {
            Ok(true) => StepEvent::UrlsCompleted,
            Ok(false) | Err(_) => StepEvent::UrlsNotCompleted,
        }
    }

    /// Returns what the last failed request means for the call.
    fn error(&self) -> CallError {
        match &self.failed {
            Some(FailedRequest { error, server, peer, stderr_position, .. }) => {
                let stderr = peer.stderr_since(*stderr_position);
                to_call_error(error, peer.era(), &stderr, &server.secrets)
            }
            None => CallError::not_run(CallErrorReason::Connect, "the call was not sent"),
        }
    }

    /// Returns the tool as its server offers it now.
    fn tool_now(&self) -> Result<Arc<Tool>, CallError> {
        let tool = &self.tool;
        match self.runtime.snapshot().registry().find(tool.name()) {
            ToolMatch::Tool(now) | ToolMatch::Hidden(now)
                if now.server() == tool.server() && now.tool() == tool.tool() =>
            {
                Ok(Arc::clone(now))
            }
            _ => Err(CallError::unknown_tool(tool.name(), None)),
        }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// Tells whether a tool differs from what it was when the call was approved.
fn has_changed(approved: &Tool, now: &Tool) -> bool {
    now.raw() != approved.raw()
        || now.visibility() != approved.visibility()
        || now.approval() != approved.approval()
}

/// Returns how long a server may be silent, connecting included.
fn idle_limit(server: &ServerSnapshot, options: &CallOptions, left: Duration) -> Duration {
    let configured = server.trusted.as_ref().map(|trusted| call_idle_timeout(&trusted.spec, left));
    options.idle_timeout.or(configured).unwrap_or(left).min(left)
}

/// Tells whether an error is also seen when a server has ended, or when it requires authorization.
pub(crate) fn may_mean_disconnected(error: &RequestError) -> bool {
    match error {
        #[cfg(feature = "http")]
        RequestError::Http(_) => true,
        RequestError::Unauthorized { .. }
        | RequestError::NotRenewed { .. }
        | RequestError::StreamEnded => true,
        _ => error.status().is_some_and(|status| status.is_server_error()),
    }
}

fn request_options(
    server: &ServerSnapshot,
    options: &CallOptions,
    left: Duration,
) -> RequestOptions {
    let idle = idle_limit(server, options, left);
    RequestOptions {
        deadline: Deadline { idle, cap: left },
        progress: match &options.progress {
            Some(listener) => {
                let (listener, secrets) = (Arc::clone(listener), Arc::clone(&server.secrets));
                ProgressMode::Listener(Arc::new(move |report| {
                    listener(secrets.redact_json(report));
                }))
            }
            None => ProgressMode::KeepAlive,
        },
        meta: options.meta.clone(),
        cause: options.context.clone().map(RequestCause::new),
    }
}

fn claims(tool: &Tool, server: &ServerSnapshot, era: Era) -> RepeatClaims {
    let retry = server.trusted.as_ref().is_some_and(|trusted| trusted.spec.policy.retry_on_hints);
    RepeatClaims {
        era,
        retry_on_hints: retry,
        is_live: tool.freshness() == Freshness::Live,
        is_pinned_unchanged: tool.is_pinned_unchanged(),
        hints: tool.hints(),
    }
}

impl From<Unavailable> for CallError {
    fn from(why: Unavailable) -> Self {
        unavailable(why)
    }
}

/// Returns what it means for a call that its server is not connected: the call did not run.
pub(crate) fn unavailable(why: Unavailable) -> CallError {
    let (failure, message) = match why {
        Unavailable::Unknown(error) => {
            return CallError::not_run(CallErrorReason::UnknownTool, error.to_string());
        }
        Unavailable::Untrusted(_) => {
            return CallError::not_run(CallErrorReason::Untrusted, why.to_string());
        }
        Unavailable::Disabled(_) => {
            return CallError::not_run(CallErrorReason::Disabled, why.to_string());
        }
        Unavailable::TimedOut { limit, .. } => return CallError::not_connected_in_time(limit),
        Unavailable::ShutDown | Unavailable::Closed(_) => {
            return CallError::not_run(CallErrorReason::Connect, why.to_string());
        }
        Unavailable::Failed { ref failure, .. } => (failure, why.to_string()),
    };
    let reason = match failure.kind {
        FailureKind::NeedsAuth => CallErrorReason::NeedsAuth,
        FailureKind::TimedOut => CallErrorReason::TimedOut,
        _ => CallErrorReason::Connect,
    };
    let error = CallError::not_run(reason, message).with_stderr(&failure.stderr);
    let error = CallError { phase: CallPhase::Connect, ..error };
    let error = match &failure.hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    };
    match failure.kind {
        FailureKind::TimedOut | FailureKind::Lost | FailureKind::Connect => error.into_transient(),
        _ => error,
    }
}
