//! The task of one server: connects it, keeps it connected and reconnects it until it is stopped.
//!
//! It reports events to the supervisor and changes no other server. Every wait ends when the task
//! is stopped. When the task has ended, all processes that it started have ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use wharf_config::{Problem, ServerName};
use wharf_protocol::Peer;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{RequestError, SessionEnd};
use wharf_protocol::transport::process::TaskTracker;

use super::attempt::{Attempt, ConnectedServer, ListedTools, ServerNotifications};
use super::backoff::{Backoff, CircuitBreaker, MAX_STARTS, STABLE_AFTER, START_WINDOW, ServerKind};
use super::debounce::ListDebounce;
use super::server_messages::ChangeFlags;
use super::shared::{ConnectionConfig, Shared};
use crate::resolve::Secrets;
use crate::spans::{ConnectionEnd, ConnectionSpan};
use crate::status::{FailureKind, ServerFailure};

/// The limit for the ping that checks whether a server is alive.
const PING_LIMIT: Duration = Duration::from_secs(5);

/// The number of a connection task: each one that the supervisor starts gets the next number. A
/// server that was changed, or disconnected and connected again, has a connection with another
/// number, so a report of the earlier one is recognized and ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ConnectionNumber(u64);

impl ConnectionNumber {
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The number of reconnect commands that a server got; reports from before the last one are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ReconnectCount(u64);

impl ReconnectCount {
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A command for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionCommand {
    /// A call needs the server: connect now, unless an attempt is running.
    ConnectNow,
    /// Reset the backoff, close the connection and connect again.
    Reconnect(ReconnectCount),
    /// A request failed as if the server were no longer there: ping it.
    CheckAlive,
    /// The settings for pins changed: list the tools again.
    Relist,
}

/// A report of a connection to the supervisor.
pub(super) struct ConnectionReport {
    pub(super) server: ServerName,
    pub(super) connection_number: ConnectionNumber,
    /// The last reconnect command that the connection has executed.
    pub(super) reconnect_count: ReconnectCount,
    pub(super) event: ConnectionEvent,
}

/// An event of a connection.
pub(super) enum ConnectionEvent {
    /// An attempt began.
    Connecting,
    /// Values were omitted in the attempt.
    OmittedValues(Vec<Problem>),
    /// The server is connected.
    Connected(Box<ConnectedServer>),
    /// The tools were listed again.
    Listed(ListedTools),
    /// The connection was lost; it will be tried again.
    Lost(ServerFailure),
    /// Connecting failed.
    Failed(ServerFailure),
}

/// The task of one server.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) server: ServerName,
    /// The definition and the settings; a reload may change them.
    pub(super) config: watch::Receiver<Arc<ConnectionConfig>>,
    pub(super) server_kind: ServerKind,
    pub(super) number: ConnectionNumber,
    pub(super) reconnect_count: ReconnectCount,
    pub(super) start: FirstAttempt,
    pub(super) remembered: Option<Revision>,
    pub(super) reports: mpsc::UnboundedSender<ConnectionReport>,
    pub(super) commands: mpsc::UnboundedReceiver<ConnectionCommand>,
    pub(super) stop: CancellationToken,
    /// Cancelled when the connection before this one has ended: two of one server must not run at
    /// the same time.
    pub(super) after: Option<CancellationToken>,
    /// Cancels a token when this task has ended.
    pub(super) _ended_guard: tokio_util::sync::DropGuard,
}

/// When a connection makes its first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstAttempt {
    Now,
    OnDemand,
}

/// Why a connection or an attempt ended.
enum DisconnectReason {
    Stopped,
    ReconnectRequested,
    Ended(Arc<SessionEnd>, Arc<Secrets>),
    Failed(ServerFailure),
}

impl DisconnectReason {
    fn as_end(&self) -> ConnectionEnd<'_> {
        match self {
            Self::Stopped => ConnectionEnd::Stopped,
            Self::ReconnectRequested => ConnectionEnd::Replaced,
            Self::Ended(..) => ConnectionEnd::Lost,
            Self::Failed(failure) => ConnectionEnd::Failed(failure),
        }
    }
}

