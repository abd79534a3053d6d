//! The state of one server in the supervisor: its snapshot and its active connection.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_protocol::era::Revision;

use super::attempt::ListedTools;
use super::connection::{ConnectionCommand, ConnectionEvent, ConnectionNumber, ReconnectCount};
use super::shared::{ConnectionConfig, RuntimeSettings, Shared};
use super::snapshot::ServerSnapshot;
use super::supervisor::initial_status;
use crate::status::{FailureKind, ServerFailure, Status};
use crate::tools::server_tools::{ServerTools, ToolList, ToolServer};
use crate::tools::{Freshness, Pinning, ToolChange};
use crate::trust_gate::{GateDecision, PlannedServer};

/// One server in the supervisor.
pub(super) struct ServerSlot {
    pub(super) view: ServerSnapshot,
    /// How to connect it; none if it may not be connected.
    pub(super) config: Option<Arc<ConnectionConfig>>,
    /// The protocol revision of the last connection, also of an earlier run.
    pub(super) remembered: Option<Revision>,
    pub(super) reconnect_count: ReconnectCount,
    /// Cancelled when a closed connection has ended.
    pub(super) closing: Option<CancellationToken>,
    /// The published view, until something changes.
    published: Option<Arc<ServerSnapshot>>,
    active: Option<ActiveConnection>,
}

/// The active connection of a server; dropping it stops the connection.
pub(super) struct ActiveConnection {
    pub(super) number: ConnectionNumber,
    pub(super) commands: mpsc::UnboundedSender<ConnectionCommand>,
    pub(super) config: watch::Sender<Arc<ConnectionConfig>>,
    pub(super) stop: DropGuard,
    /// Cancelled when the connection has ended.
    pub(super) ended: CancellationToken,
}

/// The effect of a report.
#[derive(Default)]
pub(super) struct ReportEffect {
    /// The tools changed.
    pub(super) has_new_tools: bool,
    /// How the tools differ from their pins.
    pub(super) differences: Option<Arc<[ToolChange]>>,
}

impl ServerSlot {
    /// Creates the slot of a planned server, with its cached tools.
    pub(super) fn new(planned: PlannedServer, shared: &Shared, settings: &RuntimeSettings) -> Self {
        let (status, failure) = initial_status(&planned.decision);
        let config = config_of(&planned, settings);
        let cached = config.as_ref().and_then(|config| shared.history.cached(&config.server));
        let remembered = cached.as_ref().and_then(|cached| cached.revision);
        let cut = cached.as_ref().and_then(|cached| cached.cut);
        let server_tools = config.as_ref().zip(cached).map(|(config, cached)| {
            // With enforced pins, the cache must not bring back a withheld tool. Otherwise pins are
            // not read here, which saves time.
            let (server, mode) = (&config.server, settings.pinning);
            let pins = (mode == Pinning::Enforce)
                .then(|| shared.history.compare_pins(server, &cached.tools, mode));
            let listed = ToolList { tools: cached.tools, pins, ..ToolList::default() };
            Arc::new(ServerTools::prepare(
                &config.offered_by(),
                listed,
                Freshness::Cached,
                settings.tools,
            ))
        });
        let trusted = config.as_ref().map(|config| Arc::clone(&config.server));
        let view = ServerSnapshot {
            name: planned.name,
            source: planned.source,
            transport: planned.transport,
            status,
            failure: failure.map(Arc::new),
            info: None,
            definition_problems: planned.problems.into(),
            omissions: Arc::default(),
            cut,
            is_required: trusted.as_ref().is_some_and(|trusted| trusted.spec.policy.required),
            trusted,
            peer: None,
            span_id: None,
            server_tools,
            secrets: Arc::default(),
        };
        Self {
            view,
            config,
            remembered,
            reconnect_count: ReconnectCount::default(),
            closing: None,
            published: None,
            active: None,
        }
    }

    /// Returns the view to publish; the same `Arc` until something changes.
    pub(super) fn published(&mut self) -> Arc<ServerSnapshot> {
        Arc::clone(self.published.get_or_insert_with(|| Arc::new(self.view.clone())))
    }

