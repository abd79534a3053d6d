//! What the supervisor knows of one server: how it stands, and the connection that works on it.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use wharf_protocol::era::Revision;

use super::attempt::Tools;
use super::connection::{News, Order};
use super::shared::{Rules, Shared, Terms};
use super::snapshot::ServerView;
use super::supervisor::first_status;
use crate::gate::{Entry, Planned};
use crate::status::{Failure, FailureKind, Status};
use crate::tools::offer::{Listed, Offer, OfferedBy};
use crate::tools::{Freshness, Pinning, ToolChange};

/// One server as the supervisor sees it.
pub(super) struct Slot {
    pub(super) view: ServerView,
    /// What holds for it; none if it may not be connected.
    pub(super) terms: Option<Arc<Terms>>,
    /// The revision that it spoke at an earlier time.
    pub(super) remembered: Option<Revision>,
    /// How often it was ordered to reconnect: reports from before the last order do not count.
    pub(super) epoch: u64,
    /// The end of a connection that was closed and may still be ending.
    pub(super) leaving: Option<CancellationToken>,
    /// The view as it was published, for as long as it holds.
    published: Option<Arc<ServerView>>,
    doing: Option<Doing>,
}

/// The connection that works on a server; dropped, it stops.
pub(super) struct Doing {
    pub(super) generation: u64,
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) terms: watch::Sender<Arc<Terms>>,
    pub(super) stop: DropGuard,
    pub(super) gone: CancellationToken,
}

/// What a report changed.
#[derive(Default)]
pub(super) struct Taken {
    /// Its tools are others than before.
    pub(super) has_new_tools: bool,
    /// What is not as it was when it was first seen.
    pub(super) differences: Option<Arc<[ToolChange]>>,
}

impl Slot {
    /// Takes a planned server, with its tools of an earlier time.
    pub(super) fn new(planned: Planned, shared: &Shared, rules: &Rules) -> Self {
        let (status, failure) = first_status(&planned.entry);
        let terms = terms_of(&planned, rules);
        let cached = terms.as_ref().and_then(|terms| shared.history.cached(&terms.server));
        let remembered = cached.as_ref().and_then(|cached| cached.revision);
        let cut = cached.as_ref().and_then(|cached| cached.cut);
        let offer = terms.as_ref().zip(cached).map(|(terms, cached)| {
            // Who enforces pins must not get a withheld tool back from the cache; who does not need
            // not wait for them to be read.
            let (server, mode) = (&terms.server, rules.pinning);
            let pins = (mode == Pinning::Enforce)
                .then(|| shared.history.compare_pins(server, &cached.tools, mode));
            let listed = Listed { tools: cached.tools, pins, ..Listed::default() };
            Arc::new(Offer::prepare(&terms.by(), listed, Freshness::Cached, rules.tools))
        });
        let ready = terms.as_ref().map(|terms| Arc::clone(&terms.server));
        let view = ServerView {
            name: planned.name,
            source: planned.source,
            transport: planned.transport,
            status,
            failure: failure.map(Arc::new),
            about: None,
            defined: planned.problems.into(),
            omissions: Arc::default(),
            cut,
            is_required: ready.as_ref().is_some_and(|ready| ready.spec.policy.required),
            ready,
            peer: None,
            life: None,
            offer,
            secrets: Arc::default(),
        };
        Self { view, terms, remembered, epoch: 0, leaving: None, published: None, doing: None }
    }

    /// Returns the view to publish; the same one as long as nothing changes.
    pub(super) fn shared(&mut self) -> Arc<ServerView> {
        Arc::clone(self.published.get_or_insert_with(|| Arc::new(self.view.clone())))
    }

