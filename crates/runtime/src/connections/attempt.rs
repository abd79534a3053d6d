//! One connection attempt: resolve, start or reach, negotiate a revision, list the tools.
//!
//! Everything slow happens here, each step with a limit. The attempt may be dropped at any await;
//! its processes are then ended.

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
use wharf_protocol::view::ServerCapabilities;
use wharf_protocol::{
    ConnectError, ConnectOptions, Json, Peer, StdioSpec, connect_pipe, connect_stdio, view,
};
#[cfg(feature = "http")]
use wharf_protocol::{HttpSpec, connect_http};

use super::server_messages::{ChangeFlags, ServerMessageHandler};
use super::shared::{ConnectionConfig, Shared, connect_timeout, is_local, list_timeout};
use super::snapshot::ConnectionInfo;
use super::subscriptions::{self, SubscriptionLoop};
use crate::logs;
use crate::resolve::{ResolvedTransport, Secrets};
use crate::spans;
use crate::status::ServerFailure;
use crate::store::tool_cache::CachedServer;
use crate::tools::server_tools::{ServerTools, ToolList, ToolServer};
use crate::tools::{Freshness, ToolChange};
use crate::trace::RedactingTracer;

/// How many characters of a server's name and version are kept.
const MAX_NAME: usize = 200;

/// How many characters of a server's instructions are kept.
const MAX_INSTRUCTIONS: usize = 64 * 1024;

/// How many bytes of a server's capabilities are kept.
const MAX_CAPABILITIES: usize = 64 * 1024;

/// An attempt to connect to one server.
pub(super) struct Attempt<'a> {
    pub(super) shared: &'a Shared,
    pub(super) config: &'a Arc<ConnectionConfig>,
    pub(super) remembered: Option<Revision>,
}

/// A connected server with its tools.
pub(crate) struct ConnectedServer {
    pub(crate) peer: Peer,
    pub(crate) info: Arc<ConnectionInfo>,
    pub(crate) tools: ListedTools,
    /// The secrets to redact in its text.
    pub(crate) secrets: Arc<Secrets>,
    /// The span of its connection.
    pub(super) span_id: Option<Id>,
}

/// The notifications of a connected server.
pub(super) struct ServerNotifications {
    /// Flags of changed lists.
    pub(super) changes: Arc<ChangeFlags>,
    /// Keeps the subscription open.
    pub(super) subscriptions: SubscriptionLoop,
}

/// The tools of a server from its latest list.
pub(crate) struct ListedTools {
    pub(crate) server_tools: Arc<ServerTools>,
    /// The configuration with which they were prepared; it may have changed since.
    pub(super) config: Arc<ConnectionConfig>,
    /// Why the list is not complete, if it is not.
    pub(super) cut: Option<ListCut>,
    /// How the tools differ from their pins.
    pub(crate) differences: Arc<[ToolChange]>,
    /// The time to live that the server gave for the list.
    pub(super) ttl: Duration,
}

