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

use super::attempt::{Attempt, Ears, Live, Tools};
use super::backoff::{Breaker, Ladder, MOST_STARTS, Place, STABLE, START_SPAN};
use super::inbox::Changes;
use super::pace::Pace;
use super::shared::{Shared, Terms};
use crate::resolve::Secrets;
use crate::spans::{End, Life};
use crate::status::{Failure, FailureKind};

/// How long a server that is suspected to be gone may take to prove that it is not.
const PROOF: Duration = Duration::from_secs(5);

/// What somebody wants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A call needs it: try now, if nothing is under way.
    Wake,
    /// A person wants it anew: forget all failures, end what is there, connect. The number tells
    /// what happened before the order from what happened because of it.
    Reconnect(u64),
    /// A request went wrong in a way that a server which is gone would explain.
    Check,
    /// The rules for its tools are others now: list them again.
    Relist,
}

/// What happened to a server.
pub(super) struct Report {
    pub(super) server: ServerName,
    /// Which connection says so; reports of a replaced one are ignored.
    pub(super) generation: u64,
    /// The last order to reconnect that it has followed.
    pub(super) epoch: u64,
    pub(super) news: News,
}

/// What happened.
pub(super) enum News {
    /// An attempt began.
    Connecting,
    /// Something had to be left out of the attempt.
    LeftOut(Vec<Problem>),
    /// It is there.
    Connected(Box<Live>),
    /// Its tools were listed again.
    Listed(Tools),
    /// It was there and is gone; it will be tried again.
    Lost(Failure),
    /// It is not there.
    Failed(Failure),
}

/// One server and what it takes to keep it connected.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) server: ServerName,
    /// What its definition and the settings say; a reload may bring others.
    pub(super) terms: watch::Receiver<Arc<Terms>>,
    pub(super) place: Place,
    pub(super) generation: u64,
    pub(super) epoch: u64,
    pub(super) start: Start,
    pub(super) remembered: Option<Revision>,
    pub(super) reports: mpsc::UnboundedSender<Report>,
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) stop: CancellationToken,
    /// The connection that this one replaces: two of one server must not run at a time.
    pub(super) after: Option<CancellationToken>,
    /// Tells when this one has ended.
    pub(super) _gone: tokio_util::sync::DropGuard,
}

/// When a connection makes its first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Now,
    WhenNeeded,
}

/// Why something was left off.
enum Left {
    Stopped,
    Asked,
    Ended(Arc<SessionEnd>, Arc<Secrets>),
    Failed(Failure),
}

impl Left {
    fn as_end(&self) -> End<'_> {
        match self {
            Self::Stopped => End::Stopped,
            Self::Asked => End::Replaced,
            Self::Ended(..) => End::Lost,
            Self::Failed(failure) => End::Failed(failure),
        }
    }
}

/// Why a wait is over.
enum Woken {
    Stopped,
    ByOrder(Order),
    ByTime,
}

impl Connection {
    /// Keeps the server connected until it is told to stop.
    pub(super) async fn run(mut self) {
        if let Some(after) = self.after.take()
            && self.stop.run_until_cancelled(after.cancelled()).await.is_none()
        {
            return;
        }
        if self.start == Start::WhenNeeded && matches!(self.wait(None).await, Woken::Stopped) {
            return;
        }
        let mut ladder = Ladder::new(self.place);
        let mut breaker = Breaker::default();
        let mut was_there = false;
        let mut is_asked = true;
        let mut attempts = 0;
        loop {
            let left = if self.place == Place::Local && !breaker.admits(Instant::now()) {
                Left::Failed(stopped())
            } else {
                if is_asked {
                    self.report(News::Connecting);
                }
                attempts += 1;
                let (left, stayed) = self.connect(attempts).await;
                if let Some(stayed) = stayed {
                    was_there = true;
                    attempts = 0;
                    if stayed >= STABLE {
                        ladder.reset();
                    }
                }
                left
            };
            let failure = match left {
                Left::Stopped => return,
                Left::Asked => {
                    (was_there, is_asked) = (false, true);
                    ladder.reset();
                    breaker.reset();
                    continue;
                }
                Left::Ended(ended, secrets) => Failure::of_end(&ended, &secrets),
                Left::Failed(failure) => failure,
            };
            match self.recover(failure, was_there, &mut ladder).await {
                Woken::Stopped => return,
                Woken::ByOrder(Order::Reconnect(_)) => {
                    (was_there, is_asked) = (false, true);
                    ladder.reset();
                    breaker.reset();
                }
                Woken::ByOrder(_) => is_asked = true,
                // Nobody waits for an attempt that is made by itself.
                Woken::ByTime => is_asked = false,
            }
        }
    }

