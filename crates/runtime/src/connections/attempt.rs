//! One attempt to connect: resolve, start or reach, agree on a revision, list the tools.
//!
//! Everything that can be slow happens here, each step within its limit. Dropped at any await, it
//! leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument;
use tracing::span::Id;
use wharf_config::Problem;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{ListCut, ListResult, RequestOptions};
use wharf_protocol::transport::Tracer;
use wharf_protocol::transport::process::TaskTracker;
use wharf_protocol::{
    ConnectOptions, HttpSpec, Peer, StdioSpec, connect_http, connect_stdio, view,
};

use super::hearing::{self, Hearing};
use super::inbox::{Changes, Inbox};
use super::shared::{Shared, Terms, connect_limit, is_local};
use super::snapshot::About;
use crate::logs;
use crate::resolve::{ResolvedTransport, Secrets};
use crate::spans;
use crate::status::Failure;
use crate::store::tool_cache::CachedServer;
use crate::tools::offer::{Listed, Offer, OfferedBy};
use crate::tools::{Freshness, ToolChange};
use crate::trace::Redacted;

/// How many characters of a server's name and version are kept.
const MOST_NAME: usize = 200;

/// How many characters of a server's instructions are kept.
const MOST_INSTRUCTIONS: usize = 64 * 1024;

/// What it takes to connect to one server.
pub(super) struct Attempt<'a> {
    pub(super) shared: &'a Shared,
    pub(super) terms: &'a Arc<Terms>,
    pub(super) remembered: Option<Revision>,
}

/// A server that is there, with its tools.
pub(crate) struct Live {
    pub(crate) peer: Peer,
    pub(crate) about: Arc<About>,
    pub(crate) tools: Tools,
    /// What must not be seen in what it says.
    pub(crate) secrets: Arc<Secrets>,
    /// The span of its connection.
    pub(super) life: Option<Id>,
}

/// What a server says on its own, for the one who looks after it.
pub(super) struct Ears {
    /// What has changed since somebody looked.
    pub(super) changes: Arc<Changes>,
    /// What keeps it telling.
    pub(super) hearing: Hearing,
}

/// A server's tools as they were listed just now.
pub(crate) struct Tools {
    pub(crate) offer: Arc<Offer>,
    /// By what they were prepared; others may hold by now.
    pub(super) terms: Arc<Terms>,
    /// Why there are not all of them.
    pub(super) cut: Option<ListCut>,
    /// What is not as it was when it was first seen.
    pub(crate) differences: Arc<[ToolChange]>,
    /// How long the list holds by the server's own word.
    pub(super) holds: Duration,
}

