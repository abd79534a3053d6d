//! What all connections of a runtime share.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use wharf_config::{ServerSpec, Settings, Transport};
use wharf_protocol::transport::{HttpClient, HttpOptions, Proxies};
use wharf_protocol::{ConnectOptions, peer};

use super::keeper::Keeper;
use crate::event::{self, Event};
use crate::gate::Ready;
use crate::options::{Options, milliseconds};
use crate::resolve::Resolver;
use crate::tools::Pinning;
use crate::tools::cache::{CacheKey, ToolCache};
use crate::tools::offer::ToolRules;
use crate::tools::pins::{PinKey, Pins};

/// What all connections of a runtime share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) resolver: Resolver,
    pub(crate) http: HttpClient,
    pub(crate) cache: ToolCache,
    pub(crate) pins: Pins,
    pub(crate) keeper: Keeper,
    pub(crate) events: broadcast::Sender<Event>,
}

/// The settings that count for tools and calls; `apply` may bring others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) tools: ToolRules,
    pub(crate) pinning: Pinning,
    pub(crate) call_cap: Duration,
}

impl Rules {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            tools: ToolRules::from(settings),
            pinning: Pinning::from(settings),
            call_cap: milliseconds(settings, "call.max_ms", 3_600_000),
        }
    }
}

impl Shared {
    pub(crate) fn new(options: Options) -> Self {
        let env = &options.env;
        let resolver = Resolver::new(Arc::clone(env), Arc::clone(&options.credentials))
            .with_own_program(options.own_program.clone());
        let lookup = |name: &str| env.filled_variable(name).map(str::to_owned);
        let roots = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(lookup);
        let http = HttpOptions {
            proxies: Proxies::from_variables(lookup),
            extra_roots: roots.map(Into::into).collect(),
            // How long an answer may take is for each request to say.
            header_timeout: None,
            ..HttpOptions::default()
        };
        Self {
            resolver,
            http: HttpClient::new(&http),
            cache: ToolCache::open(options.cache.clone()),
            pins: Pins::open(options.pins.clone()),
            keeper: Keeper::default(),
            events: broadcast::Sender::new(event::KEPT),
            options,
        }
    }

    /// Returns under which keys a server's tools are cached and pinned.
    pub(crate) fn keys(&self, server: &Ready) -> (CacheKey, PinKey) {
        let name = server.spec.name.as_str();
        let identity = server.identity(&self.options.env);
        let credential = server.credential_identity();
        (self.cache.key(name, &identity, &credential), self.pins.key(name, &identity, &credential))
    }

    /// Returns what remembered answers about a server are bound to; it gives nothing away.
    pub(crate) fn definition_key(&self, server: &Ready) -> String {
        self.keys(server).1.to_string()
    }

    pub(super) fn connect_options(&self, spec: &ServerSpec, cap: Duration) -> ConnectOptions {
        ConnectOptions {
            capabilities: self.options.ports.capabilities(),
            timeout: connect_limit(spec, cap),
            limits: peer::Limits::default(),
            ..ConnectOptions::new(self.options.client.clone())
        }
    }

    /// Writes to disk what is worth keeping. Blocks for as long as the disk takes.
    pub(crate) fn keep(&self) {
        self.keeper.write(&self.cache);
    }

    pub(crate) fn tell(&self, event: Event) {
        // An error only means that nobody is interested.
        drop(self.events.send(event));
    }
}

/// How long connecting, and listing, may take.
pub(super) fn connect_limit(spec: &ServerSpec, cap: Duration) -> Duration {
    let timeouts = spec.timeouts;
    let said = timeouts.connect.or(timeouts.both).unwrap_or(wharf_config::DEFAULT_TIMEOUT_MS);
    if said == 0 { cap } else { Duration::from_millis(said).min(cap) }
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
