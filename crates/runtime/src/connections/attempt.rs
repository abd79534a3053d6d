//! One attempt to connect: resolve, start or reach, agree on a revision, list the tools.
//!
//! Everything that can be slow happens here, each step within its limit. Dropped at any await, it
//! leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wharf_config::Problem;
use wharf_protocol::era::Revision;
use wharf_protocol::peer::{Listing, RequestOptions};
use wharf_protocol::{HttpSpec, Peer, StdioSpec, connect_http, connect_stdio, view};

use super::inbox::{Changes, Inbox};
use super::shared::{Rules, Shared, connect_limit};
use super::snapshot::About;
use crate::gate::Ready;
use crate::logs;
use crate::resolve::ResolvedTransport;
use crate::status::Failure;
use crate::tools::cache::CachedServer;
use crate::tools::offer::{Listed, Offer, OfferedBy};
use crate::tools::{Freshness, ToolChange};

/// What it takes to connect to one server.
pub(super) struct Attempt<'a> {
    pub(super) shared: &'a Shared,
    pub(super) rules: &'a Rules,
    pub(super) server: &'a Arc<Ready>,
    pub(super) source: &'a Arc<wharf_config::Source>,
    pub(super) remembered: Option<Revision>,
}

/// A server that is there, with its tools.
pub(crate) struct Live {
    pub(crate) peer: Peer,
    pub(crate) about: Arc<About>,
    pub(crate) tools: Tools,
    pub(super) changes: Arc<Changes>,
}

/// A server's tools as they were listed just now.
pub(crate) struct Tools {
    pub(crate) offer: Arc<Offer>,
    /// What is not as it was when it was first seen.
    pub(crate) differences: Arc<[ToolChange]>,
    /// How long the list holds by the server's own word.
    pub(super) holds: Duration,
}

impl Attempt<'_> {
    /// Connects and lists. What had to be left out is told before anything is sent: it may be the
    /// reason why the rest fails.
    pub(super) async fn run(&self, left_out: impl FnOnce(Vec<Problem>)) -> Result<Live, Failure> {
        let began = Instant::now();
        let resolved = self.shared.resolver.resolve(self.server).await;
        let resolved = resolved.map_err(|error| Failure::of_resolving(&error))?;
        if !resolved.omissions.is_empty() {
            left_out(resolved.omissions);
        }
        let spec = &self.server.spec;
        let ports = self.shared.options.ports.clone();
        let (inbox, changes) = Inbox::new(spec.name.clone(), ports, self.shared.events.clone());
        let mut options = self.shared.connect_options(spec, self.rules.call_cap);
        options.remembered = self.remembered;
        let peer = match resolved.transport {
            ResolvedTransport::Stdio(launch) => {
                let log = logs::sink(self.shared.options.logs.as_deref(), spec.name.as_str());
                let stdio =
                    StdioSpec { grace: self.shared.options.grace, log, ..StdioSpec::new(launch) };
                connect_stdio(&stdio, &options, inbox).await
            }
            ResolvedTransport::Http { target, authorizer, flavor } => {
                let client = self.shared.http.clone();
                let http = HttpSpec { target, client, authorizer, flavor };
                connect_http(&http, &options, inbox).await
            }
        };
        let peer = peer.map_err(|error| Failure::of_connecting(&error))?;
        changes.settle(peer.revision());
        let connect_time = began.elapsed();
        let listing = Instant::now();
        let tools = match self.list(&peer).await {
            Ok(tools) => tools,
            Err(failure) => {
                peer.close().await;
                return Err(failure);
            }
        };
        let about = about(&peer, connect_time, listing.elapsed());
        Ok(Live { peer, about, tools, changes })
    }

    /// Lists the tools of a server that is there.
    pub(super) async fn list(&self, peer: &Peer) -> Result<Tools, Failure> {
        let limit = connect_limit(&self.server.spec, self.rules.call_cap);
        let listing = if has_tools(peer) {
            let options = RequestOptions::within(limit);
            // A server may answer each page in time and never come to an end.
            let listing = tokio::time::timeout(limit, peer.list_tools(&options)).await;
            let late = wharf_protocol::peer::RequestError::TimedOut { limit, never_sent: false };
            listing
                .unwrap_or(Err(late))
                .map_err(|error| Failure::of_listing(&error, peer.stderr()))?
        } else {
            nothing()
        };
        Ok(self.prepare(peer, listing))
    }

    fn prepare(&self, peer: &Peer, listing: Listing<view::Tool>) -> Tools {
        let (shared, spec) = (self.shared, &self.server.spec);
        let (cache_key, pin_key) = shared.keys(self.server);
        let (pins, to_pin) = shared.pins.check(&pin_key, &listing.items, self.rules.pinning);
        let profile = peer.profile();
        let cached = CachedServer {
            revision: Some(peer.revision()),
            tools: listing.items,
            instructions: profile.instructions.clone(),
            saved: std::time::SystemTime::now(),
        };
        shared.keeper.keep(&spec.name, (cache_key, cached.clone()), to_pin);
        let by = OfferedBy { name: &spec.name, source: self.source, policy: &spec.policy };
        let differences = pins.changes().into();
        let listed = Listed { tools: cached.tools, rejected: listing.rejected, pins: Some(pins) };
        let offer = Offer::prepare(&by, listed, Freshness::Live, self.rules.tools);
        Tools { offer: Arc::new(offer), differences, holds: listing.cache.ttl }
    }
}

/// A server that names other things it can do, but no tools, is not asked for any: some never
/// answer what they did not offer.
fn has_tools(peer: &Peer) -> bool {
    let can = &peer.profile().capabilities;
    can.tools().is_some() || (can.resources().is_none() && can.prompts().is_none())
}

fn nothing() -> Listing<view::Tool> {
    Listing {
        items: Vec::new(),
        rejected: Vec::new(),
        cache: view::CacheHints::default(),
        is_cut: false,
    }
}

fn about(peer: &Peer, connect_time: Duration, list_time: Duration) -> Arc<About> {
    let profile = peer.profile();
    let text = |text: Option<bytestring::ByteString>| text.unwrap_or_default().to_string();
    Arc::new(About {
        name: text(profile.server.name()),
        version: text(profile.server.version()),
        revision: profile.revision,
        instructions: profile.instructions.clone(),
        warnings: peer.warnings().iter().map(ToString::to_string).collect(),
        connect_time,
        list_time,
    })
}
