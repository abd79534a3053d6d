//! What can go wrong between a request and the end of its answer.
//!
//! No text here contains anything of a header, of the user information or of the query of an
//! address: places are shown as an [`UrlOrigin`] or as a [`HttpTarget`], which know what to leave
//! out.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use rustls::CertificateError;

use super::redirect::RedirectRefusal;
use super::target::{HttpTarget, UrlOrigin};

/// A source whose type is of no interest to a caller.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Why there is no answer, or no whole one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The name of the host, or of the proxy, is not known.
    #[error("could not find the host of {origin}")]
    Lookup {
        /// Whose name it is.
        origin: UrlOrigin,
        /// What the system's resolver said.
        source: io::Error,
    },
    /// Nobody answers at the address.
    #[error("could not connect to {origin}")]
    Connect {
        /// Where to.
        origin: UrlOrigin,
        /// What the system said.
        source: io::Error,
    },
    /// There is somebody, but no trust or no common language.
    #[error("could not set up TLS with {origin}")]
    Tls {
        /// With whom.
        origin: UrlOrigin,
        /// What is wrong with the certificate or the handshake.
        source: BoxError,
    },
    /// The proxy cannot be used or refuses to be.
    #[error("could not reach {origin} through the proxy{}", proxy_suffix(proxy.as_ref()))]
    Proxy {
        /// Who should have been reached.
        origin: UrlOrigin,
        /// Through whom; `None` if the setting is not an address.
        proxy: Option<UrlOrigin>,
        /// What went wrong.
        source: BoxError,
    },
    /// Something took too long.
    #[error("{origin} did not {phase} within {limit:?}")]
    TimedOut {
        /// Who was waited for.
        origin: UrlOrigin,
        /// What was waited for.
        phase: HttpPhase,
        /// For how long.
        limit: Duration,
    },
    /// The server points elsewhere, and it would not be right to follow.
    #[error("{from} redirects to {}, which was not followed: {reason}", target_or_placeholder(to.as_ref()))]
    Redirected {
        /// Who redirected.
        from: HttpTarget,
        /// Where to; `None` if that is not an address.
        to: Option<HttpTarget>,
        /// Why that was not followed.
        reason: RedirectRefusal,
        /// What happened there, if the attempt was made.
        source: Option<Box<Self>>,
    },
    /// A server elsewhere named an address of this machine.
    #[error("{origin} is on this machine, and a server elsewhere redirected there")]
    LocalAddress {
        /// What it named.
        origin: UrlOrigin,
    },
    /// The connection ended before there was an answer, or the answer is not HTTP.
    #[error("{origin} gave no answer")]
    NoResponse {
        /// Who was asked.
        origin: UrlOrigin,
        /// Nothing of the request had been written.
        never_sent: bool,
        /// What happened to the connection.
        source: hyper::Error,
    },
    /// The answer began and broke off.
    #[error("the answer of {origin} broke off")]
    IncompleteBody {
        /// Whose answer it is.
        origin: UrlOrigin,
        /// What happened to the connection.
        source: hyper::Error,
    },
    /// The answer is larger than the caller wants it.
    #[error("the answer of {origin} has more than {limit} bytes")]
    TooLarge {
        /// Whose answer it is.
        origin: UrlOrigin,
        /// How many bytes the caller allowed.
        limit: usize,
    },
    /// The answer is compressed, which was not asked for.
    #[error("{origin} compressed its answer without being asked to")]
    Compressed {
        /// Whose answer it is.
        origin: UrlOrigin,
    },
    /// The client was closed before.
    #[error("the HTTP client is closed")]
    Closed,
}

impl HttpError {
    /// Says whether nothing of the request can have reached a server, so that sending it again
    /// cannot make anything happen twice. `false` means that nobody knows.
    pub fn never_sent(&self) -> bool {
        match self {
            Self::Lookup { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Proxy { .. }
            | Self::LocalAddress { .. }
            | Self::Closed => true,
            Self::TimedOut { phase, .. } => *phase == HttpPhase::Connect,
            Self::NoResponse { never_sent, .. } => *never_sent,
            Self::Redirected { .. }
            | Self::IncompleteBody { .. }
            | Self::TooLarge { .. }
            | Self::Compressed { .. } => false,
        }
    }

    /// Says what a person could do about it.
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
                "what answers there does not speak HTTP; check the port, and whether the address \
                 should begin with https://"
                    .to_owned()
            }
            Self::Tls { source, .. } => tls_hint(&**source).to_owned(),
            Self::Proxy { .. } => "check `http_proxy`, `https_proxy` and `all_proxy`, or name the \
                                   host in `no_proxy`"
                .to_owned(),
            Self::Redirected { source: Some(source), .. } => source.hint()?,
            Self::Redirected { to, reason, .. } => reason.hint(to.as_ref())?,
            Self::Compressed { .. } => "turn compression off for this endpoint".to_owned(),
            _ => return None,
        };
        Some(hint)
    }
}

/// What is waited for, as the end of "the server did not …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpPhase {
    /// A connection, including name lookup, proxy and TLS.
    Connect,
    /// The head of the answer.
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

/// Looks for an error of one type in a chain of causes.
pub(super) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An `io::Error` shows the source of what it wraps, not what it wraps.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        current = match wrapped {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn tls_hint(source: &(dyn Error + 'static)) -> &'static str {
    let problem = match find(source) {
        Some(rustls::Error::InvalidCertificate(problem)) => problem,
        Some(rustls::Error::InvalidMessage(_)) => {
            return "the server does not speak TLS there; check the port, and whether the address \
                    should begin with http://";
        }
        _ => return "check the host and the port in the address",
    };
    match problem {
        CertificateError::UnknownIssuer => {
            "if the certificate comes from your own authority, put that authority's certificate \
             into a file and name it in `SSL_CERT_FILE`"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired, or the clock of this machine is wrong"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate belongs to another name; check the host in the address"
        }
        _ => "the server's certificate cannot be used; tell whoever runs the server",
    }
}

fn proxy_suffix(proxy: Option<&UrlOrigin>) -> String {
    proxy.map(|proxy| format!(" {proxy}")).unwrap_or_default()
}

fn target_or_placeholder(target: Option<&HttpTarget>) -> String {
    target.map_or_else(|| "something that is no address".to_owned(), ToString::to_string)
}
