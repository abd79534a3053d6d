//! The task of one server: connects it, attends to it, brings it back, until it is told to stop.
//!
//! It reports what happens and never decides about anything but its own server. All its waits end
//! when it is told to stop, and when it has ended, so has everything that it started.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wharf_config::{Problem, ServerName, Source};
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::peer::{Ended, RequestOptions, Subscription};
use wharf_protocol::view::SubscriptionFilter;

use super::attempt::{Attempt, Live, Tools};
use super::backoff::{Breaker, Ladder, Place, STABLE};
use super::shared::{Rules, Shared, connect_limit, is_local};
use crate::gate::Ready;
use crate::status::{Failure, FailureKind};

/// How long changes of a list are collected before it is asked for.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// A list is not asked for more often than this, whatever the server says about how long it holds.
const SHORTEST_HOLD: Duration = Duration::from_secs(10);

/// How long to wait before a subscription that ended is asked for again.
const RESUBSCRIBE: Duration = Duration::from_secs(30);

/// What somebody wants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A call needs it: try now, if nothing is under way.
    Wake,
    /// A person wants it anew: forget all failures, end what is there, connect.
    Reconnect,
}

/// What happened to a server.
pub(super) struct Report {
    pub(super) server: ServerName,
    /// Which connection says so; reports of a replaced one are ignored.
    pub(super) generation: u64,
    pub(super) news: News,
}

/// What happened.
pub(super) enum News {
    /// It is waiting to be needed.
    Idle,
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
    pub(super) rules: Rules,
    pub(super) server: Arc<Ready>,
    pub(super) source: Arc<Source>,
    pub(super) generation: u64,
    pub(super) remembered: Option<Revision>,
    pub(super) reports: mpsc::UnboundedSender<Report>,
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) stop: CancellationToken,
}

