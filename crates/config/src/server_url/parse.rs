//! Parses an address: HTTP, Unix socket, or incomplete because of a missing variable.

use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::{Host, SyntaxViolation, Url};

use super::error::{ServerUrlError, check_characters};
use super::render::render_written;
use crate::secret::{REDACTED, Secret};
use crate::server::WrittenText;

/// The host in requests to a Unix socket.
const SOCKET_HOST: &str = "localhost";

/// The characters that are percent-encoded in the path of a socket.
const SOCKET_PATH_ESCAPES: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'%').add(b'?');

/// The address of a server after expansion. `Display` redacts user, password and query.
///
/// ```
/// use wharf_config::ServerUrl;
///
/// let url: ServerUrl = "https://me:secret@Bücher.example:443/mcp?key=1".parse()?;
/// assert_eq!(url.to_string(), "https://•••@xn--bcher-kva.example:443/mcp?•••");
/// # Ok::<(), wharf_config::ServerUrlError>(())
/// ```
#[derive(Clone)]
pub struct ServerUrl {
    location: ServerLocation,
    /// The port, if the text has one; the parser drops a default port.
    explicit_port: Option<u16>,
}

/// Where a server is.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerLocation {
    /// An `http` or `https` address; it always has a host.
    Network(Url),
    /// A Unix socket.
    Socket {
        /// The socket's file, absolute.
        path: PathBuf,
        /// The request target, as an `http` address on `localhost`.
        request: Url,
    },
    /// A placeholder in it has no value, so it cannot be contacted.
    Incomplete {
        /// The text, partly expanded.
        text: Secret,
        /// The address before expansion, with secrets redacted.
        redacted: String,
    },
}

impl std::str::FromStr for ServerUrl {
    type Err = ServerUrlError;

    /// Parses an address; surrounding white space is ignored.
    fn from_str(text: &str) -> Result<Self, ServerUrlError> {
        let text = text.trim();
        check_characters(text)?;
        let lacks_slashes = Cell::new(false);
        let note = |violation| {
            lacks_slashes
                .set(lacks_slashes.get() || violation == SyntaxViolation::ExpectedDoubleSlash);
        };
        let parsed = Url::options().syntax_violation_callback(Some(&note)).parse(text);
        let url = parsed.map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => ServerUrlError::Scheme,
            url::ParseError::EmptyHost => ServerUrlError::NoHost,
            error => ServerUrlError::Invalid(error),
        })?;
        match url.scheme() {
            // This parser reads `a` in `https:///a/b` as the host; other parsers do not.
            "http" | "https" if lacks_slashes.get() => Err(ServerUrlError::NoHost),
            "http" | "https" => {
                let explicit_port = url.port().or_else(|| explicit_default_port(text, &url));
                Ok(Self { location: ServerLocation::Network(url), explicit_port })
            }
            "unix" => Ok(Self { location: parse_socket(&url)?, explicit_port: None }),
            "ws" | "wss" => Err(ServerUrlError::WebSocket),
            _ => Err(ServerUrlError::Scheme),
        }
    }
}

/// Returns the default port of the scheme, if the text has it.
///
/// The parser drops a default port. With the other one of the two schemes, the same text has the
/// same parts, but the port is not the default.
fn explicit_default_port(text: &str, url: &Url) -> Option<u16> {
    let other = if url.scheme() == "https" { "http" } else { "https" };
    let rest = text.get(url.scheme().len()..)?;
    Url::parse(&format!("{other}{rest}")).ok()?.port()
}

/// Parses `unix:///run/a.sock#/mcp`: the fragment is the request target.
fn parse_socket(url: &Url) -> Result<ServerLocation, ServerUrlError> {
    let has_host = url.host_str().is_some_and(|host| !host.is_empty());
    let has_no_file = url.cannot_be_a_base() || matches!(url.path(), "" | "/");
    if has_host || has_no_file || url.query().is_some() {
        return Err(ServerUrlError::SocketPath);
    }
    let path = percent_decode_str(url.path()).decode_utf8();
    let path = path.map_err(|_| ServerUrlError::SocketPath)?;
    let mut request =
        Url::parse(&format!("http://{SOCKET_HOST}/")).map_err(ServerUrlError::Invalid)?;
    if let Some(fragment) = url.fragment() {
        request = request
            .join(&format!("/{}", fragment.trim_start_matches('/')))
            .map_err(ServerUrlError::Invalid)?;
    }
    Ok(ServerLocation::Socket { path: PathBuf::from(&*path), request })
}

impl ServerUrl {
    /// Makes an address in which a placeholder has no value.
    pub(crate) fn incomplete(text: &str, written: &WrittenText) -> Self {
        let (text, redacted) = (Secret::new(text), render_written(written));
        Self { location: ServerLocation::Incomplete { text, redacted }, explicit_port: None }
    }

    /// Returns the parsed location, for the transport.
    pub fn location(&self) -> &ServerLocation {
        &self.location
    }

    /// Returns the text to which credentials are bound: the address without user and, for a network
    /// address, without fragment; none if the address is incomplete.
    pub fn resource(&self) -> Option<String> {
        match &self.location {
            ServerLocation::Network(url) => {
                let mut url = url.clone();
                // Neither can fail for an address with a host.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.set_fragment(None);
                Some(url.into())
            }
            ServerLocation::Socket { path, request } => Some(format_socket(path, request)),
            ServerLocation::Incomplete { .. } => None,
        }
    }

    /// Returns the whole normalized address, with its secrets.
    pub fn expose(&self) -> String {
        match &self.location {
            ServerLocation::Network(url) => url.as_str().to_owned(),
            ServerLocation::Socket { path, request } => format_socket(path, request),
            ServerLocation::Incomplete { text, .. } => text.expose().to_owned(),
        }
    }

    /// Returns the host; internationalized names are in punycode.
    pub fn host(&self) -> Option<&str> {
        match &self.location {
            ServerLocation::Network(url) => url.host_str(),
            ServerLocation::Socket { .. } | ServerLocation::Incomplete { .. } => None,
        }
    }

    /// Tells whether traffic is readable on the network: plain HTTP to another machine.
    pub fn is_unencrypted_remote(&self) -> bool {
        let ServerLocation::Network(url) = &self.location else { return false };
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost")
            }
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            None => false,
        };
        url.scheme() == "http" && !is_loopback
    }

    /// Returns the first value of a query parameter.
    pub fn query_value(&self, name: &str) -> Option<String> {
        let (ServerLocation::Network(url) | ServerLocation::Socket { request: url, .. }) =
            &self.location
        else {
            return None;
        };
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    pub(super) fn explicit_port(&self) -> Option<u16> {
        self.explicit_port
    }
}

fn format_socket(path: &Path, request: &Url) -> String {
    format!("unix://{}#{}", encode_socket_path(path), &request[url::Position::BeforePath..])
}

/// Percent-encodes the path of a socket for an address.
pub(super) fn encode_socket_path(path: &Path) -> String {
    utf8_percent_encode(&path.to_string_lossy(), SOCKET_PATH_ESCAPES).to_string()
}

/// Compares the parsed locations: two spellings of one address are equal.
impl PartialEq for ServerUrl {
    fn eq(&self, other: &Self) -> bool {
        self.location == other.location
    }
}

impl Eq for ServerUrl {}

impl Hash for ServerUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.location.hash(state);
    }
}

/// Redacts everything: variables may have put secrets anywhere.
impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Shows the kind only, without secrets.
impl fmt::Debug for ServerLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network(_) => "Network",
            Self::Socket { .. } => "Socket",
            Self::Incomplete { .. } => "Incomplete",
        })
    }
}
