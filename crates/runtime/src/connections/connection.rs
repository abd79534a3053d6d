//! The task of one server: connects it, attends to it, brings it back, until it is told to stop.
//!
//! It reports what happens and never decides about anything but its own server. All its waits end
//! when it is told to stop, and when it has ended, so has everything that it started.

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
use super::backoff::{Backoff, MAX_STARTS, STABLE_AFTER, START_WINDOW, ServerKind, StartLimiter};
use super::debounce::ListDebounce;
use super::server_messages::ChangeFlags;
use super::shared::{ConnectionConfig, Shared};
use crate::resolve::Secrets;
use crate::spans::{ConnectionEnd, ConnectionSpan};
use crate::status::{FailureKind, ServerFailure};

/// How long a server that is suspected to be gone may take to prove that it is not.
const PING_LIMIT: Duration = Duration::from_secs(5);

/// What somebody wants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionCommand {
    /// A call needs it: try now, if nothing is under way.
    Wake,
    /// A person wants it anew: forget all failures, end what is there, connect. The number tells
    /// what happened before the order from what happened because of it.
    Reconnect(u64),
    /// A request went wrong in a way that a server which is gone would explain.
    CheckAlive,
    /// The rules for its tools are others now: list them again.
    Relist,
}

/// What happened to a server.
pub(super) struct ConnectionReport {
    pub(super) server: ServerName,
    /// Which connection says so; reports of a replaced one are ignored.
    pub(super) generation: u64,
    /// The last order to reconnect that it has followed.
    pub(super) epoch: u64,
    pub(super) event: ConnectionEvent,
}

/// What happened.
pub(super) enum ConnectionEvent {
    /// An attempt began.
    Connecting,
    /// Something had to be left out of the attempt.
    LeftOut(Vec<Problem>),
    /// It is there.
    Connected(Box<ConnectedServer>),
    /// Its tools were listed again.
    Listed(ListedTools),
    /// It was there and is gone; it will be tried again.
    Lost(ServerFailure),
    /// It is not there.
    Failed(ServerFailure),
}

/// One server and what it takes to keep it connected.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) server: ServerName,
    /// What its definition and the settings say; a reload may bring others.
    pub(super) config: watch::Receiver<Arc<ConnectionConfig>>,
    pub(super) server_kind: ServerKind,
    pub(super) generation: u64,
    pub(super) epoch: u64,
    pub(super) start: FirstAttempt,
    pub(super) remembered: Option<Revision>,
    pub(super) reports: mpsc::UnboundedSender<ConnectionReport>,
    pub(super) commands: mpsc::UnboundedReceiver<ConnectionCommand>,
    pub(super) stop: CancellationToken,
    /// The connection that this one replaces: two of one server must not run at a time.
    pub(super) after: Option<CancellationToken>,
    /// Tells when this one has ended.
    pub(super) _gone: tokio_util::sync::DropGuard,
}

/// When a connection makes its first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstAttempt {
    Now,
    OnDemand,
}

/// Why something was left off.
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

/// Why a wait is over.
enum WakeReason {
    Stopped,
    ByCommand(ConnectionCommand),
    ByTimer,
}

