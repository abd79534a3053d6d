//! One tool call from its name to its outcome; the part that keeps it from ever running twice.
//!
//! Find the tool, check the arguments, ask who has to be asked, wait for the server, send once. It
//! is sent again only when [`may_repeat`] says that it cannot have run, or when the server refused it
//! until a page was visited.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tracing::Instrument;
use wharf_protocol::Json;
use wharf_protocol::era::Era;
use wharf_protocol::peer::{Deadline, ProgressReport, RequestError, RequestOptions};
use wharf_protocol::view::ToolResult;
use wharf_protocol::view::send::Object;

use crate::approval::{ApprovalRequest, Caller, Proposal};
use crate::call::explain::{Claims, explain, may_repeat};
use crate::call::{CallError, CallStage, Details, Outcome, Phase, Reason};
use crate::connections::{ServerView, Snapshot, call_limit};
use crate::elicitation::required_pages::{self, Refusal};
use crate::runtime::{Runtime, Unavailable};
use crate::spans;
use crate::status::FailureKind;
use crate::tools::{Found, Freshness, Tool, Visibility, tool_of};

/// How often a call is sent at most; each time after the first it provably did not run before.
const MOST_ATTEMPTS: u32 = 3;

/// How many of several tools are named.
const MOST_NAMED: usize = 5;

/// How one call is made.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Who calls: an agent has to ask, a person who typed the call has not.
    pub caller: Caller,
    /// How long the server may be silent; its entry says so if this does not.
    pub timeout: Option<Duration>,
    /// Who hears of progress: gets the parameters of each `notifications/progress` as they came, which
    /// is foreign text. It is called where the connection is read, so it must not wait.
    pub progress: Option<Arc<dyn Fn(Json) + Send + Sync>>,
    /// Is told how far the call has come.
    pub stage: CallStage,
    /// Members for `_meta`.
    pub meta: Vec<(String, Json)>,
}

impl Runtime {
    /// Calls a tool once and returns what came of it; failures are outcomes, too.
    ///
    /// A server that is not connected is waited for, within the limit of the call. Dropping the
    /// future tells the server that nobody waits any more.
    pub async fn call(&self, tool: &str, arguments: &Json, options: &CallOptions) -> Outcome {
        let began = Instant::now();
        let limit = options.timeout.unwrap_or_else(|| self.rules().call_cap);
        // A list from the cache is never the reason why there is no such tool.
        let listed = tokio::time::timeout(limit, self.listed_for(tool)).await;
        let snapshot = listed.unwrap_or_else(|_| self.snapshot());
        let tool = match snapshot.registry().find(tool) {
            Found::Tool(tool) | Found::Hidden(tool) => Arc::clone(tool),
            Found::Ambiguous(tools) => {
                let names: Vec<&str> =
                    tools.iter().take(MOST_NAMED).map(|tool| tool.name()).collect();
                let error = CallError::ambiguous_tool(tool, &names);
                return Outcome::of_error(error, Details::of_nobody(tool));
            }
            Found::Unknown => {
                let (error, details) = self.not_found(tool, &snapshot, limit);
                return Outcome::of_error(error, Details { duration: began.elapsed(), ..details });
            }
        };
        let span = spans::call(&tool);
        let performing = self.perform(&tool, arguments, options).instrument(span.clone());
        // A panic in something that the host has supplied, or in us, costs this call alone.
        let result = AssertUnwindSafe(performing).catch_unwind().await;
        let result = result.unwrap_or_else(|_| Err(CallError::panicked()));
        spans::called(&span, &result);
        let details = Details::of(tool.server(), tool.tool(), tool.source());
        let left_out = self.snapshot().server(tool.server().as_str()).map(|it| it.left_out());
        let left_out = left_out.into_iter().flatten().map(|problem| problem.message.clone());
        let details =
            Details { duration: began.elapsed(), left_out: left_out.collect(), ..details };
        match result {
            Ok(result) => Outcome::of_result(&result, details),
            Err(error) => Outcome::of_error(error, details),
        }
    }

