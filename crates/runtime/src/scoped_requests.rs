//! Sends requests other than tool calls within a scope: that of the runtime, or that of a view.
//!
//! The scope says which servers there are, limits each request, and gives it its call context, so
//! an elicitation during the request reaches the session that caused it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::time::Instant;
use tracing::Instrument;
use wharf_config::text::clip;
use wharf_config::{Approval, Problem, ServerName};
use wharf_protocol::era::Era;
use wharf_protocol::peer::{
    Deadline, ListCut, ListResult, RequestCause, RequestError, RequestOptions,
};
use wharf_protocol::view::send::CompletionRequest;
use wharf_protocol::view::{
    Completion, ListEntry, Prompt, PromptResult, ReadResult, Resource, ResourceTemplate,
};
use wharf_protocol::{Json, Peer};

use crate::call::request_errors::to_call_error;
use crate::call::{CallError, CallErrorReason, CallPhase, PhaseTracker};
use crate::connections::{ServerSnapshot, Snapshot, call_idle_timeout, cut_problem};
use crate::execute::{may_mean_disconnected, unavailable};
use crate::resolve::Secrets;
use crate::runtime::{Runtime, Unavailable};
use crate::scope::Scope;
use crate::spans;
use crate::status::Status;

/// One kind of list, collected from several servers.
#[derive(Debug)]
pub struct CollectedList<T> {
    /// Each item with its server, ordered by server.
    pub items: Vec<(ServerName, T)>,
    /// The servers that could not be listed, and why.
    pub errors: Vec<(ServerName, CallError)>,
    /// The servers whose lists were cut off, and why.
    pub cut: Vec<(ServerName, ListCut)>,
}

impl<T> CollectedList<T> {
    /// Adds the outcome of one server.
    fn add(&mut self, server: &ServerName, outcome: Result<ListResult<T>, CallError>) {
        match outcome {
            Ok(list) => {
                self.cut.extend(list.cut.map(|cut| (server.clone(), cut)));
                self.items.extend(list.items.into_iter().map(|item| (server.clone(), item)));
            }
            Err(error) => self.errors.push((server.clone(), error)),
        }
    }

    /// Returns a problem for each list that was cut off; `what` names its items, such as `prompts`.
    pub fn problems(&self, what: &str) -> Vec<Problem> {
        self.cut.iter().map(|(server, cut)| cut_problem(server, what, *cut)).collect()
    }
}

/// The capability that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Resources,
    Prompts,
}

/// Whether a request that was lost is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Once,
    Never,
}

/// A request to one server, and how far it has come.
struct PendingRequest<'a> {
    method: &'static str,
    server: &'a str,
    repeat: Repeat,
    tracker: &'a PhaseTracker,
}

/// The requests of a runtime or of a view.
#[derive(Clone, Copy)]
pub(crate) struct ScopedRequests<'a> {
    runtime: &'a Runtime,
    scope: &'a Scope,
}

impl<'a> ScopedRequests<'a> {
    pub(crate) fn new(runtime: &'a Runtime, scope: &'a Scope) -> Self {
        Self { runtime, scope }
    }

    pub(crate) async fn resources(self, server: Option<&str>) -> CollectedList<Resource> {
        let list = async |peer: &Peer, options: &RequestOptions| peer.list_resources(options).await;
        self.list_from_servers(server, ListKind::Resources, "resources/list", list).await
    }

    pub(crate) async fn resource_templates(
        self,
        server: Option<&str>,
    ) -> CollectedList<ResourceTemplate> {
        let list = async |peer: &Peer, options: &RequestOptions| {
            peer.list_resource_templates(options).await
        };
        let method = "resources/templates/list";
        self.list_from_servers(server, ListKind::Resources, method, list).await
    }

    pub(crate) async fn prompts(self, server: Option<&str>) -> CollectedList<Prompt> {
        let list = async |peer: &Peer, options: &RequestOptions| peer.list_prompts(options).await;
        self.list_from_servers(server, ListKind::Prompts, "prompts/list", list).await
    }

    pub(crate) async fn read_resource(
        self,
        server: &str,
        uri: &str,
    ) -> Result<ReadResult, CallError> {
        let send = async |peer: &Peer, options: &RequestOptions| {
            check_capability(peer, ListKind::Resources)?;
            peer.read_resource(uri, options).await
        };
        self.send_repeatable("resources/read", server, send).await
    }

