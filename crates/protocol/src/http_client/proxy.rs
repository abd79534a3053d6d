//! Selects the route to a server: directly or through a proxy (`http_proxy`, `no_proxy`, …).

use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use super::error::HttpError;
use super::options::Proxies;
use super::target::{HttpTarget, OriginLocation, UrlOrigin};

/// The parsed proxy settings.
pub(super) struct ProxyRules {
    matcher: Matcher,
    http: SettingState,
    https: SettingState,
    is_off: bool,
    /// Entries of `no_proxy` with a port, which the matcher does not support.
    ports: Vec<(String, u16)>,
}

/// The state of the setting for one scheme.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SettingState {
    Absent,
    Usable,
    Invalid,
}

/// The route to a server.
pub(super) enum ProxyRoute {
    Direct,
    /// The request is sent to the proxy, over plain HTTP.
    Forward(Proxy),
    /// The proxy makes a connection and then only forwards bytes (`CONNECT`).
    Tunnel(Proxy),
    Socks(Proxy),
}

/// A proxy and its credentials.
pub(super) struct Proxy {
    pub(super) uri: Uri,
    pub(super) origin: UrlOrigin,
    intercept: Intercept,
}

impl Proxy {
    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.intercept.basic_auth()
    }

    pub(super) fn user(&self) -> Option<(&str, &str)> {
        self.intercept.raw_auth()
    }
}

impl ProxyRules {
    pub(super) fn new(proxies: &Proxies) -> Self {
        let mut plain = Vec::new();
        let mut ports = Vec::new();
        let entries = proxies.none.split([',', ' ']).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            match split_port(entry) {
                Some((host, port)) => ports.push((normalize(host).to_owned(), port)),
                None => plain.push(normalize(entry)),
            }
        }
        let matcher = Matcher::builder()
            .http(proxies.http.as_str())
            .https(proxies.https.as_str())
            .all(proxies.all.as_str())
            .no(plain.join(","))
            .build();
        Self {
            matcher,
            http: check_setting(&proxies.http, &proxies.all),
            https: check_setting(&proxies.https, &proxies.all),
            is_off: plain.contains(&"*"),
            ports,
        }
    }

    /// Returns the route to a server.
    pub(super) fn route(&self, target: &HttpTarget) -> Result<ProxyRoute, HttpError> {
        let origin = target.origin();
        let OriginLocation::Network { is_secure, host, port } = origin.location() else {
            return Ok(ProxyRoute::Direct);
        };
        let setting = if *is_secure { self.https } else { self.http };
        let is_exempt = || self.is_off || origin.is_loopback() || self.has_port(host, *port);
        if setting == SettingState::Absent || is_exempt() {
            return Ok(ProxyRoute::Direct);
        }
        let intercept = match self.matcher.intercept(target.uri()) {
            Some(intercept) => intercept,
            // The host is exempt, or the setting is not an address; only the latter is an error.
            None if setting == SettingState::Usable => return Ok(ProxyRoute::Direct),
            None => return Err(invalid_setting(origin)),
        };
        let proxy = Proxy::new(intercept).ok_or_else(|| invalid_setting(origin))?;
        let scheme = proxy.uri.scheme();
        Ok(match scheme {
            Some(scheme) if *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS => {
                ProxyRoute::Socks(proxy)
            }
            _ if *is_secure => ProxyRoute::Tunnel(proxy),
            _ => ProxyRoute::Forward(proxy),
        })
    }

    fn has_port(&self, host: &str, port: u16) -> bool {
        let host = host.trim_matches(['[', ']']);
        self.ports.iter().any(|(entry, only)| {
            let domain = entry.trim_start_matches('.');
            let is_below = || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
            *only == port && (entry == "*" || host == domain || is_below())
        })
    }
}

impl Proxy {
    fn new(intercept: Intercept) -> Option<Self> {
        let uri = intercept.uri().clone();
        let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
        let port = match uri.scheme_str() {
            Some("http") => 80,
            Some("https") => 443,
            _ => 1080,
        };
        let port = uri.port_u16().unwrap_or(port);
        let host = uri.host()?.to_owned();
        let origin = UrlOrigin::new(OriginLocation::Network { is_secure, host, port });
        Some(Self { uri, origin, intercept })
    }
}

/// Tells whether a setting can be used. The matcher ignores an invalid one, so that requests would
/// bypass the proxy.
fn check_setting(own: &str, all: &str) -> SettingState {
    let value = if own.is_empty() { all } else { own };
    if value.is_empty() {
        return SettingState::Absent;
    }
    let probe = Matcher::builder().http(value).build();
    match probe.intercept(&Uri::from_static("http://wharf.invalid/")) {
        Some(_) => SettingState::Usable,
        None => SettingState::Invalid,
    }
}

fn invalid_setting(origin: &UrlOrigin) -> HttpError {
    let source = "the proxy setting is not an address such as `http://host:port`".into();
    HttpError::Proxy { origin: origin.clone(), proxy: None, source }
}

/// Converts an entry of `no_proxy` into the format of the matcher.
fn normalize(entry: &str) -> &str {
    if entry.starts_with("*.") { &entry[1..] } else { entry.trim_matches(['[', ']']) }
}

/// Splits `host:port` and `[address]:port`; a bare IPv6 address has no port.
fn split_port(entry: &str) -> Option<(&str, u16)> {
    let (host, port) = entry.rsplit_once(':')?;
    let is_address = host.contains(':') && !host.ends_with(']');
    if is_address { None } else { Some((host, port.parse().ok()?)) }
}