    /// Says why there is no tool that a text names: the server that it names is not there, or has no
    /// such tool. The same failure is told in the same way whether or not its tools were cached.
    fn not_found(&self, text: &str, snapshot: &Snapshot, limit: Duration) -> (CallError, Details) {
        if let Some(left_out) = snapshot.left_out_tool(text) {
            return left_out;
        }
        let named = self.servers_named(text, snapshot);
        let views: Vec<&Arc<ServerView>> =
            named.iter().filter_map(|name| snapshot.server(name.as_str())).collect();
        let why = |view: &&Arc<ServerView>| match view.status {
            status if status.is_pending() => {
                Some(Unavailable::TimedOut { server: view.name.clone(), limit })
            }
            _ => self.standing(view).err(),
        };
        let trouble = views.iter().find_map(|view| Some((*view, why(view)?)));
        let details = |view: &ServerView| {
            let server = view.name.as_str();
            let naming = self.rules().tools.naming;
            let tool = tool_of(text, server)
                .or_else(|| naming.tool_part(text, server, view.prefix()))
                .unwrap_or(text);
            Details::of(&view.name, tool, &view.source)
        };
        match (trouble, &views[..]) {
            (Some((view, why)), _) => (absent(why), details(view)),
            (None, [view]) => {
                let nearest = snapshot.registry().nearest(text);
                (CallError::unknown_tool(text, nearest), details(view))
            }
            (None, _) => {
                let nearest = snapshot.registry().nearest(text);
                (CallError::unknown_tool(text, nearest), Details::of_nobody(text))
            }
        }
    }