    pub(crate) async fn get_prompt(
        self,
        server: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<PromptResult, CallError> {
        let send = async |peer: &Peer, options: &RequestOptions| {
            check_capability(peer, ListKind::Prompts)?;
            peer.get_prompt(name, arguments, options).await
        };
        self.send_repeatable("prompts/get", server, send).await
    }

    pub(crate) async fn complete(
        self,
        server: &str,
        request: &CompletionRequest,
    ) -> Result<Completion, CallError> {
        let send =
            async |peer: &Peer, options: &RequestOptions| peer.complete(request, options).await;
        self.send_repeatable("completion/complete", server, send).await
    }

    /// Subscribes the owner of the scope to a resource, now and after each reconnect.
    pub(crate) async fn subscribe_resource(self, server: &str, uri: &str) -> Result<(), CallError> {
        self.scope.check_whole_server(server)?;
        let (name, owner) = (ServerName::new(server), &self.scope.subscriptions);
        let wanted = &self.runtime.0.shared.host_requests.resources;
        let is_new = wanted
            .add(&name, uri, owner)
            .map_err(|error| CallError::not_run(CallErrorReason::Unsendable, error.to_string()))?;
        let send = async |peer: &Peer, options: &RequestOptions| {
            check_capability(peer, ListKind::Resources)?;
            match peer.era() {
                // The filter of its subscription has the resource from now on.
                Era::Modern => Ok(()),
                Era::Legacy => peer.subscribe_resource(uri, options).await,
            }
        };
        let outcome = self.send_repeatable("resources/subscribe", server, send).await;
        if outcome.is_err() && is_new {
            wanted.remove(&name, uri, owner);
        }
        outcome
    }

    /// Ends a subscription of the owner of the scope.
    pub(crate) async fn unsubscribe_resource(
        self,
        server: &str,
        uri: &str,
    ) -> Result<(), CallError> {
        self.scope.check_whole_server(server)?;
        let wanted = &self.runtime.0.shared.host_requests.resources;
        if !wanted.remove(&ServerName::new(server), uri, &self.scope.subscriptions) {
            return Ok(());
        }
        let send = async |peer: &Peer, options: &RequestOptions| match peer.era() {
            Era::Modern => Ok(()),
            Era::Legacy => peer.unsubscribe_resource(uri, options).await,
        };
        self.send_repeatable("resources/unsubscribe", server, send).await
    }

    /// Sends any request once, except those that have functions of their own.
    pub(crate) async fn raw(
        self,
        server: &str,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Json, CallError> {
        if let Some(why) = refusal_of(method) {
            return Err(CallError::not_run(CallErrorReason::Unsendable, why));
        }
        let send = async |peer: &Peer, options: &RequestOptions| {
            peer.request(method, params, options).await
        };
        self.send_request("custom", server, Repeat::Never, send).await
    }

    pub(crate) fn instructions(self) -> Vec<(ServerName, String)> {
        let snapshot = self.runtime.snapshot();
        let in_scope = snapshot
            .servers()
            .filter(|server| self.scope.allows_whole_server(server.name.as_str()));
        let wanted = in_scope.filter(|server| {
            let is_there = matches!(server.status, Status::Connected | Status::Reconnecting);
            let policy = server.trusted.as_ref().map(|trusted| &trusted.spec.policy);
            is_there
                && policy.is_some_and(|policy| {
                    !policy.without_instructions && policy.approval != Approval::Deny
                })
        });
        let texts = wanted.filter_map(|server| {
            let text = server.info.as_ref()?.instructions.clone()?;
            Some((server.name.clone(), text))
        });
        texts.collect()
    }

    /// Sends a request that changes nothing on the server; one that was lost is sent once more.
    pub(crate) async fn send_repeatable<T>(
        self,
        method: &'static str,
        server: &str,
        send: impl AsyncFn(&Peer, &RequestOptions) -> Result<T, RequestError>,
    ) -> Result<T, CallError> {
        self.send_request(method, server, Repeat::Once, send).await
    }

    async fn send_request<T>(
        self,
        method: &'static str,
        server: &str,
        repeat: Repeat,
        send: impl AsyncFn(&Peer, &RequestOptions) -> Result<T, RequestError>,
    ) -> Result<T, CallError> {
        self.scope.check_whole_server(server)?;
        let tracker = PhaseTracker::default();
        let pending = PendingRequest { method, server, repeat, tracker: &tracker };
        let request = self.send_until_answered(pending, send);
        match self.scope.max_call {
            None => request.await,
            Some(limit) => tokio::time::timeout(limit, request)
                .await
                .unwrap_or_else(|_| Err(CallError::deadline_reached(limit, tracker.phase()))),
        }
    }

    async fn send_until_answered<T>(
        self,
        PendingRequest { method, server, repeat, tracker }: PendingRequest<'_>,
        send: impl AsyncFn(&Peer, &RequestOptions) -> Result<T, RequestError>,
    ) -> Result<T, CallError> {
        let runtime = self.runtime;
        let cap = runtime.settings().call_cap;
        let mut is_last = repeat == Repeat::Never;
        loop {
            let limit =
                runtime.snapshot().server(server).map_or(cap, |view| deadline_of(view, cap).idle);
            let (view, peer) = runtime.peer(server, limit).await.map_err(unavailable)?;
            let mut options = self.request_options(deadline_of(&view, cap));
            let span =
                spans::request_span(method, &view.name, view.span_id.as_ref(), &peer, &mut options);
            let stderr_start = peer.stderr_position();
            tracker.set(CallPhase::Receive);
            let answer = send(&peer, &options).instrument(span.clone()).await;
            spans::record_request(&span, &answer);
            drop(span);
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(RequestError::Lost { .. } | RequestError::StreamEnded) if !is_last => {
                    is_last = true;
                    continue;
                }
                Err(error) => error,
            };
            let stderr = peer.stderr_since(stderr_start);
            let mut failure = to_call_error(&error, peer.era(), &stderr, &view.secrets);
            if may_mean_disconnected(&error) {
                runtime.check_alive(&view.name);
            } else if matches!(
                error,
                RequestError::ErrorResponse(_) | RequestError::Inconclusive { .. }
            ) {
                // The hints are worded for tool calls.
                failure.hint = None;
            }
            return Err(failure);
        }
    }

    /// Returns an error for each server in the scope.
    fn errors_after_shutdown(self) -> Vec<(ServerName, CallError)> {
        let snapshot = self.runtime.snapshot();
        let names = snapshot.servers().map(|server| server.name.clone());
        let names = names.filter(|name| self.scope.allows_whole_server(name.as_str()));
        names.map(|name| (name, unavailable(Unavailable::ShutDown))).collect()
    }

    async fn list_from_servers<T: ListEntry>(
        self,
        server: Option<&str>,
        kind: ListKind,
        method: &'static str,
        list: impl AsyncFn(&Peer, &RequestOptions) -> Result<ListResult<T>, RequestError>,
    ) -> CollectedList<T> {
        let cap = self.runtime.settings().call_cap;
        let until = self.scope.max_call.map(|limit| Instant::now() + limit);
        let mut collected =
            CollectedList { items: Vec::new(), errors: Vec::new(), cut: Vec::new() };
        let snapshot = match self.listed_servers(server).await {
            Ok(snapshot) => snapshot,
            Err(errors) => {
                collected.errors = errors;
                return collected;
            }
        };
        let left = until.map_or(Duration::MAX, |until| until.duration_since(Instant::now()));
        let ask = async |view: &Arc<ServerSnapshot>| {
            let peer = match (&view.peer, &view.failure) {
                (Some(peer), _) if has_capability(peer, kind) => peer,
                (None, Some(failure)) if view.status != Status::Disabled => {
                    let (server, failure) = (view.name.clone(), Arc::clone(failure));
                    return Some(Err(unavailable(Unavailable::Failed { server, failure })));
                }
                _ => return None,
            };
            let deadline = deadline_of(view, cap);
            let mut options = self.request_options(deadline);
            let span =
                spans::request_span(method, &view.name, view.span_id.as_ref(), peer, &mut options);
            let stderr_start = peer.stderr_position();
            let listing = list(peer, &options).instrument(span.clone());
            let listing = list_within(listing, deadline.idle.min(left), &view.secrets).await;
            let listing = match listing {
                Ok(listing) => listing,
                Err(panicked) => return Some(Err(panicked)),
            };
            spans::record_request(&span, &listing);
            Some(listing.map_err(|error| {
                let stderr = peer.stderr_since(stderr_start);
                to_call_error(&error, peer.era(), &stderr, &view.secrets)
            }))
        };
        let is_wanted = |name: &str| match server {
            Some(server) => name == server,
            None => self.scope.allows_whole_server(name),
        };
        let wanted = snapshot.servers().filter(|view| is_wanted(view.name.as_str()));
        let asked = wanted.map(async |view| (&view.name, ask(view).await));
        for (name, outcome) in join_all(asked).await {
            if let Some(outcome) = outcome {
                collected.add(name, outcome);
            }
        }
        collected
    }

    /// Waits for the server of a listing, or for all servers in the scope. A request for one server
    /// does not wait for the others.
    async fn listed_servers(
        self,
        server: Option<&str>,
    ) -> Result<Arc<Snapshot>, Vec<(ServerName, CallError)>> {
        let (runtime, scope) = (self.runtime, self.scope);
        let limit = scope.max_call.unwrap_or(Duration::MAX);
        let Some(server) = server else {
            if runtime.has_shut_down() {
                return Err(self.errors_after_shutdown());
            }
            let needed = |view: &ServerSnapshot| scope.allows_whole_server(view.name.as_str());
            let waiting = tokio::time::timeout(limit, runtime.wait_for_needed(needed));
            return Ok(waiting.await.unwrap_or_else(|_| runtime.snapshot()));
        };
        let name = ServerName::new(server);
        let waiting = async {
            scope.check_whole_server(server)?;
            match tokio::time::timeout(limit, runtime.wait_for(server)).await {
                Ok(connected) => connected.map(drop).map_err(unavailable),
                Err(_) => Err(CallError::not_connected_in_time(limit)),
            }
        };
        match waiting.await {
            Ok(()) => Ok(runtime.snapshot()),
            Err(error) => Err(vec![(name, error)]),
        }
    }

    fn request_options(self, deadline: Deadline) -> RequestOptions {
        let cause = self.scope.context.clone().map(RequestCause::new);
        RequestOptions { deadline, cause, ..RequestOptions::default() }
    }
}

/// The methods that are not sent as raw requests, and why: the runtime would not know of them. A
/// name that ends with `/` stands for all methods that begin with it.
const REFUSED: [(&str, &str); 9] = [
    ("tools/call", "tools are called with `call`, which checks arguments and approval"),
    ("initialize", "servers are initialized by `connect`"),
    ("server/discover", "servers are discovered by `connect`; `ConnectionInfo` has the result"),
    ("subscriptions/", "the runtime subscribes itself; use `subscribe_resource` for a resource"),
    ("resources/subscribe", "use `subscribe_resource`, which also subscribes after a reconnect"),
    ("resources/unsubscribe", "use `unsubscribe_resource`"),
    ("logging/setLevel", "use `set_log_level`, which also sets the level after a reconnect"),
    ("tasks/", "tasks belong to calls, and `call` waits for them"),
    ("notifications/", "a notification is not a request and has no result"),
];

/// Returns why a method is not sent as a raw request.
fn refusal_of(method: &str) -> Option<String> {
    let is_meant = |name: &str| method == name || name.ends_with('/') && method.starts_with(name);
    let (_, why) = REFUSED.iter().find(|(name, _)| is_meant(name))?;
    Some(format!("`{}` is not sent as a raw request: {why}", clip(method, 100)))
}

/// Limits a whole listing: a server may answer each page in time and never send the last one. A
/// panic becomes an error of this server. Secrets in the items are redacted.
async fn list_within<T: ListEntry>(
    listing: impl Future<Output = Result<ListResult<T>, RequestError>>,
    limit: Duration,
    secrets: &Secrets,
) -> Result<Result<ListResult<T>, RequestError>, CallError> {
    let listing = AssertUnwindSafe(async {
        let late = RequestError::TimedOut { limit, never_sent: false };
        let mut listing = tokio::time::timeout(limit, listing).await.unwrap_or(Err(late))?;
        secrets.redact_entries(&mut listing.items);
        Ok(listing)
    });
    listing.catch_unwind().await.map_err(|_| CallError::panicked())
}

/// Fails for a server without the capability: some servers never answer such a request.
pub(crate) fn check_capability(peer: &Peer, kind: ListKind) -> Result<(), RequestError> {
    let what = match kind {
        ListKind::Resources => "resources",
        ListKind::Prompts => "prompts",
    };
    if has_capability(peer, kind) {
        return Ok(());
    }
    Err(RequestError::Unsendable(format!("the server has no {what}")))
}

fn has_capability(peer: &Peer, kind: ListKind) -> bool {
    let capabilities = &peer.profile().capabilities;
    match kind {
        ListKind::Resources => capabilities.resources().is_some(),
        ListKind::Prompts => capabilities.prompts().is_some(),
    }
}

fn deadline_of(view: &ServerSnapshot, cap: Duration) -> Deadline {
    let idle = view.trusted.as_ref().map_or(cap, |trusted| call_idle_timeout(&trusted.spec, cap));
    Deadline { idle, cap }
}
