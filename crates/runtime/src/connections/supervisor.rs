//! The supervisor: the task that owns all servers. It handles commands and reports one at a time,
//! and publishes snapshots.
//!
//! It awaits only its own channels. Commands use a bounded channel and reports an unbounded one, so
//! there is no cycle of waits. The reply to a command follows the snapshot that shows its effect.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_config::{Problem, ServerName};
use wharf_protocol::transport::process;

use super::backoff::ServerKind;
use super::connection::{
    Connection, ConnectionEvent, ConnectionNumber, ConnectionReport, FirstAttempt,
};
use super::current_registry::CurrentRegistry;
use super::lockfile::HeldLockfile;
use super::shared::{RuntimeSettings, Shared, is_local};
use super::slot::{ActiveConnection, ReportEffect, ServerSlot};
use super::snapshot::Snapshot;
use crate::event::Event;
use crate::status::{FailureKind, ServerFailure, Status};
use crate::store::folder_lock::LOCK_TIMEOUT;
use crate::trust_gate::{GateDecision, PlannedServer};

/// How many reports are handled before a snapshot is published.
const MAX_BATCH: usize = 256;

/// The delay before new records are written to disk.
const WRITE_DELAY: Duration = Duration::from_millis(500);

/// The delay before leftover processes of a killed runtime are looked for: late enough not to slow
/// the start.
const CLEANUP_DELAY: Duration = Duration::from_secs(1);

/// How long a shutdown waits for leftover processes to end. They have a second to exit.
const CLEANUP_LIMIT: Duration = Duration::from_secs(2);

/// A command for the supervisor.
pub(crate) enum SupervisorCommand {
    /// Replace the servers by these.
    Apply {
        servers: Vec<PlannedServer>,
        settings: RuntimeSettings,
        done: oneshot::Sender<CatalogChanges>,
    },
    /// A call needs a server.
    ConnectNow { server: ServerName, done: oneshot::Sender<()> },
    /// A request failed as if the server were no longer there: check it.
    CheckAlive { server: ServerName },
    /// The host wants a server to be reconnected.
    Reconnect { server: ServerName, done: oneshot::Sender<()> },
    /// Close a server and remove its tools.
    Disconnect { server: ServerName, done: oneshot::Sender<()> },
    /// Close all servers and end.
    Shutdown { done: oneshot::Sender<()> },
}

/// The differences between a new catalog and the one before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CatalogChanges {
    /// New servers.
    pub added: Vec<ServerName>,
    /// Removed servers.
    pub removed: Vec<ServerName>,
    /// Servers with a changed definition.
    pub changed: Vec<ServerName>,
    /// The number of unchanged servers.
    pub unchanged: usize,
    /// The problems of the catalog, such as files that could not be read, and those of decisions
    /// about trust.
    pub problems: Vec<Problem>,
}

/// The owner of all servers.
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    settings: RuntimeSettings,
    slots: BTreeMap<ServerName, ServerSlot>,
    registry: CurrentRegistry,
    commands: mpsc::Receiver<SupervisorCommand>,
    reports: mpsc::UnboundedReceiver<ConnectionReport>,
    reporter: mpsc::UnboundedSender<ConnectionReport>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    tasks: JoinSet<()>,
    owners: BTreeMap<tokio::task::Id, (ServerName, ConnectionNumber)>,
    /// The number of the connection that was started last.
    last_connection: ConnectionNumber,
    /// When records are written to disk; later changes do not postpone it.
    write_at: Option<Instant>,
    /// When leftover processes of a killed runtime are looked for.
    clean_up_at: Option<Instant>,
    /// Ends leftover processes.
    cleanup: JoinSet<()>,
    /// Events that are sent after the next snapshot, which shows their effect.
    events: Vec<Event>,
    /// Replies that wait for the end of a connection.
    closing: Vec<(ConnectionNumber, oneshot::Sender<()>)>,
    /// Ends the event streams, however this task ends.
    _over: DropGuard,
}

/// The channels to and from the supervisor.
pub(crate) struct SupervisorChannels {
    pub(crate) commands: mpsc::Sender<SupervisorCommand>,
    pub(crate) snapshot: watch::Receiver<Arc<Snapshot>>,
}