impl Attempt<'_> {
    /// Connects and lists the tools, as the `number`-th attempt in a row. Omitted values are
    /// reported through `report` before anything is sent: they may be the reason of a failure.
    ///
    /// All processes belong to `tasks`: when those have ended, so have the processes.
    pub(super) async fn run(
        &self,
        number: u32,
        tasks: &TaskTracker,
        report: impl FnOnce(Vec<Problem>),
    ) -> Result<(ConnectedServer, ServerNotifications), ServerFailure> {
        let server = &self.config.server.spec.name;
        let span = spans::connect_span(server, number);
        let mut omitted = Vec::new();
        let report_omissions = |problems: Vec<Problem>| {
            omitted = problems.iter().map(|problem| problem.message.clone()).collect();
            report(problems);
        };
        let outcome = self.connect(tasks, report_omissions).instrument(span.clone()).await;
        let outcome = outcome.map_err(|failure| failure.with_omissions(&omitted));
        let error = outcome.as_ref().err().map(ServerFailure::in_one_line);
        self.shared.history.note_attempt(&self.config.server, error.as_deref());
        spans::record_connect(&span, outcome.as_ref().map(|(live, _)| &live.peer));
        outcome
    }

    /// Starts or reaches the server and negotiates the revision.
    async fn connect_transport(
        &self,
        transport: ResolvedTransport,
        options: &ConnectOptions,
        handler: Arc<ServerMessageHandler>,
    ) -> Result<Peer, ConnectError> {
        match transport {
            ResolvedTransport::Stdio(launch) => {
                let server = &self.config.server;
                let log =
                    logs::sink(self.shared.options.logs.as_deref(), server.spec.name.as_str());
                let grace = self.shared.options.grace;
                let stdio = StdioSpec { grace, log, ..StdioSpec::new(launch) };
                // Files are created while the system starts the process, so that this costs no
                // time.
                let files = async {
                    tokio::task::yield_now().await;
                    self.shared.lockfile.create();
                    self.shared.history.prepare(server);
                };
                tokio::join!(connect_stdio(&stdio, options, handler), files).0
            }
            ResolvedTransport::Pipe(opener) => {
                Box::pin(connect_pipe(opener, options, handler)).await
            }
            #[cfg(feature = "http")]
            ResolvedTransport::Http { target, authorizer, http_transport } => {
                let client = self.shared.http.clone();
                let http = HttpSpec { target, client, authorizer, http_transport };
                // Boxed, so that servers on stdio do not carry the room for it.
                Box::pin(connect_http(&http, options, handler)).await
            }
        }
    }

    async fn connect(
        &self,
        tasks: &TaskTracker,
        report_omissions: impl FnOnce(Vec<Problem>),
    ) -> Result<(ConnectedServer, ServerNotifications), ServerFailure> {
        let began = Instant::now();
        let server = &self.config.server;
        let resolved = self.shared.resolver.resolve(server).await;
        let resolved = resolved.map_err(|error| ServerFailure::from_resolve_error(&error))?;
        if !resolved.omissions.is_empty() {
            report_omissions(resolved.omissions);
        }
        let (spec, secrets) = (&server.spec, resolved.secrets);
        let (handler, changes) = ServerMessageHandler::new(&spec.name, &secrets, self.shared);
        let options = self.options(&secrets, tasks);
        let peer = self.connect_transport(resolved.transport, &options, handler.clone()).await;
        let peer = peer.map_err(|error| {
            let failure = ServerFailure::from_connect_error(&error, &server.written, &secrets);
            failure.with_pinned_version_hint(spec.policy.protocol_version.as_deref())
        })?;
        changes.set_revision(peer.revision());
        let connect_time = began.elapsed();
        let listing = Instant::now();
        let mut subscriptions = subscriptions::keep_subscribed(
            peer.clone(),
            handler,
            self.shared.host_requests.clone(),
            connect_timeout(spec),
        );
        let listed = if is_local(spec) {
            tokio::select! {
                biased;
                never = &mut subscriptions => match never {},
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
        changes.mark_listed();
        let info = connection_info(&peer, &secrets, connect_time, listing.elapsed());
        Ok((
            ConnectedServer { peer, info, tools, secrets, span_id: None },
            ServerNotifications { changes, subscriptions },
        ))
    }

    /// Returns the options to connect with.
    fn options(&self, secrets: &Arc<Secrets>, tasks: &TaskTracker) -> ConnectOptions {
        let spec = &self.config.server.spec;
        let sink = self.shared.options.trace.as_ref();
        let tracer = sink.map(|sink| {
            Arc::new(RedactingTracer::new(&spec.name, secrets, sink)) as Arc<dyn Tracer>
        });
        ConnectOptions {
            remembered: self.remembered,
            tasks: tasks.clone(),
            tracer,
            ..self.shared.connect_options(spec)
        }
    }

    /// Lists the tools of a connected server.
    pub(super) async fn list(
        &self,
        peer: &Peer,
        secrets: &Secrets,
    ) -> Result<ListedTools, ServerFailure> {
        let limit = list_timeout(&self.config.server.spec);
        let mut listing = if has_tools(peer) {
            let options = RequestOptions::within(limit);
            // A server may answer each page in time and never send the last one.
            let listing = tokio::time::timeout(limit, peer.list_tools(&options)).await;
            let late = wharf_protocol::peer::RequestError::TimedOut { limit, never_sent: false };
            listing
                .unwrap_or(Err(late))
                .map_err(|error| ServerFailure::from_list_error(&error, peer.stderr(), secrets))?
        } else {
            nothing()
        };
        secrets.redact_entries(&mut listing.items);
        Ok(self.prepare(peer, listing, secrets))
    }

    fn prepare(
        &self,
        peer: &Peer,
        listing: ListResult<view::ToolDefinition>,
        secrets: &Secrets,
    ) -> ListedTools {
        let (shared, config) = (self.shared, self.config);
        let spec = &config.server.spec;
        // Cache, pins and tools share one list, because it may be long.
        let tools: Arc<[view::ToolDefinition]> = listing.items.into();
        let pins = shared.history.check_pins(&config.server, &tools, config.settings.pinning);
        let profile = peer.profile();
        let cached = CachedServer {
            revision: Some(peer.revision()),
            tools: Arc::clone(&tools),
            cut: listing.cut,
            instructions: profile.instructions.as_deref().map(|text| secrets.redact(text)),
            saved: std::time::SystemTime::now(),
        };
        shared.history.cache(&config.server, cached);
        let by = ToolServer { name: &spec.name, source: &config.source, policy: &spec.policy };
        let differences = pins.changes().into();
        let listed = ToolList { tools, rejected: listing.rejected, pins: Some(pins) };
        let server_tools =
            ServerTools::prepare(&by, listed, Freshness::Live, config.settings.tools);
        ListedTools {
            server_tools: Arc::new(server_tools),
            config: Arc::clone(config),
            differences,
            cut: listing.cut,
            ttl: listing.cache.ttl,
        }
    }
}

/// Tells whether to request tools. A server that declares other capabilities, but not tools, gets
/// no request: some never answer a request for a capability that they did not declare.
fn has_tools(peer: &Peer) -> bool {
    let capabilities = &peer.profile().capabilities;
    capabilities.tools().is_some()
        || (capabilities.resources().is_none() && capabilities.prompts().is_none())
}

fn nothing() -> ListResult<view::ToolDefinition> {
    ListResult {
        items: Vec::new(),
        rejected: Vec::new(),
        cache: view::CacheHints::default(),
        cut: None,
    }
}

fn connection_info(
    peer: &Peer,
    secrets: &Secrets,
    connect_time: Duration,
    list_time: Duration,
) -> Arc<ConnectionInfo> {
    let profile = peer.profile();
    let text = |text: Option<bytestring::ByteString>| {
        secrets.redact_start(&text.unwrap_or_default(), MAX_NAME)
    };
    let instructions = profile.instructions.as_ref();
    let instructions = instructions.map(|text| secrets.redact_start(text, MAX_INSTRUCTIONS));
    Arc::new(ConnectionInfo {
        name: text(profile.server.name()),
        version: text(profile.server.version()),
        revision: profile.revision,
        transport: peer.transport(),
        instructions,
        capabilities: capabilities(&profile.capabilities, secrets),
        connect_time,
        list_time,
    })
}

/// Redacts the capabilities.
fn capabilities(declared: &ServerCapabilities, secrets: &Secrets) -> ServerCapabilities {
    let raw = declared.raw();
    let is_kept = raw.as_str().len() <= MAX_CAPABILITIES;
    // Parsed again, because a part would keep the buffer of its whole message.
    let copy = Json::parse(if is_kept { raw.as_str().to_owned() } else { "{}".to_owned() });
    ServerCapabilities::read(secrets.redact_json(copy.unwrap_or_else(|_| Json::object())))
}