    /// Tells whether it is connected only on demand.
    pub(super) fn is_lazy(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.server.spec.policy.lazy)
    }

    /// Tells whether it should have a connection and has none.
    pub(super) fn needs_connection(&self) -> bool {
        let may_be = self.view.status.is_pending() || self.is_lazy();
        self.config.is_some() && self.active.is_none() && may_be
    }

    pub(super) fn set_active(&mut self, active: ActiveConnection) {
        self.active = Some(active);
    }

    /// Tells whether this is the active connection.
    pub(super) fn is_current(&self, number: ConnectionNumber) -> bool {
        self.active.as_ref().is_some_and(|active| active.number == number)
    }

    /// Tells whether a server of a new catalog can keep the current connection.
    pub(super) fn is_same_connection(&self, planned: &PlannedServer) -> bool {
        match (&self.config, &planned.decision) {
            (Some(own), GateDecision::Allowed(new)) => own.server.has_same_connection_as(new),
            (None, GateDecision::Allowed(_)) | (Some(_), _) => false,
            (None, decision) => {
                let (status, failure) = initial_status(decision);
                status == self.view.status && failure.as_ref() == self.view.failure.as_deref()
            }
        }
    }

    /// Applies a changed definition of a server that keeps its connection; tells whether anything
    /// differs.
    pub(super) fn update_definition(
        &mut self,
        planned: PlannedServer,
        settings: &RuntimeSettings,
    ) -> bool {
        self.published = None;
        let before = std::mem::replace(&mut self.config, config_of(&planned, settings));
        self.view.source = planned.source;
        self.view.definition_problems = planned.problems.into();
        self.view.transport = planned.transport;
        let (Some(before), Some(now)) = (before, &self.config) else { return false };
        let has_new_policy = before.server.spec.policy != now.server.spec.policy;
        let is_different = has_new_policy || before.source != now.source;
        self.view.trusted = Some(Arc::clone(&now.server));
        self.view.is_required = now.server.spec.policy.required;
        if !is_different && before.settings == now.settings {
            return false;
        }
        let server_tools = self.view.server_tools.take();
        self.view.server_tools = server_tools.map(|server_tools| {
            Arc::new(server_tools.with_server(&now.offered_by(), now.settings.tools))
        });
        if let Some(active) = &self.active {
            active.config.send_replace(Arc::clone(now));
            if before.settings.pinning != now.settings.pinning {
                self.send(ConnectionCommand::Relist);
            }
        }
        is_different
    }

    /// Connects it for a call; tells whether its status changed.
    pub(super) fn connect_now(&mut self) -> bool {
        let is_stopped = matches!(&self.view.failure, Some(failure)
            if failure.kind == FailureKind::Stopped);
        match self.view.status {
            Status::Connected | Status::Connecting => false,
            Status::Reconnecting => {
                self.send(ConnectionCommand::ConnectNow);
                false
            }
            _ if self.config.is_none() => false,
            _ => {
                self.send(ConnectionCommand::ConnectNow);
                !is_stopped && self.set_status(Status::Connecting)
            }
        }
    }

    /// Reconnects it for the host; tells whether its status changed.
    pub(super) fn reconnect(&mut self) -> bool {
        if self.config.is_none() {
            return false;
        }
        self.reconnect_count = self.reconnect_count.next();
        self.send(ConnectionCommand::Reconnect(self.reconnect_count));
        self.set_status(Status::Connecting)
    }

    /// Retries a failed server after a reload, unless it was stopped for too many starts.
    pub(super) fn retry_failed(&mut self) -> bool {
        match (self.view.status, &self.view.failure) {
            (_, Some(failure)) if failure.kind == FailureKind::Stopped => false,
            (Status::Failed | Status::NeedsAuth, _) => self.connect_now(),
            (Status::Disconnected, _) if self.active.is_some() && !self.is_lazy() => {
                self.connect_now()
            }
            _ => false,
        }
    }

    /// Checks whether the server is alive, after a request that failed as if it were not.
    pub(super) fn check_alive(&self) {
        self.send(ConnectionCommand::CheckAlive);
    }

    /// Closes the connection and removes the tools; returns the number of the ending
    /// connection.
    pub(super) fn disconnect(&mut self) -> Option<ConnectionNumber> {
        let active = self.active.take();
        self.published = None;
        self.view.peer = None;
        self.view.server_tools = None;
        self.view.info = None;
        if self.config.is_some() {
            self.view.status = Status::Disconnected;
            self.view.failure = None;
        }
        let active = active?;
        self.closing = Some(active.ended);
        Some(active.number)
    }

    /// Stops the connection; the returned token is cancelled when it has ended.
    pub(super) fn stop(self) -> Option<CancellationToken> {
        let active = self.active?;
        drop(active.stop);
        Some(active.ended)
    }

    pub(super) fn fail(&mut self, failure: ServerFailure) {
        self.active = None;
        self.set_failure(Status::Failed, failure);
    }

    /// Applies an event of the connection.
    pub(super) fn apply(&mut self, event: ConnectionEvent) -> ReportEffect {
        self.published = None;
        match event {
            ConnectionEvent::OmittedValues(problems) => self.view.omissions = problems.into(),
            ConnectionEvent::Connecting => {
                self.view.omissions = Arc::default();
                if self.view.status != Status::Reconnecting {
                    self.view.status = Status::Connecting;
                }
            }
            ConnectionEvent::Connected(live) => {
                let live = *live;
                self.view.status = Status::Connected;
                self.view.failure = None;
                self.remembered = Some(live.info.revision);
                self.view.info = Some(live.info);
                self.view.peer = Some(live.peer);
                self.view.secrets = live.secrets;
                self.view.span_id = live.span_id;
                return self.set_tools(live.tools);
            }
            ConnectionEvent::Listed(tools) => return self.set_tools(tools),
            ConnectionEvent::Lost(failure) => self.set_failure(Status::Reconnecting, failure),
            ConnectionEvent::Failed(failure) => {
                let status = match failure.kind {
                    FailureKind::NeedsAuth => Status::NeedsAuth,
                    _ => Status::Failed,
                };
                self.set_failure(status, failure);
            }
        }
        ReportEffect::default()
    }

    fn set_tools(&mut self, tools: ListedTools) -> ReportEffect {
        let is_same = self
            .view
            .server_tools
            .as_ref()
            .is_some_and(|before| before.is_same(&tools.server_tools));
        // A new catalog may have been applied while the tools were listed.
        self.view.server_tools = Some(match &self.config {
            Some(now) if !Arc::ptr_eq(now, &tools.config) => {
                Arc::new(tools.server_tools.with_server(&now.offered_by(), now.settings.tools))
            }
            _ => tools.server_tools,
        });
        self.view.cut = tools.cut;
        let differences = Some(tools.differences).filter(|differences| !differences.is_empty());
        ReportEffect { has_new_tools: !is_same, differences }
    }

    fn set_failure(&mut self, status: Status, failure: ServerFailure) {
        self.published = None;
        self.view.status = status;
        self.view.failure = Some(Arc::new(failure));
        self.view.peer = None;
    }

    fn set_status(&mut self, status: Status) -> bool {
        self.published = None;
        self.view.peer = None;
        std::mem::replace(&mut self.view.status, status) != status
    }

    fn send(&self, command: ConnectionCommand) {
        if let Some(active) = &self.active {
            let _it_may_be_over = active.commands.send(command);
        }
    }
}

fn config_of(planned: &PlannedServer, settings: &RuntimeSettings) -> Option<Arc<ConnectionConfig>> {
    let GateDecision::Allowed(server) = &planned.decision else { return None };
    let (server, source) = (Arc::clone(server), Arc::clone(&planned.source));
    Some(Arc::new(ConnectionConfig { server, source, settings: settings.clone() }))
}

impl ConnectionConfig {
    /// Returns the server to which the tools belong.
    fn offered_by(&self) -> ToolServer<'_> {
        let spec = &self.server.spec;
        ToolServer { name: &spec.name, source: &self.source, policy: &spec.policy }
    }
}
