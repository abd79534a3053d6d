//! The address of a request, parsed once.
//!
//! `Display` shows scheme, host, port and path. User information becomes a header; it never appears
//! in a text, and neither does the query, which may contain keys.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use super::client::AddressPolicy;
use super::local_address::is_local;

/// The target of a request: `http://`, `https://` or `unix:///path/to.sock#/path`. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpTarget(Arc<TargetParts>);

#[derive(PartialEq, Eq)]
struct TargetParts {
    origin: UrlOrigin,
    /// Without user information and fragment; for a socket, the host is `localhost`.
    url: Url,
    uri: Uri,
    path: Uri,
    host: HeaderValue,
    authorization: Option<HeaderValue>,
}

/// An address that cannot be used. The messages do not repeat it, because it may contain secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpTargetError {
    /// The scheme is missing or not supported.
    #[error("an address begins with `http://`, `https://` or `unix:///`")]
    Scheme,
    /// It is not a URL.
    #[error("not a valid address")]
    Invalid(#[from] url::ParseError),
    /// Some part has characters that are not allowed.
    #[error("the address has characters that are not allowed")]
    Characters,
    /// The path of a socket is empty or relative.
    #[error("the path of a Unix socket must be absolute, as in `unix:///run/server.sock#/mcp`")]
    SocketPath,
}

impl HttpTarget {
    /// Creates a target from a parsed `http` or `https` URL.
    pub fn network(url: Url) -> Result<Self, HttpTargetError> {
        Self::from_url(url)
    }

    /// Creates a target on a Unix socket. Only path and query of `request` are used.
    pub fn socket(path: PathBuf, request: Url) -> Result<Self, HttpTargetError> {
        if !path.has_root() {
            return Err(HttpTargetError::SocketPath);
        }
        Self::from_parts(UrlOrigin::new(OriginLocation::Socket { path }), request, None)
    }

    /// Returns the URL, without user information and fragment. For a socket, the host is
    /// `localhost`.
    pub fn url(&self) -> &Url {
        &self.0.url
    }

    /// Returns the origin.
    pub fn origin(&self) -> &UrlOrigin {
        &self.0.origin
    }

    /// Resolves a reference that a server has sent, relative to this target.
    ///
    /// User information of this target is kept for the same origin and never given to another. The
    /// caller decides whether another origin is acceptable.
    pub(crate) fn join(&self, reference: &str) -> Result<Self, HttpTargetError> {
        let url = self.0.url.join(reference)?;
        let OriginLocation::Socket { path } = self.0.origin.location() else {
            let mut joined = Self::from_url(url)?;
            if joined.origin() == self.origin() && joined.0.authorization.is_none() {
                joined = joined.with_authorization(self.0.authorization.clone());
            }
            return Ok(joined);
        };
        // Requests over a socket use the host `localhost`, so the server's own addresses have it,
        // too.
        if url.scheme() == "http" && url.host_str() == Some(SOCKET_HOST) && url.port().is_none() {
            return Self::from_parts(
                UrlOrigin::new(OriginLocation::Socket { path: path.clone() }),
                url,
                None,
            );
        }
        Self::from_url(url)
    }

    /// Tells whether the address has user information.
    pub(crate) fn has_credentials(&self) -> bool {
        self.0.authorization.is_some()
    }

    /// Returns the secrets of the address: user information and query, encoded and decoded.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let query = self.0.url.query().unwrap_or_default();
        let sent = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut secrets: Vec<String> = sent.map(|(_, value)| value.to_owned()).collect();
        secrets.push(query.to_owned());
        secrets.extend(self.0.url.query_pairs().map(|(_, value)| value.into_owned()));
        let user = self.0.authorization.as_ref().and_then(|value| value.to_str().ok());
        if let Some(encoded) = user.and_then(|user| user.strip_prefix("Basic ")) {
            secrets.push(encoded.to_owned());
            let decoded =
                STANDARD.decode(encoded).ok().and_then(|user| String::from_utf8(user).ok());
            let password = decoded.as_deref().and_then(|user| user.split_once(':'));
            secrets.extend(password.map(|(_, password)| password.to_owned()));
            secrets.extend(decoded);
        }
        secrets
    }

    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.0.authorization.as_ref()
    }

    /// Returns the value of the `Host` header.
    pub(super) fn host(&self) -> &HeaderValue {
        &self.0.host
    }

    /// Returns path and query.
    pub(super) fn path(&self) -> &Uri {
        &self.0.path
    }

    /// Returns the whole URI, for proxies and HTTP/2.
    pub(super) fn uri(&self) -> &Uri {
        &self.0.uri
    }

    fn from_url(mut url: Url) -> Result<Self, HttpTargetError> {
        let authorization = basic(&url);
        // These fail only for a URL without a host, and `http` URLs always have one.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let is_secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(HttpTargetError::Scheme),
        };
        let host = url.host_str().ok_or(url::ParseError::EmptyHost)?.to_owned();
        let port = url.port_or_known_default().ok_or(url::ParseError::InvalidPort)?;
        let origin = UrlOrigin::new(OriginLocation::Network { is_secure, host, port });
        Self::from_parts(origin, url, authorization)
    }

    fn from_parts(
        origin: UrlOrigin,
        mut url: Url,
        authorization: Option<HeaderValue>,
    ) -> Result<Self, HttpTargetError> {
        url.set_fragment(None);
        let wrong = |_| HttpTargetError::Characters;
        let uri = Uri::try_from(url.as_str()).map_err(wrong)?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = Uri::try_from(path).map_err(wrong)?;
        let host = uri.authority().map_or(SOCKET_HOST, |authority| authority.as_str());
        let host = HeaderValue::from_str(host).map_err(|_| HttpTargetError::Characters)?;
        Ok(Self(Arc::new(TargetParts { origin, url, uri, path, host, authorization })))
    }

    fn with_authorization(&self, authorization: Option<HeaderValue>) -> Self {
        let TargetParts { origin, url, uri, path, host, .. } = &*self.0;
        Self(Arc::new(TargetParts {
            origin: origin.clone(),
            url: url.clone(),
            uri: uri.clone(),
            path: path.clone(),
            host: host.clone(),
            authorization,
        }))
    }
}

