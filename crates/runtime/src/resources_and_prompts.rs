//! Requests other than tool calls: resources and prompts, completion, log level, instructions.
//!
//! A list is requested from all servers at once; the result has the items and the errors of each
//! server. These requests change nothing on the server, so one that was lost is sent once more.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinSet;
use tracing::Instrument;
use wharf_config::{Approval, Problem, ServerName};
use wharf_protocol::Peer;
use wharf_protocol::peer::{Deadline, ListCut, ListResult, RequestError, RequestOptions};
use wharf_protocol::view::send::CompletionRequest;
use wharf_protocol::view::{
    Completion, ListEntry, LogLevel, Prompt, PromptResult, ReadResult, Resource, ResourceTemplate,
};

use crate::call::CallError;
use crate::call::request_errors::to_call_error;
use crate::connections::{ServerSnapshot, call_idle_timeout, cut_problem};
use crate::execute::{may_mean_disconnected, unavailable};
use crate::resolve::Secrets;
use crate::runtime::Runtime;
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
    /// Sorts everything by server name.
    fn sort(&mut self) {
        self.items.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.cut.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.errors.sort_by(|(one, _), (other, _)| one.cmp(other));
    }

    fn new() -> Self {
        Self { items: Vec::new(), errors: Vec::new(), cut: Vec::new() }
    }

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

impl Runtime {
    /// Lists the resources of one server or of all.
    pub async fn resources(&self, server: Option<&str>) -> CollectedList<Resource> {
        let method = "resources/list";
        self.list_from_servers(server, ListKind::Resources, method, |peer, options| async move {
            peer.list_resources(&options).await
        })
        .await
    }

    /// Lists the resource templates of one server or of all.
    pub async fn resource_templates(
        &self,
        server: Option<&str>,
    ) -> CollectedList<ResourceTemplate> {
        let method = "resources/templates/list";
        self.list_from_servers(server, ListKind::Resources, method, |peer, options| async move {
            peer.list_resource_templates(&options).await
        })
        .await
    }

    /// Lists the prompts of one server or of all.
    pub async fn prompts(&self, server: Option<&str>) -> CollectedList<Prompt> {
        self.list_from_servers(
            server,
            ListKind::Prompts,
            "prompts/list",
            |peer, options| async move { peer.list_prompts(&options).await },
        )
        .await
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
        let pending_level = self.0.shared.log_levels.begin_change(&ServerName::new(server), level);
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
        let cap = self.settings().call_cap;
        let mut is_second = false;
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
            match answer {
                Ok(answer) => return Ok(answer),
                Err(RequestError::Lost { .. } | RequestError::StreamEnded) if !is_second => {
                    is_second = true;
                }
                Err(error) if may_mean_disconnected(&error) => {
                    self.check_alive(&view.name);
                    return Err(to_call_error(
                        &error,
                        peer.era(),
                        &peer.stderr_since(stderr_start),
                        &view.secrets,
                    ));
                }
                // The hints are worded for tool calls.
                Err(error @ (RequestError::Refused(_) | RequestError::Inconclusive { .. })) => {
                    return Err(CallError {
                        hint: None,
                        ..to_call_error(
                            &error,
                            peer.era(),
                            &peer.stderr_since(stderr_start),
                            &view.secrets,
                        )
                    });
                }
                Err(error) => {
                    return Err(to_call_error(
                        &error,
                        peer.era(),
                        &peer.stderr_since(stderr_start),
                        &view.secrets,
                    ));
                }
            }
        }
    }

    async fn list_from_servers<T, F>(
        &self,
        server: Option<&str>,
        kind: ListKind,
        method: &'static str,
        list: impl Fn(Peer, RequestOptions) -> F,
    ) -> CollectedList<T>
    where
        T: ListEntry + Send + 'static,
        F: Future<Output = Result<ListResult<T>, RequestError>> + Send + 'static,
    {
        let cap = self.settings().call_cap;
        let mut collected = CollectedList::new();
        if let Some(server) = server
            && let Err(why) = self.wait_for(server).await
        {
            collected.errors.push((ServerName::new(server), unavailable(why)));
            return collected;
        }
        // A request for one server does not wait for the others.
        let snapshot = match server {
            Some(_) => self.snapshot(),
            None => self.settled_except_failing().await,
        };
        let wanted =
            |view: &&Arc<ServerSnapshot>| server.is_none_or(|server| view.name.as_str() == server);
        let mut asked = JoinSet::new();
        for view in snapshot.servers().filter(wanted) {
            match (&view.peer, &view.failure) {
                (Some(peer), _) if has_capability(peer, kind) => {
                    let deadline = deadline_of(view, cap);
                    let mut options = RequestOptions { deadline, ..RequestOptions::default() };
                    let limit = options.deadline.idle;
                    let span = spans::request_span(
                        method,
                        &view.name,
                        view.span_id.as_ref(),
                        peer,
                        &mut options,
                    );
                    let listing = list(peer.clone(), options).instrument(span.clone());
                    let (stderr_start, view, peer) =
                        (peer.stderr_position(), Arc::clone(view), peer.clone());
                    asked.spawn(async move {
                        let listing = list_within(listing, limit, &view.secrets).await;
                        if let Ok(listing) = &listing {
                            spans::record_request(&span, listing);
                        }
                        let stderr = peer.stderr_since(stderr_start);
                        let explained =
                            |error| to_call_error(&error, peer.era(), &stderr, &view.secrets);
                        let outcome = listing.map(|listing| listing.map_err(explained));
                        (view.name.clone(), outcome.unwrap_or_else(Err))
                    });
                }
                (None, Some(failure)) if view.status != Status::Disabled => {
                    let (server, failure) = (view.name.clone(), Arc::clone(failure));
                    let why = crate::runtime::Unavailable::Failed { server, failure };
                    collected.errors.push((view.name.clone(), unavailable(why)));
                }
                _ => {}
            }
        }
        // These tasks are never aborted, and they catch panics.
        while let Some(joined) = asked.join_next().await {
            if let Ok((name, outcome)) = joined {
                collected.add(&name, outcome);
            }
        }
        collected.sort();
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
    let late = RequestError::TimedOut { limit, never_sent: false };
    let listing = AssertUnwindSafe(tokio::time::timeout(limit, listing)).catch_unwind();
    let listing = listing.await.map_err(|_| CallError::panicked())?;
    let mut listing = listing.unwrap_or(Err(late));
    if let Ok(listing) = &mut listing {
        secrets.redact_entries(&mut listing.items);
    }
    Ok(listing)
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
