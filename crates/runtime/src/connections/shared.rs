//! What all connections of a runtime share.

use std::sync::Arc;
use std::time::Duration;

use wharf_config::{Catalog, DefinitionState, ServerSpec, Settings, Source, Transport};
use wharf_protocol::transport::HttpClient;
use wharf_protocol::{ConnectOptions, peer};

use super::levels::Levels;
use super::presence::Presence;
use crate::elicitation::required_pages::Visits;
use crate::event::{Event, Teller};
use crate::gate::Ready;
use crate::http::http_options;
use crate::options::{Options, milliseconds, number};
use crate::resolve::Resolver;
use crate::spans::Origin;
use crate::store::server_history::ServerHistory;
use crate::tools::names::Contender;
use crate::tools::offer::ToolRules;
use crate::tools::{Naming, Pinning};

/// What all connections of a runtime share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) resolver: Resolver,
    pub(crate) http: HttpClient,
    pub(crate) history: ServerHistory,
    pub(crate) events: Teller,
    pub(crate) levels: Levels,
    pub(crate) visits: Arc<Visits>,
    pub(super) presence: Presence,
    pub(crate) origin: Origin,
}

/// The settings that count for tools and calls; `apply` may bring others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) tools: ToolRules,
    pub(crate) pinning: Pinning,
    pub(crate) call_cap: Duration,
    pub(crate) most_result_chars: usize,
}

/// What a server's definition and the settings say about it at one time.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) server: Arc<Ready>,
    pub(crate) source: Arc<Source>,
    pub(crate) rules: Rules,
}

impl Rules {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            tools: ToolRules::from(settings),
            pinning: Pinning::from(settings),
            call_cap: milliseconds(settings, "call.max_ms", 3_600_000),
            most_result_chars: number(settings, "call.max_result_chars")
                .and_then(|number| usize::try_from(number).ok())
                .unwrap_or(50_000),
        }
    }
}

impl Shared {
    pub(crate) fn new(options: Options) -> Self {
        let env = &options.env;
        let resolver = Resolver::new(Arc::clone(env), Arc::clone(&options.credentials))
            .with_own_program(options.own_program.clone());
        let http = http_options(env);
        let (cache, pins) = (options.cache.clone(), options.pins.clone());
        let history = ServerHistory::open(env, cache, pins, &options.ports.capabilities());
        Self {
            resolver,
            http: HttpClient::new(&http),
            history,
            events: Teller::default(),
            levels: Levels::default(),
            visits: Arc::default(),
            presence: Presence::new(options.run.clone()),
            origin: Origin::current(),
            options,
        }
    }

    /// Keeps names from being given for good that servers could want which this runtime leaves alone.
    pub(crate) fn leave_alone(&self, catalog: &Catalog) {
        let naming = Naming::from(&catalog.settings);
        let others =
            catalog.excluded.iter().filter(|server| server.state == DefinitionState::Enabled);
        let contenders: Vec<Contender> = others
            .map(|server| Contender {
                naming,
                server: server.definition.name.as_str().to_owned(),
                prefix: server.definition.fields.policy.prefix.clone(),
            })
            .collect();
        if !contenders.is_empty() {
            self.history.names().leave_alone(contenders);
        }
    }

    pub(super) fn connect_options(&self, spec: &ServerSpec) -> ConnectOptions {
        ConnectOptions {
            capabilities: self.options.ports.capabilities(),
            timeout: connect_limit(spec),
            limits: peer::SessionLimits::default(),
            pinned: spec.policy.protocol_version.as_ref().and_then(|text| text.parse().ok()),
            ..ConnectOptions::new(self.options.client.clone())
        }
    }

    /// Returns how long a connection that is told to stop may take to bring its list, which is worth
    /// keeping for the next run.
    pub(super) fn last_moment(&self) -> Duration {
        let grace = self.options.grace.after_eof.min(LAST_MOMENT);
        if self.history.caches_tools() { grace } else { Duration::ZERO }
    }

    pub(crate) fn tell(&self, event: Event) {
        self.events.tell(event);
    }
}

/// The longest that the end of a run is put off for a list.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// The longest that connecting may take where the entry sets no limit.
const LONGEST_CONNECT: Duration = Duration::from_secs(3600);

/// How long connecting, and listing, may take.
pub(super) fn connect_limit(spec: &ServerSpec) -> Duration {
    let timeouts = spec.timeouts;
    let said = timeouts.connect.or(timeouts.both).unwrap_or(wharf_config::DEFAULT_TIMEOUT_MS);
    let limit = if said == 0 { LONGEST_CONNECT } else { Duration::from_millis(said) };
    limit.min(LONGEST_CONNECT)
}

/// How long a call may be silent.
pub(crate) fn call_limit(spec: &ServerSpec, cap: Duration) -> Duration {
    let timeouts = spec.timeouts;
    let said = timeouts.call.or(timeouts.both).unwrap_or(wharf_config::DEFAULT_TIMEOUT_MS);
    if said == 0 { cap } else { Duration::from_millis(said).min(cap) }
}

/// Tells whether a server is a process of ours.
pub(super) fn is_local(spec: &ServerSpec) -> bool {
    matches!(spec.transport, Transport::Stdio(_))
}

#[cfg(test)]
mod tests {
    use wharf_config::PROTOCOL_VERSIONS;
    use wharf_protocol::era::Revision;

    #[test]
    fn an_entry_can_be_pinned_to_every_revision_that_is_spoken() {
        assert_eq!(PROTOCOL_VERSIONS, Revision::ALL.map(Revision::as_str));
    }
}