    async fn perform(
        &self,
        tool: &Arc<Tool>,
        arguments: &Json,
        options: &CallOptions,
    ) -> Result<ToolResult, CallError> {
        let mut tool = Arc::clone(tool);
        self.admit(&tool, arguments, options).await?;
        let object = Object::try_from(arguments.clone())
            .map_err(|_| CallError::not_run(Reason::BadArguments, "the arguments are no object"))?;
        let cap = self.rules().call_cap;
        let until = Instant::now() + cap;
        let left = || until.saturating_duration_since(Instant::now());
        let (mut attempt, mut has_visited, mut was_refused) = (1, false, false);
        loop {
            let name = tool.server().as_str();
            let limit = self.snapshot().server(name).map(|it| silence(it, options, left()));
            let limit = limit.unwrap_or_else(left);
            options.stage.reach(Phase::Connect);
            let (server, peer) = self.peer(name, limit).await.map_err(absent)?;
            // The tool may have come from the cache, or have changed while its server was away. What
            // was agreed to is what was known then, so anything else is looked at anew.
            let now = self.now(&tool)?;
            let has_changed = has_changed(&tool, &now);
            tool = now;
            if has_changed {
                self.admit(&tool, arguments, options).await?;
                continue;
            }
            let mut request = request_options(&server, options, left());
            let span = spans::attempt(attempt, &tool, (&server, &peer), &mut request);
            let call = peer.call_tool(tool.tool(), Some(&object), &request);
            // A server that keeps asking back is waited for no longer than one that answers.
            let late = RequestError::TimedOut { limit: cap, never_sent: false };
            let (sent, said) = (Instant::now(), peer.stderr_position());
            options.stage.reach(Phase::Receive);
            let answer = tokio::time::timeout(left(), call.instrument(span.clone())).await;
            let answer = answer.unwrap_or(Err(late));
            spans::sent(&span, &answer);
            drop(span);
            let error = match answer {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            if may_be_gone(&error) {
                self.suspect(tool.server());
            }
            let is_last = attempt >= MOST_ATTEMPTS;
            // A refusal that says that nothing was done is worth one more try; the same again is final.
            let is_refused_again = error.refusal().is_some() && was_refused;
            was_refused |= error.refusal().is_some();
            let may_repeat = may_repeat(&error, claims(&tool, &server, peer.era()));
            let repeats = !is_last && !is_refused_again && may_repeat;
            if !repeats {
                let refusal = Refusal { error: &error, server: tool.server(), peer: &peer, sent };
                if is_last || has_visited || !self.visit(refusal, left()).await {
                    return Err(explain(
                        &error,
                        peer.era(),
                        &peer.stderr_since(said),
                        &server.secrets,
                    ));
                }
                has_visited = true;
            }
            tracing::debug!(attempt, "a call did not run and is made again");
            attempt += 1;
        }
    }

    /// Has pages visited without which a server refuses a call; tells whether that was done.
    async fn visit(&self, refusal: Refusal<'_>, left: Duration) -> bool {
        let shared = &self.0.shared;
        let visiting = required_pages::visit(refusal, &shared.options.ports, &shared.visits);
        tokio::time::timeout(left, visiting).await.unwrap_or(false)
    }

    /// Says whether a call may be sent, as far as the tool and its arguments are concerned.
    async fn admit(
        &self,
        tool: &Tool,
        arguments: &Json,
        options: &CallOptions,
    ) -> Result<(), CallError> {
        options.stage.reach(Phase::Send);
        // What may not be called at all is not looked at any closer.
        if tool.visibility() == Visibility::Offered {
            tool.check(arguments)?;
        }
        self.approve(tool, arguments, options).await
    }

    /// Returns a tool as it stands now.
    fn now(&self, tool: &Tool) -> Result<Arc<Tool>, CallError> {
        match self.snapshot().registry().find(tool.name()) {
            Found::Tool(now) | Found::Hidden(now)
                if now.server() == tool.server() && now.tool() == tool.tool() =>
            {
                Ok(Arc::clone(now))
            }
            _ => Err(CallError::unknown_tool(tool.name(), None)),
        }
    }

    async fn approve(
        &self,
        tool: &Tool,
        arguments: &Json,
        options: &CallOptions,
    ) -> Result<(), CallError> {
        let request = ApprovalRequest {
            server: tool.server().as_str().to_owned(),
            tool: tool.tool().to_owned(),
            arguments: arguments.clone(),
            annotations: tool.annotations(),
            hints: tool.hints(),
            provider_name: tool.source().provider_name.to_owned(),
        };
        let is_pinned = tool.freshness() == Freshness::Live && tool.is_pinned_unchanged();
        let snapshot = self.snapshot();
        let ready = snapshot.server(tool.server().as_str()).and_then(|it| it.ready.clone());
        let definition = ready.map(|ready| self.0.shared.history.definition_key(&ready));
        let proposal = Proposal {
            request,
            policy: tool.approval(),
            is_withheld: tool.visibility() == Visibility::Withheld,
            definition: definition.unwrap_or_default(),
            pin: is_pinned.then(|| tool.pin()),
        };
        self.0.approvals.decide(options.caller, proposal).await
    }
}

/// Tells whether a tool differs from what it was when the call was approved.
fn has_changed(approved: &Tool, now: &Tool) -> bool {
    now.raw() != approved.raw()
        || now.visibility() != approved.visibility()
        || now.approval() != approved.approval()
}

/// How long a server may be silent, connecting included.
fn silence(server: &ServerView, options: &CallOptions, left: Duration) -> Duration {
    let said = server.ready.as_ref().map(|ready| call_limit(&ready.spec, left));
    options.timeout.or(said).unwrap_or(left).min(left)
}

/// Tells whether a failure is what one would see of a server that is gone, or wants to know who asks.
pub(crate) fn may_be_gone(error: &RequestError) -> bool {
    match error {
        RequestError::Http(_) | RequestError::Unauthorized { .. } | RequestError::Cut => true,
        _ => error.status().is_some_and(|status| status.is_server_error()),
    }
}

fn request_options(server: &ServerView, options: &CallOptions, left: Duration) -> RequestOptions {
    let idle = silence(server, options, left);
    RequestOptions {
        deadline: Deadline { idle, cap: left },
        progress: match &options.progress {
            Some(listener) => {
                let (listener, secrets) = (Arc::clone(listener), Arc::clone(&server.secrets));
                ProgressReport::To(Arc::new(move |report| listener(secrets.hide_in_json(report))))
            }
            None => ProgressReport::SignsOfLife,
        },
        meta: options.meta.clone(),
    }
}

fn claims(tool: &Tool, server: &ServerView, era: Era) -> Claims {
    let retry = server.ready.as_ref().is_some_and(|ready| ready.spec.policy.retry_on_hints);
    Claims {
        era,
        retry_on_hints: retry,
        is_live: tool.freshness() == Freshness::Live,
        is_pinned_unchanged: tool.is_pinned_unchanged(),
        hints: tool.hints(),
    }
}

impl From<Unavailable> for CallError {
    fn from(why: Unavailable) -> Self {
        absent(why)
    }
}

/// Says what it means for a call that its server is not there: it did not run.
pub(crate) fn absent(why: Unavailable) -> CallError {
    match why {
        Unavailable::Unknown(error) => CallError::not_run(Reason::UnknownTool, error.to_string()),
        Unavailable::Untrusted(_) => CallError::not_run(Reason::Untrusted, why.to_string()),
        Unavailable::Disabled(_) => CallError::not_run(Reason::Disabled, why.to_string()),
        Unavailable::TimedOut { limit, .. } => CallError::not_connected_in_time(limit),
        Unavailable::ShutDown | Unavailable::Closed(_) => {
            CallError::not_run(Reason::Connect, why.to_string())
        }
        Unavailable::Failed { ref failure, .. } => {
            let reason = match failure.kind {
                FailureKind::NeedsAuth => Reason::NeedsAuth,
                FailureKind::TimedOut => Reason::TimedOut,
                _ => Reason::Connect,
            };
            let error = CallError::not_run(reason, why.to_string()).with_stderr(&failure.stderr);
            let error = CallError { phase: Phase::Connect, ..error };
            let error = match &failure.hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            };
            match failure.kind {
                FailureKind::TimedOut | FailureKind::Lost | FailureKind::Connect => {
                    error.that_may_pass()
                }
                _ => error,
            }
        }
    }
}
