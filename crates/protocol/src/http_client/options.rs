//! How a client connects: proxies, certificates and patience, all given as values.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a client is made with.
#[derive(Debug, Clone)]
pub struct HttpClientOptions {
    /// Which requests go through which proxy.
    pub proxies: Proxies,
    /// Files with certificates to trust besides those of the system (`SSL_CERT_FILE`,
    /// `NODE_EXTRA_CA_CERTS`, …). One that cannot be read is passed over with a warning.
    pub extra_roots: Vec<PathBuf>,
    /// How long it may take until there is a connection.
    pub connect_timeout: Duration,
    /// How long it may take from there to the head of the answer. `None` leaves that to the caller,
    /// who drops the request when it has waited enough: a tool may work for minutes.
    pub header_timeout: Option<Duration>,
}

impl Default for HttpClientOptions {
    fn default() -> Self {
        Self {
            proxies: Proxies::default(),
            extra_roots: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            header_timeout: None,
        }
    }
}

/// The proxies to use, in the notation of the environment variables that usually hold them.
///
/// A server on this machine is never asked through a proxy, whatever is said here.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The proxy for `http://` (`http_proxy`).
    pub http: String,
    /// The proxy for `https://` (`https_proxy`).
    pub https: String,
    /// The proxy for what has none of its own (`all_proxy`).
    pub all: String,
    /// Hosts, domains, addresses and networks to ask directly (`no_proxy`), `*` for all.
    pub none: String,
}

impl Proxies {
    /// Collects the settings from variables.
    ///
    /// As in curl the names in small letters count before those in capitals. An empty variable
    /// counts as well: it switches a proxy off that the name in capitals would set.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| {
            let value = lookup(name).or_else(|| lookup(&name.to_ascii_uppercase()));
            value.unwrap_or_default().trim().to_owned()
        };
        Self {
            http: value("http_proxy"),
            https: value("https_proxy"),
            all: value("all_proxy"),
            none: value("no_proxy"),
        }
    }
}

/// Proxies may contain passwords, so only says which are set.
impl fmt::Debug for Proxies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_set = |value: &String| !value.is_empty();
        formatter
            .debug_struct("Proxies")
            .field("http", &is_set(&self.http))
            .field("https", &is_set(&self.https))
            .field("all", &is_set(&self.all))
            .field("none", &self.none)
            .finish()
    }
}
