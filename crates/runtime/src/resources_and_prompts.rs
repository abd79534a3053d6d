//! Requests other than tool calls: resources and prompts, MCP completion, log level, instructions.
//!
//! A list is requested from all servers at once; the result has the items and the errors of each
//! server. These requests change nothing on the server, so one that was lost is sent once more.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use tracing::Instrument;
use wharf_config::{Approval, Problem, ServerName};
use wharf_protocol::era::Era;
use wharf_protocol::peer::{Deadline, ListCut, ListResult, RequestError, RequestOptions};
use wharf_protocol::view::send::CompletionRequest;
use wharf_protocol::view::{
    Completion, ListEntry, LogLevel, Prompt, PromptResult, ReadResult, Resource, ResourceTemplate,
};
use wharf_protocol::{Json, Peer};

use crate::call::request_errors::to_call_error;
use crate::call::{CallError, CallErrorReason};
use crate::connections::{ServerSnapshot, call_idle_timeout, cut_problem};
use crate::execute::{may_mean_disconnected, unavailable};
use crate::resolve::Secrets;
use crate::runtime::{Runtime, Unavailable};
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
enum ListKind {
    Resources,
    Prompts,
}

/// Whether a request that was lost is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Once,
    Never,
}

impl Runtime {
    /// Lists the resources of one server or of all.
    pub async fn resources(&self, server: Option<&str>) -> CollectedList<Resource> {
        let list = async |peer: &Peer, options: &RequestOptions| peer.list_resources(options).await;
        self.list_from_servers(server, ListKind::Resources, "resources/list", list).await
    }

    /// Lists the resource templates of one server or of all.
    pub async fn resource_templates(
        &self,
        server: Option<&str>,
    ) -> CollectedList<ResourceTemplate> {
        let list = async |peer: &Peer, options: &RequestOptions| {
            peer.list_resource_templates(options).await
        };
        let method = "resources/templates/list";
        self.list_from_servers(server, ListKind::Resources, method, list).await
    }

    /// Lists the prompts of one server or of all.
    pub async fn prompts(&self, server: Option<&str>) -> CollectedList<Prompt> {
        let list = async |peer: &Peer, options: &RequestOptions| peer.list_prompts(options).await;
        self.list_from_servers(server, ListKind::Prompts, "prompts/list", list).await
    }

