//! What the supervisor knows of one server: how it stands, and the connection that works on it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;
use wharf_protocol::era::Revision;

use super::attempt::Tools;
use super::connection::{News, Order};
use super::shared::{Rules, Shared};
use super::snapshot::ServerView;
use super::supervisor::first_status;
use crate::gate::{Entry, Planned};
use crate::status::{Failure, FailureKind, Status};
use crate::tools::offer::{Listed, Offer, OfferedBy};
use crate::tools::{Freshness, Pinning, ToolChange};

/// One server as the supervisor sees it.
pub(super) struct Slot {
    pub(super) view: ServerView,
    /// The view as it was published, for as long as it holds.
    published: Option<Arc<ServerView>>,
    doing: Option<Doing>,
}

/// The connection that works on a server; dropped, it stops.
pub(super) struct Doing {
    pub(super) generation: u64,
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) stop: DropGuard,
}

impl Slot {
    /// Takes a planned server, with its tools of an earlier time and the revision it spoke then.
    pub(super) fn new(
        planned: Planned,
        shared: &Shared,
        rules: &Rules,
    ) -> (Self, Option<Revision>) {
        let (status, failure) = first_status(&planned.entry);
        let ready = match planned.entry {
            Entry::Ready(ready) => Some(ready),
            _ => None,
        };
        let cached = ready.as_ref().and_then(|ready| {
            let (cache_key, pin_key) = shared.keys(ready);
            Some((shared.cache.load(&cache_key)?, pin_key))
        });
        let remembered = cached.as_ref().and_then(|(cached, _)| cached.revision);
        let offer = ready.as_ref().zip(cached).map(|(ready, (cached, pin_key))| {
            let by = OfferedBy {
                name: &planned.name,
                source: &planned.source,
                policy: &ready.spec.policy,
            };
            // Who enforces pins must not get a withheld tool back from the cache; who does not need
            // not wait for them to be read.
            let pins = (rules.pinning == Pinning::Enforce)
                .then(|| shared.pins.look(&pin_key, &cached.tools, rules.pinning));
            let listed = Listed { tools: cached.tools, pins, ..Listed::default() };
            Arc::new(Offer::prepare(&by, listed, Freshness::Cached, rules.tools))
        });
        let view = ServerView {
            name: planned.name,
            source: planned.source,
            transport: planned.transport,
            status,
            failure: failure.map(Arc::new),
            about: None,
            defined: planned.problems.into(),
            omissions: Arc::default(),
            is_required: ready.as_ref().is_some_and(|ready| ready.spec.policy.required),
            ready,
            peer: None,
            offer,
        };
        (Self { view, published: None, doing: None }, remembered)
    }

    /// Returns the view to publish; the same one as long as nothing changes.
    pub(super) fn shared(&mut self) -> Arc<ServerView> {
        Arc::clone(self.published.get_or_insert_with(|| Arc::new(self.view.clone())))
    }

    /// Tells whether it could be connected and nothing works on that.
    pub(super) fn needs_connection(&self) -> bool {
        self.view.ready.is_some()
            && self.doing.is_none()
            && (self.view.status.is_pending() || self.view.status == Status::Disconnected)
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
        match (&self.view.ready, &planned.entry) {
            (Some(own), Entry::Ready(new)) => own.same_connection(new),
            (None, Entry::Ready(_)) | (Some(_), _) => false,
            (None, entry) => first_status(entry).0 == self.view.status,
        }
    }

    /// Takes over what a new catalog says about a server whose connection stays; tells whether
    /// anything is different.
    pub(super) fn adopt(&mut self, planned: Planned, rules: &Rules, has_new_rules: bool) -> bool {
        self.published = None;
        let mut is_different = self.view.source != planned.source;
        self.view.source = planned.source;
        self.view.defined = planned.problems.into();
        if let Entry::Ready(new) = planned.entry {
            let before = self.view.ready.replace(Arc::clone(&new));
            let policy = &new.spec.policy;
            let has_new_policy = before.is_none_or(|before| before.spec.policy != *policy);
            is_different |= has_new_policy;
            self.view.is_required = policy.required;
            if has_new_policy || has_new_rules {
                let by = OfferedBy { name: &self.view.name, source: &self.view.source, policy };
                let offer = self.view.offer.take();
                self.view.offer = offer.map(|offer| Arc::new(offer.again(&by, rules.tools)));
            }
        }
        is_different
    }

    /// Gives an order to the connection; tells whether the server stands differently by that.
    pub(super) fn order(&mut self, order: Order) -> bool {
        if self.view.ready.is_none() {
            return false;
        }
        let is_on_its_way = matches!(self.view.status, Status::Connected | Status::Connecting);
        (order == Order::Reconnect || !is_on_its_way) && self.wake(order)
    }

    fn wake(&mut self, order: Order) -> bool {
        let is_stopped = matches!(&self.view.failure, Some(failure)
            if failure.kind == FailureKind::Stopped);
        if let Some(doing) = &self.doing {
            // A connection that is over is replaced below.
            if doing.orders.send(order).is_err() {
                self.doing = None;
            }
        }
        if (order == Order::Wake && is_stopped) || self.view.status == Status::Reconnecting {
            return false;
        }
        self.published = None;
        self.view.status = Status::Connecting;
        self.view.peer = None;
        true
    }

    /// Closes it and takes its tools away; returns which connection is ending.
    pub(super) fn disconnect(&mut self) -> Option<u64> {
        let doing = self.doing.take();
        self.published = None;
        self.view.peer = None;
        self.view.offer = None;
        if self.view.ready.is_some() {
            self.view.status = Status::Disconnected;
            self.view.failure = None;
        }
        doing.map(|doing| doing.generation)
    }

    /// Lets go of the server for good.
    pub(super) fn stop(self) {
        drop(self.doing.map(|doing| doing.stop));
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.doing = None;
        self.take_failure(Status::Failed, failure);
    }

    /// Takes in what happened; returns what is different about its tools.
    pub(super) fn take(&mut self, news: News) -> Option<Arc<[ToolChange]>> {
        self.published = None;
        match news {
            News::Idle => self.view.status = Status::Disconnected,
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
                self.view.about = Some(live.about);
                self.view.peer = Some(live.peer);
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
        None
    }

    fn take_tools(&mut self, tools: Tools) -> Option<Arc<[ToolChange]>> {
        self.view.offer = Some(tools.offer);
        Some(tools.differences).filter(|differences| !differences.is_empty())
    }

    fn take_failure(&mut self, status: Status, failure: Failure) {
        self.published = None;
        self.view.status = status;
        self.view.failure = Some(Arc::new(failure));
        self.view.peer = None;
    }
}
