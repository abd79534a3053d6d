//! What all connections of a runtime share.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "oauth")]
use wharf_config::ServerName;
use wharf_config::{
    Catalog, DefinitionState, ServerLimits, ServerSpec, Settings, Source, Transport,
};
use wharf_protocol::ConnectOptions;
use wharf_protocol::peer::SessionLimits;
#[cfg(feature = "http")]
use wharf_protocol::transport::HttpClient;

use super::lockfile::Lockfile;
use super::subscriptions::HostRequests;
#[cfg(feature = "oauth")]
use crate::auth::SessionEvent;
#[cfg(feature = "oauth")]
use crate::credentials::StoreAccess;
use crate::elicitation::required_urls::CompletedUrls;
use crate::event::{Event, EventSender};
#[cfg(feature = "http")]
use crate::http::http_options;
use crate::options::{Options, milliseconds, number};
use crate::resolve::Resolver;
#[cfg(feature = "oauth")]
use crate::resolve::SignInStates;
use crate::spans::ParentSpan;
use crate::store::server_history::ServerHistory;
use crate::tools::name_owners::NameOwners;
use crate::tools::server_tools::ToolSettings;
use crate::tools::{Naming, Pinning};
use crate::trust_gate::TrustedServer;

/// What all connections of a runtime share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) resolver: Resolver,
    #[cfg(feature = "http")]
    pub(crate) http: HttpClient,
    #[cfg(feature = "oauth")]
    pub(crate) sign_ins: Arc<SignInStates>,
    pub(crate) history: ServerHistory,
    pub(crate) events: EventSender,
    pub(crate) host_requests: HostRequests,
    pub(crate) completed_urls: Arc<CompletedUrls>,
    pub(super) lockfile: Lockfile,
    pub(crate) parent_span: ParentSpan,
}

/// The settings that count for tools and calls; `apply` may bring others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuntimeSettings {
    pub(crate) tools: ToolSettings,
    pub(crate) pinning: Pinning,
    pub(crate) call_cap: Duration,
    pub(crate) max_result_chars: usize,
}

/// What a server's definition and the settings say about it at one time.
#[derive(Debug)]
pub(crate) struct ConnectionConfig {
    pub(crate) server: Arc<TrustedServer>,
    pub(crate) source: Arc<Source>,
    pub(crate) settings: RuntimeSettings,
}

impl RuntimeSettings {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            tools: ToolSettings::from(settings),
            pinning: Pinning::from(settings),
            call_cap: milliseconds(settings, "call.max_ms", 3_600_000),
            max_result_chars: number(settings, "call.max_result_chars")
                .and_then(|number| usize::try_from(number).ok())
                .unwrap_or(50_000),
        }
    }
}

impl Shared {
    pub(crate) fn new(options: Options, events: EventSender) -> Self {
        let env = &options.env;
        let resolver = Resolver::new(Arc::clone(env), Arc::clone(&options.credentials))
            .with_own_program(options.own_program.clone());
        #[cfg(feature = "http")]
        let http = HttpClient::new(&http_options(env));
        #[cfg(feature = "oauth")]
        let sign_ins = Arc::new(sign_in_states(&options, &http, &events));
        #[cfg(feature = "oauth")]
        let resolver = resolver.with_sign_ins(Arc::clone(&sign_ins));
        let (cache, pins) = (options.cache.clone(), options.pins.clone());
        let history =
            ServerHistory::open(env, cache, pins, &options.client_features.capabilities());
        Self {
            resolver,
            #[cfg(feature = "http")]
            http,
            #[cfg(feature = "oauth")]
            sign_ins,
            history,
            events,
            host_requests: HostRequests::default(),
            completed_urls: Arc::default(),
            lockfile: Lockfile::new(options.run.clone()),
            parent_span: ParentSpan::current(),
            options,
        }
    }

