//! The options of the HTTP client: proxies, root certificates and timeouts.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The options of an HTTP client.
#[derive(Debug, Clone)]
pub struct HttpClientOptions {
    /// The proxies to use.
    pub proxies: Proxies,
    /// Files with root certificates in addition to those of the system (`SSL_CERT_FILE`,
    /// `NODE_EXTRA_CA_CERTS`, …). A file that cannot be read is skipped with a warning.
    pub extra_roots: Vec<PathBuf>,
    /// The timeout for making a connection.
    pub connect_timeout: Duration,
    /// The timeout from the connection to the head of the response. `None` leaves the timeout to
    /// the caller, who drops the future of the request: a tool may run for minutes.
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
/// Servers on this machine are never reached through a proxy.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The proxy for `http://` (`http_proxy`).
    pub(crate) http: String,
    /// The proxy for `https://` (`https_proxy`).
    pub(crate) https: String,
    /// The proxy for schemes without their own (`all_proxy`).
    pub(crate) all: String,
    /// Hosts, domains, addresses and networks to reach without a proxy (`no_proxy`); `*` for all.
    pub(crate) none: String,
}

impl Proxies {
    /// Reads the settings from environment variables.
    ///
    /// As in curl, lower-case names take precedence over upper-case names. An empty lower-case
    /// variable switches off the proxy of the upper-case one.
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

/// Shows only which proxies are set, because they may contain passwords.
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
