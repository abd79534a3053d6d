//! The errors of the HTTP client, from the name lookup to the end of the response body.
//!
//! No message contains a header, user information or a query: addresses are formatted as
//! [`UrlOrigin`] or [`HttpTarget`], which leave these out.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use super::redirect::RedirectRefusal;
use super::target::{HttpTarget, UrlOrigin};
use super::tls;

/// The source of an error, of any type.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Why there is no response, or no complete one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The name of the host, or of the proxy, could not be looked up.
    #[error("could not find the host of {origin}")]
    Lookup {
        /// The origin with that name.
        origin: UrlOrigin,
        /// The error of the system's resolver.
        source: io::Error,
    },
    /// The connection could not be made.
    #[error("could not connect to {origin}")]
    Connect {
        /// The origin.
        origin: UrlOrigin,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The TLS handshake failed.
    #[error("could not set up TLS with {origin}")]
    Tls {
        /// The origin.
        origin: UrlOrigin,
        /// What is wrong with the certificate or the handshake.
        source: BoxError,
    },
    /// The proxy cannot be used or has refused.
    #[error("could not reach {origin} through the proxy{}", proxy_suffix(proxy.as_ref()))]
    Proxy {
        /// The origin of the request.
        origin: UrlOrigin,
        /// The proxy; `None` if the setting is not an address.
        proxy: Option<UrlOrigin>,
        /// The error.
        source: BoxError,
    },
    /// A timeout.
    #[error("{origin} did not {phase} within {limit:?}")]
    TimedOut {
        /// The origin.
        origin: UrlOrigin,
        /// What was waited for.
        phase: HttpPhase,
        /// The limit.
        limit: Duration,
    },
    /// The server redirected, and the redirect was not followed.
    #[error("{from} redirects to {}, which was not followed: {reason}", target_or_placeholder(to.as_ref()))]
    Redirected {
        /// The target that redirected.
        from: HttpTarget,
        /// The location; `None` if it is not an address.
        to: Option<HttpTarget>,
        /// Why it was not followed.
        reason: RedirectRefusal,
        /// The error at the new target, if it was tried.
        source: Option<Box<Self>>,
    },
    /// A remote server redirected to an address of this machine.
    #[error("{origin} is on this machine; a redirect of a remote server to it was not followed")]
    LocalAddress {
        /// The origin that it redirected to.
        origin: UrlOrigin,
    },
    /// A server on the internet named an address that is not on the internet.
    #[error("{origin} is in a private network; a server on the internet may not name it")]
    PrivateAddress {
        /// The origin that it named.
        origin: UrlOrigin,
    },
    /// The connection closed before the response, or the response is not HTTP.
    #[error("{origin} did not send a response")]
    NoResponse {
        /// The origin.
        origin: UrlOrigin,
        /// No byte of the request was written.
        never_sent: bool,
        /// The error of the connection.
        source: hyper::Error,
    },
    /// The connection closed within the response.
    #[error("the response of {origin} is incomplete")]
    IncompleteBody {
        /// The origin.
        origin: UrlOrigin,
        /// The error of the connection.
        source: hyper::Error,
    },
    /// The response is over the size limit of the caller.
    #[error("the response of {origin} has more than {limit} bytes")]
    TooLarge {
        /// The origin.
        origin: UrlOrigin,
        /// The limit in bytes.
        limit: usize,
    },
    /// The response is compressed, although the request did not accept that.
    #[error("{origin} sent a compressed response that was not requested")]
    Compressed {
        /// The origin.
        origin: UrlOrigin,
    },
    /// The client was closed.
    #[error("the HTTP client is closed")]
    Closed,
}

impl HttpError {
    /// Tells whether the request certainly has not reached a server, so that it is safe to repeat.
    /// `false` means that it is unknown.
    pub fn never_sent(&self) -> bool {
        match self {
            Self::Lookup { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Proxy { .. }
            | Self::LocalAddress { .. }
            | Self::PrivateAddress { .. }
            | Self::Closed => true,
            Self::TimedOut { phase, .. } => *phase == HttpPhase::Connect,
            Self::NoResponse { never_sent, .. } => *never_sent,
            Self::Redirected { .. }
            | Self::IncompleteBody { .. }
            | Self::TooLarge { .. }
            | Self::Compressed { .. } => false,
        }
    }

    /// Returns what a person can do to fix it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Lookup { .. } => "check the host name in the address, and the network".to_owned(),
            Self::Connect { source, .. } if source.kind() == io::ErrorKind::ConnectionRefused => {
                "check that the server is running, and the port in its address".to_owned()
            }
            Self::Connect { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "there is no such socket; check that the server is running".to_owned()
            }
            Self::TimedOut { phase: HttpPhase::Connect, .. } => {
                "check the host and the port in the address, and the network".to_owned()
            }
            Self::NoResponse { source, .. } if source.is_parse() => {
                "the server at that address does not speak HTTP; check the port, and whether the \
                 address should begin with https://"
                    .to_owned()
            }
            Self::Tls { source, .. } => tls::hint(&**source).to_owned(),
            Self::Proxy { .. } => "check `http_proxy`, `https_proxy` and `all_proxy`, or name the \
                                   host in `no_proxy`"
                .to_owned(),
            Self::Redirected { source: Some(source), .. } => source.hint()?,
            Self::Redirected { from, to, reason, .. } => reason.hint(from, to.as_ref())?,
            Self::Compressed { .. } => "turn compression off for this endpoint".to_owned(),
            _ => return None,
        };
        Some(hint)
    }
}

/// What the client was waiting for; displayed as the end of "the server did not …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpPhase {
    /// A connection, including name lookup, proxy and TLS.
    Connect,
    /// The head of the response.
    Answer,
}

impl fmt::Display for HttpPhase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Connect => "accept a connection",
            Self::Answer => "answer",
        })
    }
}

/// Finds an error of one type in a chain of sources.
pub(super) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // `io::Error::source` returns the source of the wrapped error, not the wrapped error
        // itself.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        current = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn proxy_suffix(proxy: Option<&UrlOrigin>) -> String {
    proxy.map(|proxy| format!(" {proxy}")).unwrap_or_default()
}

fn target_or_placeholder(target: Option<&HttpTarget>) -> String {
    target.map_or_else(|| "something that is not an address".to_owned(), ToString::to_string)
}