impl Attempt<'_> {
    /// Connects and lists, as the `number`-th attempt in a row. What had to be left out is told
    /// before anything is sent: it may be the reason why the rest fails.
    ///
    /// Everything that it starts is in `tasks`: when those have ended, nothing of it is left.
    pub(super) async fn run(
        &self,
        number: u32,
        tasks: &TaskTracker,
        left_out: impl FnOnce(Vec<Problem>),
    ) -> Result<(Live, Ears), Failure> {
        let server = &self.terms.server.spec.name;
        let span = spans::connect(server, number);
        let mut told = Vec::new();
        let tell = |problems: Vec<Problem>| {
            told = problems.iter().map(|problem| problem.message.clone()).collect();
            left_out(problems);
        };
        let outcome = self.connect(tasks, tell).instrument(span.clone()).await;
        let outcome = outcome.map_err(|failure| failure.after_leaving_out(&told));
        let error = outcome.as_ref().err().map(Failure::in_one_line);
        self.shared.history.note_attempt(&self.terms.server, error.as_deref());
        spans::connected(&span, outcome.as_ref().map(|(live, _)| &live.peer));
        outcome
    }

    async fn connect(
        &self,
        tasks: &TaskTracker,
        left_out: impl FnOnce(Vec<Problem>),
    ) -> Result<(Live, Ears), Failure> {
        let began = Instant::now();
        let server = &self.terms.server;
        let resolved = self.shared.resolver.resolve(server).await;
        let resolved = resolved.map_err(|error| Failure::of_resolving(&error))?;
        if !resolved.omissions.is_empty() {
            left_out(resolved.omissions);
        }
        let (spec, secrets) = (&server.spec, resolved.secrets);
        let (inbox, changes) = Inbox::new(&spec.name, &secrets, self.shared);
        let options = self.options(&secrets, tasks);
        let peer = match resolved.transport {
            ResolvedTransport::Stdio(launch) => {
                let log = logs::sink(self.shared.options.logs.as_deref(), spec.name.as_str());
                let stdio =
                    StdioSpec { grace: self.shared.options.grace, log, ..StdioSpec::new(launch) };
                // What has to be made on disk is made while the system is busy with the process, so
                // that it costs no time.
                let making = async {
                    tokio::task::yield_now().await;
                    self.shared.presence.begin();
                    self.shared.history.prepare(server);
                };
                tokio::join!(connect_stdio(&stdio, &options, inbox.clone()), making).0
            }
            ResolvedTransport::Http { target, authorizer, http_transport } => {
                let client = self.shared.http.clone();
                let http = HttpSpec { target, client, authorizer, http_transport };
                // Boxed, so that servers on stdio do not carry the room for it.
                Box::pin(connect_http(&http, &options, inbox.clone())).await
            }
        };
        let peer = peer.map_err(|error| {
            let failure = Failure::of_connecting(&error, &server.place, &secrets);
            failure.of_pinned(spec.policy.protocol_version.as_deref())
        })?;
        changes.settle(peer.revision());
        let connect_time = began.elapsed();
        let listing = Instant::now();
        let levels = self.shared.levels.clone();
        let mut hearing = hearing::listen(peer.clone(), inbox, levels, connect_limit(spec));
        let listed = if is_local(spec) {
            tokio::select! {
                biased;
                never = &mut hearing => match never {},
                listed = self.list(&peer, &secrets) => listed,
            }
        } else {
            self.list(&peer, &secrets).await
        };
        let tools = match listed {
            Ok(tools) => tools,
            Err(failure) => {
                peer.close().await;
                return Err(failure);
            }
        };
        changes.listed();
        let about = about(&peer, &secrets, connect_time, listing.elapsed());
        Ok((Live { peer, about, tools, secrets, life: None }, Ears { changes, hearing }))
    }

    /// Says how to connect.
    fn options(&self, secrets: &Arc<Secrets>, tasks: &TaskTracker) -> ConnectOptions {
        let spec = &self.terms.server.spec;
        let sink = self.shared.options.trace.as_ref();
        let tracer =
            sink.map(|sink| Arc::new(Redacted::new(&spec.name, secrets, sink)) as Arc<dyn Tracer>);
        ConnectOptions {
            remembered: self.remembered,
            tasks: tasks.clone(),
            tracer,
            ..self.shared.connect_options(spec)
        }
    }

    /// Lists the tools of a server that is there.
    pub(super) async fn list(&self, peer: &Peer, secrets: &Secrets) -> Result<Tools, Failure> {
        let limit = connect_limit(&self.terms.server.spec);
        let mut listing = if has_tools(peer) {
            let options = RequestOptions::within(limit);
            // A server may answer each page in time and never come to an end.
            let listing = tokio::time::timeout(limit, peer.list_tools(&options)).await;
            let late = wharf_protocol::peer::RequestError::TimedOut { limit, never_sent: false };
            listing
                .unwrap_or(Err(late))
                .map_err(|error| Failure::of_listing(&error, peer.stderr(), secrets))?
        } else {
            nothing()
        };
        secrets.hide_in_entries(&mut listing.items);
        Ok(self.prepare(peer, listing, secrets))
    }

    fn prepare(&self, peer: &Peer, listing: ListResult<view::Tool>, secrets: &Secrets) -> Tools {
        let (shared, terms) = (self.shared, self.terms);
        let spec = &terms.server.spec;
        // Cache, pins and offer share one list: it may be long.
        let tools: Arc<[view::Tool]> = listing.items.into();
        let pins = shared.history.check_pins(&terms.server, &tools, terms.rules.pinning);
        let profile = peer.profile();
        let cached = CachedServer {
            revision: Some(peer.revision()),
            tools: Arc::clone(&tools),
            cut: listing.cut,
            instructions: profile.instructions.as_deref().map(|text| secrets.hide(text)),
            saved: std::time::SystemTime::now(),
        };
        shared.history.cache(&terms.server, cached);
        let by = OfferedBy { name: &spec.name, source: &terms.source, policy: &spec.policy };
        let differences = pins.changes().into();
        let listed = Listed { tools, rejected: listing.rejected, pins: Some(pins) };
        let offer = Offer::prepare(&by, listed, Freshness::Live, terms.rules.tools);
        Tools {
            offer: Arc::new(offer),
            terms: Arc::clone(terms),
            differences,
            cut: listing.cut,
            holds: listing.cache.ttl,
        }
    }
}

/// A server that names other things it can do, but no tools, is not asked for any: some never
/// answer what they did not offer.
fn has_tools(peer: &Peer) -> bool {
    let can = &peer.profile().capabilities;
    can.tools().is_some() || (can.resources().is_none() && can.prompts().is_none())
}

fn nothing() -> ListResult<view::Tool> {
    ListResult {
        items: Vec::new(),
        rejected: Vec::new(),
        cache: view::CacheHints::default(),
        cut: None,
    }
}

fn about(
    peer: &Peer,
    secrets: &Secrets,
    connect_time: Duration,
    list_time: Duration,
) -> Arc<About> {
    let profile = peer.profile();
    let text = |text: Option<bytestring::ByteString>| {
        secrets.hide_in_start(&text.unwrap_or_default(), MOST_NAME)
    };
    let instructions = profile.instructions.as_ref();
    let instructions = instructions.map(|text| secrets.hide_in_start(text, MOST_INSTRUCTIONS));
    Arc::new(About {
        name: text(profile.server.name()),
        version: text(profile.server.version()),
        revision: profile.revision,
        transport: peer.transport(),
        instructions,
        connect_time,
        list_time,
    })
}