    /// Tells whether it is connected only when somebody needs it.
    pub(super) fn is_lazy(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.server.spec.policy.lazy)
    }

    /// Tells whether it could be connected and nothing works on that.
    pub(super) fn needs_connection(&self) -> bool {
        let may_be = self.view.status.is_pending() || self.is_lazy();
        self.terms.is_some() && self.doing.is_none() && may_be
    }

    pub(super) fn begin(&mut self, doing: Doing) {
        self.doing = Some(doing);
    }

    /// Tells whether this is the connection that counts.
    pub(super) fn is_doing(&self, generation: u64) -> bool {
        self.doing.as_ref().is_some_and(|doing| doing.generation == generation)
    }

    /// Tells whether a server of a new catalog can go on with the connection of the old one.
    pub(super) fn is_same_connection(&self, planned: &Planned) -> bool {
        match (&self.terms, &planned.entry) {
            (Some(own), Entry::Ready(new)) => own.server.same_connection(new),
            (None, Entry::Ready(_)) | (Some(_), _) => false,
            (None, entry) => {
                let (status, failure) = first_status(entry);
                status == self.view.status && failure.as_ref() == self.view.failure.as_deref()
            }
        }
    }

    /// Takes over what a new catalog says about a server whose connection stays; tells whether
    /// anything is different.
    pub(super) fn adopt(&mut self, planned: Planned, rules: &Rules) -> bool {
        self.published = None;
        let before = std::mem::replace(&mut self.terms, terms_of(&planned, rules));
        self.view.source = planned.source;
        self.view.defined = planned.problems.into();
        self.view.transport = planned.transport;
        let (Some(before), Some(now)) = (before, &self.terms) else { return false };
        let has_new_policy = before.server.spec.policy != now.server.spec.policy;
        let is_different = has_new_policy || before.source != now.source;
        self.view.ready = Some(Arc::clone(&now.server));
        self.view.is_required = now.server.spec.policy.required;
        if !is_different && before.rules == now.rules {
            return false;
        }
        let offer = self.view.offer.take();
        self.view.offer = offer.map(|offer| Arc::new(offer.again(&now.by(), now.rules.tools)));
        if let Some(doing) = &self.doing {
            doing.terms.send_replace(Arc::clone(now));
            if before.rules.pinning != now.rules.pinning {
                self.tell(Order::Relist);
            }
        }
        is_different
    }

    /// A call needs it; tells whether it stands differently by that.
    pub(super) fn wake(&mut self) -> bool {
        let is_stopped = matches!(&self.view.failure, Some(failure)
            if failure.kind == FailureKind::Stopped);
        match self.view.status {
            Status::Connected | Status::Connecting => false,
            Status::Reconnecting => {
                self.tell(Order::Wake);
                false
            }
            _ if self.terms.is_none() => false,
            _ => {
                self.tell(Order::Wake);
                !is_stopped && self.stands(Status::Connecting)
            }
        }
    }

    /// A person wants it anew; tells whether it stands differently by that.
    pub(super) fn reconnect(&mut self) -> bool {
        if self.terms.is_none() {
            return false;
        }
        self.epoch += 1;
        self.tell(Order::Reconnect(self.epoch));
        self.stands(Status::Connecting)
    }

    /// Somebody reloaded: what failed is tried again, unless it was stopped for failing too often.
    pub(super) fn try_again(&mut self) -> bool {
        match (self.view.status, &self.view.failure) {
            (_, Some(failure)) if failure.kind == FailureKind::Stopped => false,
            (Status::Failed | Status::NeedsAuth, _) => self.wake(),
            (Status::Disconnected, _) if self.doing.is_some() && !self.is_lazy() => self.wake(),
            _ => false,
        }
    }

    /// A request went wrong in a way that a server which is gone would explain.
    pub(super) fn suspect(&self) {
        self.tell(Order::Check);
    }

    /// Closes it and takes its tools away; returns which connection is ending.
    pub(super) fn disconnect(&mut self) -> Option<u64> {
        let doing = self.doing.take();
        self.published = None;
        self.view.peer = None;
        self.view.offer = None;
        self.view.about = None;
        if self.terms.is_some() {
            self.view.status = Status::Disconnected;
            self.view.failure = None;
        }
        let doing = doing?;
        self.leaving = Some(doing.gone);
        Some(doing.generation)
    }

    /// Lets go of the server for good; returns when its connection has ended.
    pub(super) fn stop(self) -> Option<CancellationToken> {
        let doing = self.doing?;
        drop(doing.stop);
        Some(doing.gone)
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.doing = None;
        self.take_failure(Status::Failed, failure);
    }

    /// Takes in what happened.
    pub(super) fn take(&mut self, news: News) -> Taken {
        self.published = None;
        match news {
            News::LeftOut(problems) => self.view.omissions = problems.into(),
            News::Connecting => {
                self.view.omissions = Arc::default();
                if self.view.status != Status::Reconnecting {
                    self.view.status = Status::Connecting;
                }
            }
            News::Connected(live) => {
                let live = *live;
                self.view.status = Status::Connected;
                self.view.failure = None;
                self.remembered = Some(live.about.revision);
                self.view.about = Some(live.about);
                self.view.peer = Some(live.peer);
                self.view.secrets = live.secrets;
                self.view.life = live.life;
                return self.take_tools(live.tools);
            }
            News::Listed(tools) => return self.take_tools(tools),
            News::Lost(failure) => self.take_failure(Status::Reconnecting, failure),
            News::Failed(failure) => {
                let status = match failure.kind {
                    FailureKind::NeedsAuth => Status::NeedsAuth,
                    _ => Status::Failed,
                };
                self.take_failure(status, failure);
            }
        }
        Taken::default()
    }

    fn take_tools(&mut self, tools: Tools) -> Taken {
        let is_same = self.view.offer.as_ref().is_some_and(|before| before.is_same(&tools.offer));
        // A new catalog may have come while they were on their way.
        self.view.offer = Some(match &self.terms {
            Some(now) if !Arc::ptr_eq(now, &tools.terms) => {
                Arc::new(tools.offer.again(&now.by(), now.rules.tools))
            }
            _ => tools.offer,
        });
        self.view.cut = tools.cut;
        let differences = Some(tools.differences).filter(|differences| !differences.is_empty());
        Taken { has_new_tools: !is_same, differences }
    }

    fn take_failure(&mut self, status: Status, failure: Failure) {
        self.published = None;
        self.view.status = status;
        self.view.failure = Some(Arc::new(failure));
        self.view.peer = None;
    }

    fn stands(&mut self, status: Status) -> bool {
        self.published = None;
        self.view.peer = None;
        std::mem::replace(&mut self.view.status, status) != status
    }

    fn tell(&self, order: Order) {
        if let Some(doing) = &self.doing {
            let _it_may_be_over = doing.orders.send(order);
        }
    }
}

fn terms_of(planned: &Planned, rules: &Rules) -> Option<Arc<Terms>> {
    let Entry::Ready(server) = &planned.entry else { return None };
    let (server, source) = (Arc::clone(server), Arc::clone(&planned.source));
    Some(Arc::new(Terms { server, source, rules: rules.clone() }))
}

impl Terms {
    /// Says whose tools they are.
    fn by(&self) -> OfferedBy<'_> {
        let spec = &self.server.spec;
        OfferedBy { name: &spec.name, source: &self.source, policy: &spec.policy }
    }
}