    /// Reads a resource.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<ReadResult, CallError> {
        let send = async |peer: &Peer, options: &RequestOptions| {
            check_capability(peer, ListKind::Resources)?;
            peer.read_resource(uri, options).await
        };
        self.send_repeatable("resources/read", server, send).await
    }

    /// Fetches a prompt with its arguments filled in.
    pub async fn get_prompt(
        &self,
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

    /// Requests completions for an argument of a prompt or of a resource template.
    pub async fn complete(
        &self,
        server: &str,
        request: &CompletionRequest,
    ) -> Result<Completion, CallError> {
        let send =
            async |peer: &Peer, options: &RequestOptions| peer.complete(request, options).await;
        self.send_repeatable("completion/complete", server, send).await
    }

    /// Sets the log level of a server, now and after each reconnect. Its log messages arrive as
    /// [`Event::Log`](crate::Event::Log).
    ///
    /// A server of 2026-07-28 logs only about requests, and nothing until this was called. If this
    /// fails or is dropped, a reconnected server gets the level that was set before.
    pub async fn set_log_level(&self, server: &str, level: LogLevel) -> Result<(), CallError> {
        // The server may reconnect while the request runs, so the level is recorded first.
        let pending_level =
            self.0.shared.host_requests.log_levels.begin_change(&ServerName::new(server), level);
        let send = async |peer: &Peer, options: &RequestOptions| {
            if !peer.profile().capabilities.has_logging() {
                return Err(RequestError::Unsendable("the server does not support logging".into()));
            }
            peer.set_log_level(level, options).await
        };
        self.send_repeatable("logging/setLevel", server, send).await?;
        pending_level.confirm();
        Ok(())
    }

    /// Subscribes to changes of a resource, now and after each reconnect; they arrive as
    /// [`Event::ResourceUpdated`](crate::Event::ResourceUpdated).
    ///
    /// A legacy server has confirmed the subscription when this returns. A server of 2026-07-28
    /// confirms it a moment later.
    ///
    /// # Errors
    /// If the server is not available or rejects the subscription, which is then not kept.
    pub async fn subscribe_resource(&self, server: &str, uri: &str) -> Result<(), CallError> {
        let name = ServerName::new(server);
        let wanted = &self.0.shared.host_requests.resources;
        let is_new = wanted
            .add(&name, uri)
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
            wanted.remove(&name, uri);
        }
        outcome
    }

    /// Ends a subscription to a resource.
    pub async fn unsubscribe_resource(&self, server: &str, uri: &str) -> Result<(), CallError> {
        self.0.shared.host_requests.resources.remove(&ServerName::new(server), uri);
        let send = async |peer: &Peer, options: &RequestOptions| match peer.era() {
            Era::Modern => Ok(()),
            Era::Legacy => peer.unsubscribe_resource(uri, options).await,
        };
        self.send_repeatable("resources/unsubscribe", server, send).await
    }

    /// Sends any request to one server and returns its result unchanged, within the limits of the
    /// server's entry. For methods that this crate has no function for.
    ///
    /// It is sent once: whether it may be repeated is not known. Secrets are redacted in errors,
    /// not in the result.
    ///
    /// # Errors
    /// If the server is not available, or answers with an error. `tools/call` is refused: only
    /// [`Runtime::call`] checks approval.
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Json, CallError> {
        if method == "tools/call" {
            let message = "tools are called with `call`, which checks arguments and approval";
            return Err(CallError::not_run(CallErrorReason::Unsendable, message));
        }
        let send = async |peer: &Peer, options: &RequestOptions| {
            peer.request(method, params, options).await
        };
        self.send_request("custom", server, Repeat::Never, send).await
    }

    /// Returns the instructions of connected servers, for a model's prompt: untrusted text.
    ///
    /// Servers whose entry says `"instructions": false` are omitted.
    pub fn instructions(&self) -> Vec<(ServerName, String)> {
        let snapshot = self.snapshot();
        let wanted = snapshot.servers().filter(|server| {
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
    async fn send_repeatable<T>(
        &self,
        method: &'static str,
        server: &str,
        send: impl AsyncFn(&Peer, &RequestOptions) -> Result<T, RequestError>,
    ) -> Result<T, CallError> {
        self.send_request(method, server, Repeat::Once, send).await
    }

    async fn send_request<T>(
        &self,
        method: &'static str,
        server: &str,
        repeat: Repeat,
        send: impl AsyncFn(&Peer, &RequestOptions) -> Result<T, RequestError>,
    ) -> Result<T, CallError> {
        let cap = self.settings().call_cap;
        let mut is_last = repeat == Repeat::Never;
        loop {
            let limit =
                self.snapshot().server(server).map_or(cap, |view| deadline_of(view, cap).idle);
            let (view, peer) = self.peer(server, limit).await.map_err(unavailable)?;
            let mut options =
                RequestOptions { deadline: deadline_of(&view, cap), ..RequestOptions::default() };
            let span =
                spans::request_span(method, &view.name, view.span_id.as_ref(), &peer, &mut options);
            let stderr_start = peer.stderr_position();
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
                self.check_alive(&view.name);
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

    async fn list_from_servers<T: ListEntry>(
        &self,
        server: Option<&str>,
        kind: ListKind,
        method: &'static str,
        list: impl AsyncFn(&Peer, &RequestOptions) -> Result<ListResult<T>, RequestError>,
    ) -> CollectedList<T> {
        let cap = self.settings().call_cap;
        let mut collected =
            CollectedList { items: Vec::new(), errors: Vec::new(), cut: Vec::new() };
        if let Some(server) = server
            && let Err(why) = self.wait_for(server).await
        {
            collected.errors.push((ServerName::new(server), unavailable(why)));
            return collected;
        }
        if server.is_none() && self.has_shut_down() {
            let snapshot = self.snapshot();
            let names = snapshot.servers().map(|server| server.name.clone());
            collected.errors.extend(names.map(|name| (name, unavailable(Unavailable::ShutDown))));
            return collected;
        }
        // A request for one server does not wait for the others.
        let snapshot = match server {
            Some(_) => self.snapshot(),
            None => self.settled_except_failing().await,
        };
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
            let mut options = RequestOptions { deadline, ..RequestOptions::default() };
            let span =
                spans::request_span(method, &view.name, view.span_id.as_ref(), peer, &mut options);
            let stderr_start = peer.stderr_position();
            let listing = list(peer, &options).instrument(span.clone());
            let listing = match list_within(listing, deadline.idle, &view.secrets).await {
                Ok(listing) => listing,
                Err(panicked) => return Some(Err(panicked)),
            };
            spans::record_request(&span, &listing);
            Some(listing.map_err(|error| {
                let stderr = peer.stderr_since(stderr_start);
                to_call_error(&error, peer.era(), &stderr, &view.secrets)
            }))
        };
        let wanted =
            snapshot.servers().filter(|view| server.is_none_or(|it| view.name.as_str() == it));
        let asked = wanted.map(async |view| (&view.name, ask(view).await));
        for (name, outcome) in join_all(asked).await {
            if let Some(outcome) = outcome {
                collected.add(name, outcome);
            }
        }
        collected
    }
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
fn check_capability(peer: &Peer, kind: ListKind) -> Result<(), RequestError> {
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