impl FromStr for HttpTarget {
    type Err = HttpTargetError;

    fn from_str(text: &str) -> Result<Self, HttpTargetError> {
        // The parser reads a backslash as a slash and skips control characters; other parsers do
        // not.
        if text.contains(|c: char| c == '\\' || c.is_control()) {
            return Err(HttpTargetError::Characters);
        }
        let Some(socket) = text.strip_prefix("unix:") else {
            return match Url::parse(text) {
                Err(url::ParseError::RelativeUrlWithoutBase) => Err(HttpTargetError::Scheme),
                parsed => Self::from_url(parsed?),
            };
        };
        let (path, request) = socket.split_once('#').unwrap_or((socket, "/"));
        let path = path.strip_prefix("//").unwrap_or(path);
        if !path.starts_with('/') || path == "/" {
            return Err(HttpTargetError::SocketPath);
        }
        let slash = if request.starts_with('/') { "" } else { "/" };
        let url = Url::parse(&format!("http://{SOCKET_HOST}{slash}{request}"))?;
        Self::from_parts(UrlOrigin::new(OriginLocation::Socket { path: path.into() }), url, None)
    }
}

impl fmt::Display for HttpTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.0.origin.is_socket() { "#" } else { "" };
        write!(formatter, "{}{mark}{}", self.0.origin, self.0.url.path())
    }
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Target({self})")
    }
}

/// The host name of a server on a Unix socket, for requests.
const SOCKET_HOST: &str = "localhost";

/// Scheme, host and port, or the path of a socket. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct UrlOrigin(Arc<OriginLocation>);

#[derive(PartialEq, Eq, Hash)]
pub(super) enum OriginLocation {
    Network {
        is_secure: bool,
        /// As in a URL: an IPv6 address has brackets.
        host: String,
        port: u16,
    },
    Socket {
        path: PathBuf,
    },
}

impl UrlOrigin {
    pub(super) fn new(place: OriginLocation) -> Self {
        Self(Arc::new(place))
    }

    pub(super) fn location(&self) -> &OriginLocation {
        &self.0
    }

    pub(super) fn is_socket(&self) -> bool {
        matches!(*self.0, OriginLocation::Socket { .. })
    }

    /// Tells whether it uses TLS.
    pub(crate) fn is_secure(&self) -> bool {
        matches!(*self.0, OriginLocation::Network { is_secure: true, .. })
    }

    /// Tells whether it is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let OriginLocation::Network { host, .. } = &*self.0 else {
            return true;
        };
        match Host::parse(host) {
            Ok(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost")
            }
            Ok(Host::Ipv4(address)) => address.is_loopback(),
            Ok(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            Err(_) => false,
        }
    }

    /// Tells whether a policy forbids it, as far as the name shows it.
    pub(super) fn is_forbidden(&self, policy: AddressPolicy) -> bool {
        self.is_loopback() || self.address().is_some_and(|address| policy.forbids(address))
    }

    /// Tells whether it is this machine or its local link, as far as the name shows it. The
    /// addresses of names other than `localhost` are checked when a connection is made.
    pub(super) fn is_this_machine(&self) -> bool {
        self.is_loopback() || self.address().is_some_and(is_local)
    }

    /// Returns the IP address, if the host is one.
    pub(super) fn address(&self) -> Option<IpAddr> {
        let OriginLocation::Network { host, .. } = &*self.0 else { return None };
        match Host::parse(host).ok()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }

    /// Tells whether the host is the same, with any scheme and port.
    pub(super) fn has_host_of(&self, other: &Self) -> bool {
        match (&*self.0, &*other.0) {
            (OriginLocation::Network { host, .. }, OriginLocation::Network { host: other, .. }) => {
                host == other
            }
            (place, other) => place == other,
        }
    }
}

impl fmt::Display for UrlOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            OriginLocation::Socket { path } => write!(formatter, "unix://{}", path.display()),
            OriginLocation::Network { is_secure, host, port } => {
                let (scheme, default) = if *is_secure { ("https", 443) } else { ("http", 80) };
                write!(formatter, "{scheme}://{host}")?;
                if *port == default { Ok(()) } else { write!(formatter, ":{port}") }
            }
        }
    }
}

impl fmt::Debug for UrlOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Origin({self})")
    }
}

/// Returns the `Authorization: Basic` header for the user information.
fn basic(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}