/// Why a wait ended.
enum WaitEnd {
    Stopped,
    ByCommand(ConnectionCommand),
    ByTimer,
}

impl Connection {
    /// Keeps the server connected until it is stopped.
    pub(super) async fn run(mut self) {
        if !self.may_begin().await {
            return;
        }
        let mut backoff = Backoff::new(self.server_kind);
        let mut circuit_breaker = CircuitBreaker::default();
        let mut was_connected = false;
        let mut is_requested = true;
        let mut attempts = 0;
        loop {
            let reason = if self.server_kind == ServerKind::Local
                && !circuit_breaker.allow_start(Instant::now())
            {
                DisconnectReason::Failed(started_too_often())
            } else {
                if is_requested {
                    self.report(ConnectionEvent::Connecting);
                }
                attempts += 1;
                let (reason, connected_for) = self.connect(attempts).await;
                if let Some(connected_for) = connected_for {
                    was_connected = true;
                    attempts = 0;
                    if connected_for >= STABLE_AFTER {
                        backoff.reset();
                    }
                }
                reason
            };
            let failure = match reason {
                DisconnectReason::Stopped => return,
                DisconnectReason::ReconnectRequested => {
                    (was_connected, is_requested) = (false, true);
                    backoff.reset();
                    circuit_breaker.reset();
                    continue;
                }
                DisconnectReason::Ended(ended, secrets) => {
                    ServerFailure::from_session_end(&ended, &secrets)
                }
                DisconnectReason::Failed(failure) => failure,
            };
            match self.recover(failure, was_connected, &mut backoff).await {
                WaitEnd::Stopped => return,
                WaitEnd::ByCommand(ConnectionCommand::Reconnect(_)) => {
                    (was_connected, is_requested) = (false, true);
                    backoff.reset();
                    circuit_breaker.reset();
                }
                WaitEnd::ByCommand(_) => is_requested = true,
                // No caller waits for an automatic attempt, so it is not reported.
                WaitEnd::ByTimer => is_requested = false,
            }
        }
    }

    /// Waits for the connection that this one replaces, and for a demand if the server is lazy; `false`
    /// if it is stopped first.
    async fn may_begin(&mut self) -> bool {
        if let Some(after) = self.after.take()
            && self.stop.run_until_cancelled(after.cancelled()).await.is_none()
        {
            return false;
        }
        self.start != FirstAttempt::OnDemand || !matches!(self.wait(None).await, WaitEnd::Stopped)
    }

    /// Makes one attempt, and keeps the server connected if it succeeds; returns for how long.
    async fn connect(&mut self, number: u32) -> (DisconnectReason, Option<Duration>) {
        let span = ConnectionSpan::begin(&self.server, number, &self.shared.parent_span);
        let outcome = async {
            // Boxed, because it is much larger than the rest of the task and ends early.
            match Box::pin(self.attempt(number)).await {
                Ok((connected, notifications)) => {
                    span.established(&connected.peer);
                    let began = Instant::now();
                    let connected = ConnectedServer { span_id: span.id(), ..connected };
                    let reason = self.run_connected(connected, notifications).await;
                    (reason, Some(began.elapsed()))
                }
                Err(reason) => (reason, None),
            }
        };
        let outcome = outcome.instrument(span.span()).await;
        span.end(&outcome.0.as_end());
        outcome
    }