impl Connection {
    /// Keeps the server connected until it is told to stop.
    pub(super) async fn run(mut self) {
        if !self.may_begin().await {
            return;
        }
        let mut backoff = Backoff::new(self.server_kind);
        let mut start_limiter = StartLimiter::default();
        let mut was_connected = false;
        let mut is_requested = true;
        let mut attempts = 0;
        loop {
            let reason = if self.server_kind == ServerKind::Local
                && !start_limiter.allow_start(Instant::now())
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
                    start_limiter.reset();
                    continue;
                }
                DisconnectReason::Ended(ended, secrets) => {
                    ServerFailure::from_session_end(&ended, &secrets)
                }
                DisconnectReason::Failed(failure) => failure,
            };
            match self.recover(failure, was_connected, &mut backoff).await {
                WakeReason::Stopped => return,
                WakeReason::ByCommand(ConnectionCommand::Reconnect(_)) => {
                    (was_connected, is_requested) = (false, true);
                    backoff.reset();
                    start_limiter.reset();
                }
                WakeReason::ByCommand(_) => is_requested = true,
                // Nobody waits for an attempt that is made by itself.
                WakeReason::ByTimer => is_requested = false,
            }
        }
    }

    /// Waits for the connection that this one replaces, and for a demand if it is lazy; `false` if
    /// it is stopped first.
    async fn may_begin(&mut self) -> bool {
        if let Some(after) = self.after.take()
            && self.stop.run_until_cancelled(after.cancelled()).await.is_none()
        {
            return false;
        }
        self.start != FirstAttempt::OnDemand
            || !matches!(self.wait(None).await, WakeReason::Stopped)
    }

    /// Makes one attempt and stays with the server if it comes; says how long that was.
    async fn connect(&mut self, number: u32) -> (DisconnectReason, Option<Duration>) {
        let span = ConnectionSpan::begin(&self.server, number, &self.shared.parent_span);
        let lived = async {
            // Much larger than the rest of a connection's task, and over when the server is there.
            match Box::pin(self.attempt(number)).await {
                Ok((there, notifications)) => {
                    span.established(&there.peer);
                    let began = Instant::now();
                    let there = ConnectedServer { span_id: span.id(), ..there };
                    let reason = self.run_connected((there, notifications)).await;
                    (reason, Some(began.elapsed()))
                }
                Err(reason) => (reason, None),
            }
        };
        let lived = lived.instrument(span.span()).await;
        span.end(&lived.0.as_end());
        lived
    }

    /// Makes one attempt. Whatever ends it, nothing of a failed one is left running.
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
                .run(number, &tasks, |problems| reporter(ConnectionEvent::LeftOut(problems)));
            let mut running = std::pin::pin!(running);
            loop {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => {
                        // The list that is on its way is kept for the next run.
                        let late = tokio::time::timeout(self.shared.shutdown_list_limit(), running).await;
                        if let Ok(Ok((live, _))) = late {
                            live.peer.close().await;
                        }
                        break Err(DisconnectReason::Stopped);
                    }
                    command = self.commands.recv() => match command {
                        None => break Err(DisconnectReason::Stopped),
                        Some(ConnectionCommand::Reconnect(epoch)) => {
                            self.epoch = epoch;
                            break Err(DisconnectReason::ReconnectRequested);
                        }
                        // The attempt is what they want.
                        Some(ConnectionCommand::Wake | ConnectionCommand::CheckAlive | ConnectionCommand::Relist) => {}
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
        // Whoever woke it meanwhile has the answer in this outcome.
        while let Ok(command) = self.commands.try_recv() {
            if let ConnectionCommand::Reconnect(epoch) = command {
                self.epoch = epoch;
                if let Ok((live, _)) = outcome {
                    live.peer.close().await;
                }
                return Err(DisconnectReason::ReconnectRequested);
            }
        }
        outcome
    }

    /// Looks after a server that is there, until it is not.
    async fn run_connected(
        &mut self,
        (live, notifications): (ConnectedServer, ServerNotifications),
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
                    Some(ConnectionCommand::Reconnect(epoch)) => {
                        self.epoch = epoch;
                        break DisconnectReason::ReconnectRequested;
                    }
                    Some(ConnectionCommand::Wake) => {}
                    Some(ConnectionCommand::Relist) => debounce.list_now(),
                    Some(ConnectionCommand::CheckAlive) => if let Some(reason) = self.check_alive(&peer, &secrets).await {
                        break reason;
                    },
                },
                ended = peer.ended() => break DisconnectReason::Ended(ended, secrets),
                () = changes.wait_for_tools(), if debounce.is_idle() => debounce.note_change(),
                () = debounce.wait_until_due() => if let Some(reason) = self.list_tools_again((&peer, &secrets), &changes, &mut debounce).await {
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

    /// Lists the tools again; tells if the server has to be left.
    async fn list_tools_again(
        &mut self,
        (peer, secrets): (&Peer, &Arc<Secrets>),
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
            // The old tools are better than none.
            Err(failure) => {
                tracing::warn!(server = %self.server, kind = ?failure.kind,
                    "could not list the changed tools");
                debounce.note_failure();
            }
        }
        None
    }

    /// Asks a server that is suspected to be gone whether it is; tells if it has to be left.
    async fn check_alive(&self, peer: &Peer, secrets: &Secrets) -> Option<DisconnectReason> {
        let options = wharf_protocol::peer::RequestOptions::within(PING_LIMIT);
        let asked = self.stop.run_until_cancelled(peer.ping(&options)).await;
        match asked {
            None => Some(DisconnectReason::Stopped),
            // Any answer is a sign of life.
            Some(
                Ok(())
                | Err(
                    RequestError::Refused(_)
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

    /// Says what went wrong and waits until it is worth trying again.
    async fn recover(
        &mut self,
        failure: ServerFailure,
        was_connected: bool,
        backoff: &mut Backoff,
    ) -> WakeReason {
        // What is wrong with the entry does not pass by itself, but a program may be just being
        // replaced under a server that was there.
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
                // Calls do not bring back what was stopped for coming back too often.
                WakeReason::ByCommand(ConnectionCommand::Wake) if is_stopped => {
                    self.report(ConnectionEvent::Failed(started_too_often()));
                }
                WakeReason::ByCommand(
                    ConnectionCommand::CheckAlive | ConnectionCommand::Relist,
                ) => {}
                woken => return woken,
            }
        }
    }

    async fn wait(&mut self, until: Option<Instant>) -> WakeReason {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let woken = tokio::select! {
            biased;
            () = self.stop.cancelled() => WakeReason::Stopped,
            command = self.commands.recv() => command.map_or(WakeReason::Stopped, WakeReason::ByCommand),
            () = time => WakeReason::ByTimer,
        };
        if let WakeReason::ByCommand(ConnectionCommand::Reconnect(epoch)) = woken {
            self.epoch = epoch;
        }
        woken
    }

    fn report(&self, event: ConnectionEvent) {
        self.reporter()(event);
    }

    /// Returns a way to report while something else of this connection is in use.
    fn reporter(&self) -> impl Fn(ConnectionEvent) + use<> {
        let (server, generation, epoch) = (self.server.clone(), self.generation, self.epoch);
        let reports = self.reports.clone();
        move |event| {
            let report = ConnectionReport { server: server.clone(), generation, epoch, event };
            // Nobody listens any more only when everything ends.
            drop(reports.send(report));
        }
    }
}

fn started_too_often() -> ServerFailure {
    let span = START_WINDOW.as_secs();
    let message = format!("it was started {MAX_STARTS} times within {span} s");
    ServerFailure::new(FailureKind::Stopped, message).hint("look at its log, then reconnect it")
}

/// A number between 0 and 1 that differs from server to server.
fn random_jitter() -> f64 {
    let mut byte = [0];
    // Without randomness the waits are as good, only not spread.
    match getrandom::fill(&mut byte) {
        Ok(()) => f64::from(byte[0]) / 255.0,
        Err(_) => 0.5,
    }
}