impl Supervisor {
    /// Adds the first servers and publishes the first snapshot; tasks start running with `run`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        settings: RuntimeSettings,
        servers: Vec<PlannedServer>,
    ) -> (Self, SupervisorChannels) {
        let (command_sender, commands) = mpsc::channel(64);
        let (reporter, reports) = mpsc::unbounded_channel();
        let registry = CurrentRegistry::new(shared.history.tool_names());
        let empty = Snapshot::new(BTreeMap::new(), settings.clone(), Arc::default());
        let (snapshot, watcher) = watch::channel(Arc::new(empty));
        let over = shared.events.close_on_drop();
        let mut supervisor = Self {
            shared,
            settings,
            slots: BTreeMap::new(),
            registry,
            commands,
            reports,
            reporter,
            snapshot,
            tasks: JoinSet::new(),
            owners: BTreeMap::new(),
            last_connection: ConnectionNumber::default(),
            write_at: None,
            clean_up_at: Some(Instant::now() + CLEANUP_DELAY),
            cleanup: JoinSet::new(),
            events: Vec::new(),
            closing: Vec::new(),
            _over: over,
        };
        for planned in servers {
            supervisor.add(planned, None);
        }
        supervisor.publish();
        (supervisor, SupervisorChannels { commands: command_sender, snapshot: watcher })
    }

    /// Runs until a shutdown, or until all senders of commands are dropped.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None => break,
                    Some(SupervisorCommand::Shutdown { done }) => {
                        self.shut_down().await;
                        reply(done, ());
                        return;
                    }
                    Some(command) => self.handle_command(command),
                },
                Some(report) = self.reports.recv() => self.handle_reports(report),
                Some(ended) = self.tasks.join_next_with_id() => self.handle_task_end(ended),
                () = sleep_until(self.write_at) => self.write_history(),
                () = sleep_until(self.clean_up_at) => self.clean_up_leftovers(),
            }
        }
        self.shut_down().await;
        self.shared.history.write(LOCK_TIMEOUT);
    }

    /// Writes the records on a thread that may block.
    fn write_history(&mut self) {
        self.write_at = None;
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn_blocking(move || shared.history.write(LOCK_TIMEOUT));
    }

    /// Looks for stale lockfiles of killed runtimes, and ends their leftover processes.
    fn clean_up_leftovers(&mut self) {
        if self.clean_up_at.take().is_none() {
            return;
        }
        let left = self.shared.lockfile.take_stale();
        if left.is_empty() {
            return;
        }
        self.cleanup.spawn(async move {
            let ended = process::end_leftover_processes().await;
            tracing::info!(ended, "ended leftover processes of a killed runtime");
            // The lockfiles are removed only now: if this is cancelled, the next runtime cleans up.
            left.into_iter().for_each(HeldLockfile::remove);
        });
    }

    fn handle_command(&mut self, command: SupervisorCommand) {
        match command {
            SupervisorCommand::Apply { servers, settings, done } => {
                let changes = self.apply(servers, settings);
                self.publish();
                reply(done, changes);
            }
            SupervisorCommand::ConnectNow { server, done } => {
                self.update_slot(&server, ServerSlot::connect_now);
                self.publish();
                reply(done, ());
            }
            SupervisorCommand::CheckAlive { server } => {
                if let Some(slot) = self.slots.get(&server) {
                    slot.check_alive();
                }
            }
            SupervisorCommand::Reconnect { server, done } => {
                self.update_slot(&server, ServerSlot::reconnect);
                self.publish();
                reply(done, ());
            }
            SupervisorCommand::Disconnect { server, done } => {
                let ending = self.slots.get_mut(&server).and_then(ServerSlot::disconnect);
                self.queue_status_event(&server);
                self.events.push(Event::ToolsChanged { server: server.clone() });
                self.publish();
                match ending {
                    Some(number) => self.closing.push((number, done)),
                    None => reply(done, ()),
                }
            }
            SupervisorCommand::Shutdown { .. } => {}
        }
    }

    /// Changes a slot, and starts its connection if it needs one.
    fn update_slot(&mut self, server: &ServerName, update: impl FnOnce(&mut ServerSlot) -> bool) {
        let Some(slot) = self.slots.get_mut(server) else { return };
        let has_changed = update(slot);
        if slot.needs_connection() {
            self.connect(server, FirstAttempt::Now, None);
        }
        if has_changed {
            self.queue_status_event(server);
        }
    }

    fn apply(&mut self, servers: Vec<PlannedServer>, settings: RuntimeSettings) -> CatalogChanges {
        let mut changes = CatalogChanges::default();
        self.settings = settings;
        let mut before = std::mem::take(&mut self.slots);
        for planned in servers {
            let name = planned.name.clone();
            let Some(mut slot) = before.remove(&name) else {
                changes.added.push(name);
                self.add(planned, None);
                continue;
            };
            if !slot.is_same_connection(&planned) {
                self.events.push(Event::ToolsChanged { server: name.clone() });
                changes.changed.push(name);
                self.add(planned, slot.stop());
                continue;
            }
            if slot.update_definition(planned, &self.settings) {
                self.events.push(Event::ToolsChanged { server: name.clone() });
                changes.changed.push(name.clone());
            } else {
                changes.unchanged += 1;
            }
            self.slots.insert(name.clone(), slot);
            // A reload also retries failed servers.
            self.update_slot(&name, ServerSlot::retry_failed);
        }
        for (name, slot) in before {
            drop(slot.stop());
            self.events.push(Event::ToolsChanged { server: name.clone() });
            self.events.push(Event::Removed { server: name.clone() });
            changes.removed.push(name);
        }
        changes
    }

    /// Adds a server; `after` is cancelled when the connection that it replaces has ended.
    fn add(&mut self, planned: PlannedServer, after: Option<CancellationToken>) {
        let name = planned.name.clone();
        let slot = ServerSlot::new(planned, &self.shared, &self.settings);
        let start = if slot.is_lazy() { FirstAttempt::OnDemand } else { FirstAttempt::Now };
        let needs_connection = slot.needs_connection();
        self.slots.insert(name.clone(), slot);
        if needs_connection {
            self.connect(&name, start, after);
        }
        self.queue_status_event(&name);
    }

    fn connect(
        &mut self,
        name: &ServerName,
        start: FirstAttempt,
        after: Option<CancellationToken>,
    ) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        let Some(config) = slot.config.clone() else { return };
        self.last_connection = self.last_connection.next();
        let number = self.last_connection;
        let server_kind =
            if is_local(&config.server.spec) { ServerKind::Local } else { ServerKind::Remote };
        let (commands, receiver) = mpsc::unbounded_channel();
        let (stop, ended) = (CancellationToken::new(), CancellationToken::new());
        let (config, watcher) = watch::channel(config);
        let connection = Connection {
            shared: Arc::clone(&self.shared),
            server: name.clone(),
            config: watcher,
            server_kind,
            number,
            reconnect_count: slot.reconnect_count,
            start,
            remembered: slot.remembered,
            reports: self.reporter.clone(),
            commands: receiver,
            stop: stop.clone(),
            after: after.or_else(|| slot.closing.take()),
            _ended_guard: ended.clone().drop_guard(),
        };
        let task = self.tasks.spawn(connection.run());
        self.owners.insert(task.id(), (name.clone(), number));
        let stop = stop.drop_guard();
        slot.set_active(ActiveConnection { number, commands, config, stop, ended });
    }

    /// Handles a report and all others in the channel, then publishes once.
    fn handle_reports(&mut self, first: ConnectionReport) {
        self.handle_report(first);
        for _ in 0..MAX_BATCH {
            match self.reports.try_recv() {
                Ok(report) => self.handle_report(report),
                Err(_) => break,
            }
        }
        self.publish();
    }

    fn handle_report(&mut self, report: ConnectionReport) {
        let ConnectionReport { server, connection_number, reconnect_count, event } = report;
        let slot = self.slots.get_mut(&server).filter(|slot| {
            slot.is_current(connection_number) && slot.reconnect_count == reconnect_count
        });
        let Some(slot) = slot else { return };
        if let ConnectionEvent::OmittedValues(problems) = &event {
            let omitted = problems.iter().cloned();
            self.events.extend(
                omitted.map(|problem| Event::Problem { server: Some(server.clone()), problem }),
            );
        }
        let before = slot.view.status;
        // A report has data of the server; a panic over it must fail only this server.
        let effect = catch_unwind(AssertUnwindSafe(|| slot.apply(event))).unwrap_or_else(|_| {
            slot.fail(panic_failure(&server));
            ReportEffect::default()
        });
        if let Some(changes) = effect.differences {
            self.events.push(Event::ToolsDiffer { server: server.clone(), changes });
        }
        if slot.view.status != before {
            self.queue_status_event(&server);
        }
        if effect.has_new_tools {
            self.events.push(Event::ToolsChanged { server });
        }
    }

    /// Handles the end of a connection's task; after a panic, the server gets the status failed.
    fn handle_task_end(&mut self, ended: Result<(tokio::task::Id, ()), JoinError>) {
        let (id, has_panicked) = match ended {
            Ok((id, ())) => (id, false),
            Err(error) => (error.id(), error.is_panic()),
        };
        let Some((server, number)) = self.owners.remove(&id) else { return };
        let (replies, closing): (Vec<_>, Vec<_>) =
            self.closing.drain(..).partition(|(waited_for, _)| *waited_for == number);
        self.closing = closing;
        for (_, done) in replies {
            reply(done, ());
        }
        let slot = self.slots.get_mut(&server).filter(|slot| slot.is_current(number));
        if let (true, Some(slot)) = (has_panicked, slot) {
            slot.fail(panic_failure(&server));
            self.queue_status_event(&server);
            self.publish();
        }
    }

    async fn shut_down(&mut self) {
        self.clean_up_leftovers();
        let names: Vec<ServerName> = self.slots.keys().cloned().collect();
        for name in names {
            let Some(slot) = self.slots.get_mut(&name) else { continue };
            let before = slot.view.status;
            slot.disconnect();
            if slot.view.status != before {
                self.queue_status_event(&name);
            }
        }
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.handle_task_end(ended);
        }
        self.shared.lockfile.remove();
        self.publish();
        let cleanup = async { while self.cleanup.join_next().await.is_some() {} };
        if tokio::time::timeout(CLEANUP_LIMIT, cleanup).await.is_err() {
            tracing::debug!("leftover processes are left to the next start");
        }
    }

    /// Queues an event with the status of a server.
    fn queue_status_event(&mut self, server: &ServerName) {
        if let Some(slot) = self.slots.get(server) {
            let status = slot.view.status;
            tracing::debug!(%server, status = status.word(), "the status of a server changed");
            let failure = slot.view.failure.clone().filter(|_| status != Status::Connected);
            self.events.push(Event::Status { server: server.clone(), status, failure });
        }
    }

    fn publish(&mut self) {
        let servers = self.slots.iter_mut().map(|(name, slot)| (name.clone(), slot.published()));
        let servers: BTreeMap<_, _> = servers.collect();
        let server_tools = servers.values().filter_map(|server| server.server_tools.clone());
        let registry = self.registry.update(server_tools.collect());
        let snapshot = Snapshot::new(servers, self.settings.clone(), registry);
        self.snapshot.send_replace(Arc::new(snapshot));
        for event in self.events.drain(..) {
            self.shared.send(event);
        }
        if self.write_at.is_none() && self.shared.history.has_unwritten() {
            self.write_at = Some(Instant::now() + WRITE_DELAY);
        }
    }
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Makes the failure of a server whose task panicked.
fn panic_failure(server: &ServerName) -> ServerFailure {
    tracing::error!(%server, "the task of a server panicked");
    ServerFailure::new(FailureKind::Connect, "internal error: the connection task panicked")
        .hint("reconnect it; if it happens again, please report it")
}

/// Replies to a command; the caller may have stopped waiting.
fn reply<T>(done: oneshot::Sender<T>, what: T) {
    let _caller_is_gone = done.send(what);
}

/// Returns the status of a planned server before any attempt.
pub(super) fn initial_status(decision: &GateDecision) -> (Status, Option<ServerFailure>) {
    match decision {
        GateDecision::Allowed(trusted) if trusted.spec.policy.lazy => (Status::Disconnected, None),
        GateDecision::Allowed(_) => (Status::Connecting, None),
        GateDecision::Disabled => (Status::Disabled, None),
        GateDecision::Untrusted => (Status::Untrusted, None),
        GateDecision::Invalid { message, hint } => {
            let failure = ServerFailure::new(FailureKind::Config, message.clone());
            let failure = hint.iter().fold(failure, |failure, hint| failure.hint(hint.as_str()));
            (Status::Failed, Some(failure))
        }
    }
}