    /// Makes one attempt. When a failed attempt returns, its processes have ended.
    async fn attempt(
        &mut self,
        number: u32,
    ) -> Result<(ConnectedServer, ServerNotifications), DisconnectReason> {
        let config = Arc::clone(&self.config.borrow_and_update());
        let tasks = TaskTracker::new();
        let attempt =
            Attempt { shared: &self.shared, config: &config, remembered: self.remembered };
        let reporter = self.reporter();
        let outcome = {
            let running = attempt
                .run(number, &tasks, |problems| reporter(ConnectionEvent::OmittedValues(problems)));
            let mut running = std::pin::pin!(running);
            loop {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => {
                        // A list that arrives in time is cached for the next run.
                        let late = tokio::time::timeout(self.shared.shutdown_list_limit(), running).await;
                        if let Ok(Ok((live, _))) = late {
                            live.peer.close().await;
                        }
                        break Err(DisconnectReason::Stopped);
                    }
                    command = self.commands.recv() => match command {
                        None => break Err(DisconnectReason::Stopped),
                        Some(ConnectionCommand::Reconnect(count)) => {
                            self.reconnect_count = count;
                            break Err(DisconnectReason::ReconnectRequested);
                        }
                        // The running attempt does all of this.
                        Some(ConnectionCommand::ConnectNow | ConnectionCommand::CheckAlive | ConnectionCommand::Relist) => {}
                    },
                    outcome = &mut running => break outcome.map_err(DisconnectReason::Failed),
                }
            }
        };
        if let Ok((live, _)) = &outcome {
            self.remembered = Some(live.info.revision);
        } else {
            tasks.close();
            tasks.wait().await;
        }
        // The outcome answers all commands that arrived during the attempt.
        while let Ok(command) = self.commands.try_recv() {
            if let ConnectionCommand::Reconnect(count) = command {
                self.reconnect_count = count;
                if let Ok((live, _)) = outcome {
                    live.peer.close().await;
                }
                return Err(DisconnectReason::ReconnectRequested);
            }
        }
        outcome
    }

    /// Handles commands, changes and the end of a connected server, until the connection ends.
    async fn run_connected(
        &mut self,
        live: ConnectedServer,
        notifications: ServerNotifications,
    ) -> DisconnectReason {
        let ServerNotifications { changes, mut subscriptions } = notifications;
        let (peer, secrets) = (live.peer.clone(), Arc::clone(&live.secrets));
        let mut debounce = ListDebounce::new(live.tools.ttl);
        self.report(ConnectionEvent::Connected(Box::new(live)));
        if self.config.has_changed().unwrap_or_default() {
            debounce.list_now();
        }
        let reason = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break DisconnectReason::Stopped,
                command = self.commands.recv() => match command {
                    None => break DisconnectReason::Stopped,
                    Some(ConnectionCommand::Reconnect(count)) => {
                        self.reconnect_count = count;
                        break DisconnectReason::ReconnectRequested;
                    }
                    Some(ConnectionCommand::ConnectNow) => {}
                    Some(ConnectionCommand::Relist) => debounce.list_now(),
                    Some(ConnectionCommand::CheckAlive) => if let Some(reason) = self.check_alive(&peer, &secrets).await {
                        break reason;
                    },
                },
                ended = peer.ended() => break DisconnectReason::Ended(ended, secrets),
                () = changes.wait_for_tools(), if debounce.is_idle() => debounce.note_change(),
                () = debounce.wait_until_due() => if let Some(reason) = self.list_tools_again(&peer, &secrets, &changes, &mut debounce).await {
                    break reason;
                },
                never = &mut subscriptions => match never {},
            }
        };
        drop(subscriptions);
        if let DisconnectReason::Ended(ended, secrets) = &reason {
            tracing::warn!(server = %self.server, "server lost");
            self.report(ConnectionEvent::Lost(ServerFailure::from_session_end(ended, secrets)));
        }
        peer.close().await;
        if !matches!(reason, DisconnectReason::Ended(..)) {
            tracing::info!(server = %self.server, "server stopped");
        }
        reason
    }

    /// Lists the tools again; returns a reason if the connection must end.
    async fn list_tools_again(
        &mut self,
        peer: &Peer,
        secrets: &Arc<Secrets>,
        changes: &ChangeFlags,
        debounce: &mut ListDebounce,
    ) -> Option<DisconnectReason> {
        changes.clear();
        let config = Arc::clone(&self.config.borrow_and_update());
        let attempt = Attempt { shared: &self.shared, config: &config, remembered: None };
        let listed = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Some(DisconnectReason::Stopped),
            ended = peer.ended() => return Some(DisconnectReason::Ended(ended, Arc::clone(secrets))),
            listed = attempt.list(peer, secrets) => listed,
        };
        match listed {
            Ok(tools) => {
                debounce.note_list(tools.ttl);
                self.report(ConnectionEvent::Listed(tools));
            }
            Err(failure) if failure.kind == FailureKind::NeedsAuth => {
                return Some(DisconnectReason::Failed(failure));
            }
            // The tools of the last list stay.
            Err(failure) => {
                tracing::warn!(server = %self.server, kind = ?failure.kind,
                    "could not list the changed tools");
                debounce.note_failure();
            }
        }
        None
    }

    /// Pings the server; returns a reason if the connection must end.
    async fn check_alive(&self, peer: &Peer, secrets: &Secrets) -> Option<DisconnectReason> {
        let options = wharf_protocol::peer::RequestOptions::within(PING_LIMIT);
        let asked = self.stop.run_until_cancelled(peer.ping(&options)).await;
        match asked {
            None => Some(DisconnectReason::Stopped),
            // Any response proves that the server is alive.
            Some(
                Ok(())
                | Err(
                    RequestError::ErrorResponse(_)
                    | RequestError::InvalidResponse(_)
                    | RequestError::Inconclusive { status: None, .. },
                ),
            ) => None,
            Some(Err(error)) => Some(DisconnectReason::Failed(ServerFailure::from_request_error(
                &error,
                peer.stderr(),
                secrets,
            ))),
        }
    }

    /// Reports a failure and waits until the next attempt.
    async fn recover(
        &mut self,
        failure: ServerFailure,
        was_connected: bool,
        backoff: &mut Backoff,
    ) -> WaitEnd {
        // An error in the entry does not go away by itself. But after a connection, the program may
        // be missing only because it is being updated.
        let is_final = match failure.kind {
            FailureKind::NeedsAuth | FailureKind::Stopped => true,
            FailureKind::Config | FailureKind::Start => !was_connected,
            _ => false,
        };
        if !was_connected {
            backoff.skip_short_waits();
        }
        let wait = if is_final { None } else { backoff.next(random_jitter()) };
        let is_stopped = failure.kind == FailureKind::Stopped;
        let event = if was_connected && wait.is_some() {
            ConnectionEvent::Lost
        } else {
            ConnectionEvent::Failed
        };
        self.report(event(failure));
        let until = wait.map(|wait| Instant::now() + wait);
        loop {
            match self.wait(until).await {
                // A call does not restart a server that was started too often.
                WaitEnd::ByCommand(ConnectionCommand::ConnectNow) if is_stopped => {
                    self.report(ConnectionEvent::Failed(started_too_often()));
                }
                WaitEnd::ByCommand(ConnectionCommand::CheckAlive | ConnectionCommand::Relist) => {}
                end => return end,
            }
        }
    }

    async fn wait(&mut self, until: Option<Instant>) -> WaitEnd {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let end = tokio::select! {
            biased;
            () = self.stop.cancelled() => WaitEnd::Stopped,
            command = self.commands.recv() => command.map_or(WaitEnd::Stopped, WaitEnd::ByCommand),
            () = time => WaitEnd::ByTimer,
        };
        if let WaitEnd::ByCommand(ConnectionCommand::Reconnect(count)) = end {
            self.reconnect_count = count;
        }
        end
    }

    fn report(&self, event: ConnectionEvent) {
        self.reporter()(event);
    }

    /// Returns a function that sends reports without borrowing this connection.
    fn reporter(&self) -> impl Fn(ConnectionEvent) + use<> {
        let server = self.server.clone();
        let (connection_number, reconnect_count) = (self.number, self.reconnect_count);
        let reports = self.reports.clone();
        move |event| {
            let server = server.clone();
            let report = ConnectionReport { server, connection_number, reconnect_count, event };
            // An error means that the supervisor has ended.
            drop(reports.send(report));
        }
    }
}

fn started_too_often() -> ServerFailure {
    let span = START_WINDOW.as_secs();
    let message = format!("it was started {MAX_STARTS} times within {span} s");
    ServerFailure::new(FailureKind::Stopped, message).hint("look at its log, then reconnect it")
}

/// Returns a random number between 0 and 1.
fn random_jitter() -> f64 {
    let mut byte = [0];
    // Without randomness, the attempts are only not spread.
    match getrandom::fill(&mut byte) {
        Ok(()) => f64::from(byte[0]) / 255.0,
        Err(_) => 0.5,
    }
}