    /// Decides which servers own which tool names: all that are enabled, also those that this run
    /// does not use.
    pub(crate) fn set_name_owners(&self, catalog: &Catalog) {
        self.history.names().set_owners(name_owners(catalog));
    }

    pub(super) fn connect_options(&self, spec: &ServerSpec) -> ConnectOptions {
        ConnectOptions {
            capabilities: self.options.client_features.capabilities(),
            timeout: connect_timeout(spec),
            limits: session_limits(spec.limits),
            pinned: spec.policy.protocol_version.as_ref().and_then(|text| text.parse().ok()),
            ..ConnectOptions::new(self.options.client.clone())
        }
    }

    /// Returns how long a connection that is told to stop may take to bring its list, which is
    /// worth keeping for the next run.
    pub(super) fn shutdown_list_limit(&self) -> Duration {
        let grace = self.options.grace.after_eof.min(MAX_SHUTDOWN_LIST);
        if self.history.caches_tools() { grace } else { Duration::ZERO }
    }

    pub(crate) fn send(&self, event: Event) {
        self.events.send(event);
    }
}

/// Creates the sign-in states, which report what happens to them as events.
#[cfg(feature = "oauth")]
fn sign_in_states(options: &Options, http: &HttpClient, events: &EventSender) -> SignInStates {
    let store = StoreAccess::new(Arc::clone(&options.credentials));
    let events = events.clone();
    let observer = move |server: &ServerName, event| {
        let server = server.clone();
        events.send(match event {
            SessionEvent::Needed => Event::SignInNeeded { server },
            SessionEvent::SignedIn { account } => Event::SignedIn { server, account },
            SessionEvent::Renewed { expires_at } => Event::TokenRenewed { server, expires_at },
        });
    };
    SignInStates::new(http.clone(), store, options.oauth.clone(), Arc::new(observer))
}

/// Returns the servers of a catalog that own tool names.
pub(crate) fn name_owners(catalog: &Catalog) -> NameOwners {
    let all = catalog.servers.iter().chain(&catalog.excluded);
    let enabled = all.filter(|server| server.state == DefinitionState::Enabled);
    let servers = enabled.map(|server| {
        let prefix = server.definition.fields.policy.prefix.as_deref();
        (server.definition.name.as_str(), prefix)
    });
    NameOwners::of(Naming::from(&catalog.settings), servers)
}

/// The longest that the end of a run is put off for a list.
const MAX_SHUTDOWN_LIST: Duration = Duration::from_millis(100);

/// The longest that connecting may take where the entry sets no limit.
const MAX_CONNECT_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long connecting may take.
pub(super) fn connect_timeout(spec: &ServerSpec) -> Duration {
    let timeouts = spec.timeouts;
    within_maximum(timeouts.connect.or(timeouts.both))
}

/// How long listing the tools may take.
pub(super) fn list_timeout(spec: &ServerSpec) -> Duration {
    let timeouts = spec.timeouts;
    within_maximum(timeouts.list.or(timeouts.connect).or(timeouts.both))
}

fn session_limits(limits: ServerLimits) -> SessionLimits {
    let mut session = SessionLimits::default();
    session.items = limits.list_entries.unwrap_or(session.items);
    session.message = limits.message_bytes.unwrap_or(session.message);
    session
}

fn within_maximum(configured: Option<u64>) -> Duration {
    let configured = configured.unwrap_or(wharf_config::DEFAULT_TIMEOUT_MS);
    let limit =
        if configured == 0 { MAX_CONNECT_TIMEOUT } else { Duration::from_millis(configured) };
    limit.min(MAX_CONNECT_TIMEOUT)
}

/// How long a call may be silent.
pub(crate) fn call_idle_timeout(spec: &ServerSpec, cap: Duration) -> Duration {
    let timeouts = spec.timeouts;
    let configured = timeouts.call.or(timeouts.both).unwrap_or(wharf_config::DEFAULT_TIMEOUT_MS);
    if configured == 0 { cap } else { Duration::from_millis(configured).min(cap) }
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