/// Why an attended server is not attended any more.
enum Left {
    Stopped,
    Asked,
    Ended(Arc<Ended>),
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
        let place = if is_local(&self.server.spec) { Place::Local } else { Place::Remote };
        let mut ladder = Ladder::new(place);
        let mut breaker = Breaker::default();
        if self.server.spec.policy.lazy {
            self.report(News::Idle);
            if matches!(self.wait(None).await, Woken::Stopped) {
                return;
            }
        }
        let mut was_there = false;
        loop {
            let failure = if place == Place::Local && !breaker.admits(Instant::now()) {
                stopped()
            } else {
                self.report(News::Connecting);
                let Some(outcome) = self.attempt().await else { return };
                match outcome {
                    Ok(live) => {
                        was_there = true;
                        let began = Instant::now();
                        match self.attend(live).await {
                            Left::Stopped => return,
                            Left::Asked => {
                                ladder.reset();
                                breaker.reset();
                                continue;
                            }
                            Left::Ended(ended) => {
                                if began.elapsed() >= STABLE {
                                    ladder.reset();
                                }
                                Failure::of_end(&ended)
                            }
                        }
                    }
                    Err(failure) => failure,
                }
            };
            match self.recover(failure, was_there, &mut ladder).await {
                Woken::Stopped => return,
                Woken::ByOrder(Order::Reconnect) => {
                    ladder.reset();
                    breaker.reset();
                }
                Woken::ByOrder(Order::Wake) | Woken::ByTime => {}
            }
        }
    }

    /// Makes one attempt; `None` if it was told to stop.
    async fn attempt(&mut self) -> Option<Result<Live, Failure>> {
        let Self { shared, rules, server, source, stop, .. } = &*self;
        let attempt = Attempt { shared, rules, server, source, remembered: self.remembered };
        let left_out = |problems| self.report(News::LeftOut(problems));
        let outcome = stop.run_until_cancelled(attempt.run(left_out)).await?;
        if let Ok(live) = &outcome {
            self.remembered = Some(live.about.revision);
            // Who woke or wanted it anew meanwhile has got it.
            while self.orders.try_recv().is_ok() {}
        }
        Some(outcome)
    }

    /// Looks after a server that is there, until it is not.
    async fn attend(&mut self, live: Live) -> Left {
        let (peer, changes) = (live.peer.clone(), Arc::clone(&live.changes));
        let mut holds = live.tools.holds;
        self.report(News::Connected(Box::new(live)));
        let mut hearing = std::pin::pin!(listen(&peer, &self.server));
        let left = loop {
            let due = (holds > Duration::ZERO).then(|| holds.max(SHORTEST_HOLD));
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break Left::Stopped,
                order = self.orders.recv() => match order {
                    Some(Order::Reconnect) => break Left::Asked,
                    Some(Order::Wake) => {}
                    None => break Left::Stopped,
                },
                ended = peer.ended() => return Left::Ended(ended),
                () = changed(&changes, due) => {
                    let Self { shared, rules, server, source, .. } = &*self;
                    let attempt = Attempt { shared, rules, server, source, remembered: None };
                    let Some(listed) = self.stop.run_until_cancelled(attempt.list(&peer)).await
                    else {
                        break Left::Stopped;
                    };
                    match listed {
                        Ok(tools) => {
                            holds = tools.holds;
                            self.report(News::Listed(tools));
                        }
                        // The old tools are better than none; the next change asks again.
                        Err(failure) => {
                            tracing::warn!(server = %self.server.spec.name, reason = failure.message,
                                "could not list the changed tools");
                        }
                    }
                }
                () = &mut hearing => {}
            }
        };
        peer.close().await;
        left
    }

    /// Says what went wrong and waits until it is worth trying again.
    async fn recover(&mut self, failure: Failure, was_there: bool, ladder: &mut Ladder) -> Woken {
        let is_final = matches!(
            failure.kind,
            FailureKind::Config
                | FailureKind::Start
                | FailureKind::NeedsAuth
                | FailureKind::Stopped
        );
        if !was_there {
            ladder.skip_first();
        }
        let wait = if is_final { None } else { ladder.next(chance()) };
        let is_stopped = failure.kind == FailureKind::Stopped;
        let news = if was_there && wait.is_some() { News::Lost } else { News::Failed };
        self.report(news(failure));
        loop {
            match self.wait(wait).await {
                // Calls do not bring back what was stopped for coming back too often.
                Woken::ByOrder(Order::Wake) if is_stopped => self.report(News::Failed(stopped())),
                woken => return woken,
            }
        }
    }

    async fn wait(&mut self, limit: Option<Duration>) -> Woken {
        let time = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Woken::Stopped,
            order = self.orders.recv() => order.map_or(Woken::Stopped, Woken::ByOrder),
            () = time => Woken::ByTime,
        }
    }

    fn report(&self, news: News) {
        let server = self.server.spec.name.clone();
        let report = Report { server, generation: self.generation, news };
        // Nobody listens any more only when everything ends.
        drop(self.reports.send(report));
    }
}

fn stopped() -> Failure {
    Failure::new(FailureKind::Stopped, "it was started more than five times within 30 s")
        .hint("look at its log, then reconnect it")
}

/// Waits until the list of tools should be asked for again.
async fn changed(changes: &super::inbox::Changes, due: Option<Duration>) {
    let expired = async {
        match due {
            Some(due) => tokio::time::sleep(due).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = changes.tools() => tokio::time::sleep(DEBOUNCE).await,
        () = expired => {}
    }
}

/// Keeps a modern server telling us about changes; a legacy one does so by itself.
async fn listen(peer: &wharf_protocol::Peer, server: &Ready) {
    let can = &peer.profile().capabilities;
    let tells = |feature: Option<wharf_protocol::view::Feature>| {
        feature.is_some_and(|feature| feature.list_changed)
    };
    let filter = SubscriptionFilter {
        tools_list_changed: tells(can.tools()),
        prompts_list_changed: tells(can.prompts()),
        resources_list_changed: tells(can.resources()),
        ..SubscriptionFilter::default()
    };
    if peer.era() == Era::Legacy || filter.is_empty() {
        return std::future::pending().await;
    }
    let options = RequestOptions::within(connect_limit(&server.spec, Duration::from_secs(3600)));
    loop {
        let subscription: Result<Subscription, _> = peer.listen(&filter, &options).await;
        let outcome = match subscription {
            Ok(subscription) => subscription.await,
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            tracing::debug!(server = %server.spec.name, %error, "a subscription ended");
        }
        tokio::time::sleep(RESUBSCRIBE).await;
    }
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