    /// Makes one attempt and stays with the server if it comes; says how long that was.
    async fn connect(&mut self, number: u32) -> (Left, Option<Duration>) {
        let life = Life::begin(&self.server, number, &self.shared.origin);
        let lived = async {
            // Much larger than the rest of a connection's task, and over when the server is there.
            match Box::pin(self.attempt(number)).await {
                Ok((there, ears)) => {
                    life.established(&there.peer);
                    let began = Instant::now();
                    let there = Live { life: life.id(), ..there };
                    let left = self.attend((there, ears)).await;
                    (left, Some(began.elapsed()))
                }
                Err(left) => (left, None),
            }
        };
        let lived = lived.instrument(life.span()).await;
        life.end(&lived.0.as_end());
        lived
    }

    /// Makes one attempt. Whatever ends it, nothing of a failed one is left running.
    async fn attempt(&mut self, number: u32) -> Result<(Live, Ears), Left> {
        let terms = Arc::clone(&self.terms.borrow_and_update());
        let tasks = TaskTracker::new();
        let attempt = Attempt { shared: &self.shared, terms: &terms, remembered: self.remembered };
        let reporter = self.reporter();
        let outcome = {
            let running = attempt.run(number, &tasks, |problems| reporter(News::LeftOut(problems)));
            let mut running = std::pin::pin!(running);
            loop {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => {
                        // The list that is on its way is kept for the next run.
                        let late = tokio::time::timeout(self.shared.last_moment(), running).await;
                        if let Ok(Ok((live, _))) = late {
                            live.peer.close().await;
                        }
                        break Err(Left::Stopped);
                    }
                    order = self.orders.recv() => match order {
                        None => break Err(Left::Stopped),
                        Some(Order::Reconnect(epoch)) => {
                            self.epoch = epoch;
                            break Err(Left::Asked);
                        }
                        // The attempt is what they want.
                        Some(Order::Wake | Order::Check | Order::Relist) => {}
                    },
                    outcome = &mut running => break outcome.map_err(Left::Failed),
                }
            }
        };
        if let Ok((live, _)) = &outcome {
            self.remembered = Some(live.about.revision);
        } else {
            tasks.close();
            tasks.wait().await;
        }
        // Whoever woke it meanwhile has the answer in this outcome.
        while let Ok(order) = self.orders.try_recv() {
            if let Order::Reconnect(epoch) = order {
                self.epoch = epoch;
                if let Ok((live, _)) = outcome {
                    live.peer.close().await;
                }
                return Err(Left::Asked);
            }
        }
        outcome
    }

    /// Looks after a server that is there, until it is not.
    async fn attend(&mut self, (live, ears): (Live, Ears)) -> Left {
        let Ears { changes, mut hearing } = ears;
        let (peer, secrets) = (live.peer.clone(), Arc::clone(&live.secrets));
        let mut pace = Pace::new(live.tools.holds);
        self.report(News::Connected(Box::new(live)));
        if self.terms.has_changed().unwrap_or_default() {
            pace.hurry();
        }
        let left = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break Left::Stopped,
                order = self.orders.recv() => match order {
                    None => break Left::Stopped,
                    Some(Order::Reconnect(epoch)) => {
                        self.epoch = epoch;
                        break Left::Asked;
                    }
                    Some(Order::Wake) => {}
                    Some(Order::Relist) => pace.hurry(),
                    Some(Order::Check) => if let Some(left) = self.check(&peer, &secrets).await {
                        break left;
                    },
                },
                ended = peer.ended() => break Left::Ended(ended, secrets),
                () = changes.tools(), if pace.is_calm() => pace.changed(),
                () = pace.due() => if let Some(left) = self.list_again((&peer, &secrets), &changes, &mut pace).await {
                    break left;
                },
                never = &mut hearing => match never {},
            }
        };
        drop(hearing);
        if let Left::Ended(ended, secrets) = &left {
            tracing::warn!(server = %self.server, "server lost");
            self.report(News::Lost(Failure::of_end(ended, secrets)));
        }
        peer.close().await;
        if !matches!(left, Left::Ended(..)) {
            tracing::info!(server = %self.server, "server stopped");
        }
        left
    }

    /// Lists the tools again; tells if the server has to be left.
    async fn list_again(
        &mut self,
        (peer, secrets): (&Peer, &Arc<Secrets>),
        changes: &Changes,
        pace: &mut Pace,
    ) -> Option<Left> {
        changes.seen();
        let terms = Arc::clone(&self.terms.borrow_and_update());
        let attempt = Attempt { shared: &self.shared, terms: &terms, remembered: None };
        let listed = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Some(Left::Stopped),
            ended = peer.ended() => return Some(Left::Ended(ended, Arc::clone(secrets))),
            listed = attempt.list(peer, secrets) => listed,
        };
        match listed {
            Ok(tools) => {
                pace.listed(tools.holds);
                self.report(News::Listed(tools));
            }
            Err(failure) if failure.kind == FailureKind::NeedsAuth => {
                return Some(Left::Failed(failure));
            }
            // The old tools are better than none.
            Err(failure) => {
                tracing::warn!(server = %self.server, kind = ?failure.kind,
                    "could not list the changed tools");
                pace.failed();
            }
        }
        None
    }

    /// Asks a server that is suspected to be gone whether it is; tells if it has to be left.
    async fn check(&self, peer: &Peer, secrets: &Secrets) -> Option<Left> {
        let options = wharf_protocol::peer::RequestOptions::within(PROOF);
        let asked = self.stop.run_until_cancelled(peer.ping(&options)).await;
        match asked {
            None => Some(Left::Stopped),
            // Any answer is a sign of life.
            Some(
                Ok(())
                | Err(
                    RequestError::Refused(_)
                    | RequestError::InvalidResponse(_)
                    | RequestError::Inconclusive { status: None, .. },
                ),
            ) => None,
            Some(Err(error)) => {
                Some(Left::Failed(Failure::of_request(&error, peer.stderr(), secrets)))
            }
        }
    }

    /// Says what went wrong and waits until it is worth trying again.
    async fn recover(&mut self, failure: Failure, was_there: bool, ladder: &mut Ladder) -> Woken {
        // What is wrong with the entry does not pass by itself, but a program may be just being
        // replaced under a server that was there.
        let is_final = match failure.kind {
            FailureKind::NeedsAuth | FailureKind::Stopped => true,
            FailureKind::Config | FailureKind::Start => !was_there,
            _ => false,
        };
        if !was_there {
            ladder.skip_first();
        }
        let wait = if is_final { None } else { ladder.next(chance()) };
        let is_stopped = failure.kind == FailureKind::Stopped;
        let news = if was_there && wait.is_some() { News::Lost } else { News::Failed };
        self.report(news(failure));
        let until = wait.map(|wait| Instant::now() + wait);
        loop {
            match self.wait(until).await {
                // Calls do not bring back what was stopped for coming back too often.
                Woken::ByOrder(Order::Wake) if is_stopped => self.report(News::Failed(stopped())),
                Woken::ByOrder(Order::Check | Order::Relist) => {}
                woken => return woken,
            }
        }
    }

    async fn wait(&mut self, until: Option<Instant>) -> Woken {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let woken = tokio::select! {
            biased;
            () = self.stop.cancelled() => Woken::Stopped,
            order = self.orders.recv() => order.map_or(Woken::Stopped, Woken::ByOrder),
            () = time => Woken::ByTime,
        };
        if let Woken::ByOrder(Order::Reconnect(epoch)) = woken {
            self.epoch = epoch;
        }
        woken
    }

    fn report(&self, news: News) {
        self.reporter()(news);
    }

    /// Returns a way to report while something else of this connection is in use.
    fn reporter(&self) -> impl Fn(News) + use<> {
        let (server, generation, epoch) = (self.server.clone(), self.generation, self.epoch);
        let reports = self.reports.clone();
        move |news| {
            let report = Report { server: server.clone(), generation, epoch, news };
            // Nobody listens any more only when everything ends.
            drop(reports.send(report));
        }
    }
}

fn stopped() -> Failure {
    let span = START_SPAN.as_secs();
    let message = format!("it was started {MOST_STARTS} times within {span} s");
    Failure::new(FailureKind::Stopped, message).hint("look at its log, then reconnect it")
}

/// A number between 0 and 1 that differs from server to server.
fn chance() -> f64 {
    let mut byte = [0];
    // Without randomness the waits are as good, only not spread.
    match getrandom::fill(&mut byte) {
        Ok(()) => f64::from(byte[0]) / 255.0,
        Err(_) => 0.5,
    }
}
