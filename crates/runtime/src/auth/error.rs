//! Why a sign-in failed. Code decides by the variant; the front end words what to type.
//!
//! No message has a secret: no token, code, verifier, assertion or client secret. Texts from
//! servers are bounded and have no control characters.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::time::Duration;

use wharf_protocol::transport::HttpError;

use crate::credentials::CredentialStoreError;

/// Why a sign-in failed.
///
/// Whatever the reason, the stored credential is the same as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The runtime has no such server.
    #[error("there is no such server")]
    UnknownServer,
    /// The server is disabled.
    #[error("the server is disabled")]
    Disabled,
    /// The server is not trusted, so nothing is sent to it.
    #[error("the server is not trusted")]
    Untrusted,
    /// Only servers over HTTP sign people in.
    #[error("the server is not reached over HTTP")]
    NotHttp,
    /// The entry switches OAuth off, or sets `Authorization` itself.
    #[error("the entry of the server does not use OAuth")]
    NotUsed,
    /// Nobody says where to sign in.
    #[error("its OAuth endpoints could not be discovered")]
    NotDiscovered {
        /// What was tried, in order.
        tried: Vec<TriedAddress>,
    },
    /// The metadata of the server or the issuer must not be used.
    #[error("the metadata at {address} must not be used: {flaw}")]
    InvalidMetadata {
        /// The address of the metadata, without its query.
        address: String,
        /// Why.
        flaw: MetadataFlaw,
    },
    /// The issuer registers no clients, and no client is configured.
    #[error("{issuer} does not register clients, so a client id is needed")]
    ClientIdNeeded {
        /// The issuer.
        issuer: String,
    },
    /// The configuration, or an earlier sign-in of the configured client, names another issuer.
    #[error("the configured client is for another issuer than {issuer}")]
    OtherIssuer {
        /// The issuer that the server names.
        issuer: String,
    },
    /// Nothing but the server names its issuer, and a secret of the client would go there without a
    /// person who sees it.
    #[error("nothing but the server names the issuer {issuer}")]
    UnconfirmedIssuer {
        /// The issuer that the server names.
        issuer: String,
    },
    /// The server is reached over `http`, so a token could be read on the way.
    #[error("the server is reached over http, so its token could be read on the way")]
    Cleartext,
    /// The configuration lacks something that the grant needs.
    #[error("the grant {grant} needs {needed}")]
    Incomplete {
        /// The grant.
        grant: &'static str,
        /// What is missing.
        needed: &'static str,
    },
    /// The credential that the entry refers to is bound to another server.
    #[error("the entry refers to a credential of another server")]
    OtherCredential,
    /// Nothing is stored for the server.
    #[error("nobody is signed in")]
    NotSignedIn,
    /// Another process renews the credential and does not finish.
    #[error("another process holds the lock of the credential")]
    Locked,
    /// The token cannot be renewed without the person.
    #[error("the token cannot be renewed")]
    NotRenewable,
    /// The issuer offers no way to sign in that was asked for.
    #[error("{issuer} does not offer {what}")]
    Unsupported {
        /// The issuer.
        issuer: String,
        /// What it lacks.
        what: &'static str,
    },
    /// The issuer refused: at registration, on its page, or at the token endpoint.
    #[error("{0}")]
    Refused(OAuthRefusal),
    /// The answer of the page is not one to this sign-in.
    #[error("the answer of the page was rejected: {0}")]
    RejectedAnswer(AnswerFlaw),
    /// A response of the issuer cannot be used.
    #[error("the response of {address} is invalid: {reason}")]
    InvalidResponse {
        /// The address, without its query.
        address: String,
        /// What is wrong.
        reason: String,
    },
    /// A request failed.
    #[error("a request to sign in failed")]
    Http(#[from] HttpError),
    /// The issuer answered with an error status.
    #[error("{address} answered with status {status}")]
    Status {
        /// The address, without its query.
        address: String,
        /// The status.
        status: u16,
    },
    /// The callback cannot be received.
    #[error("port {port} for the callback cannot be used")]
    Callback {
        /// The port.
        port: u16,
        /// The error of the system.
        source: io::Error,
    },
    /// The redirect address in the entry cannot be used.
    #[error("the redirect address is not an http or https address")]
    InvalidRedirect,
    /// The person took too long.
    #[error("nobody signed in within {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// Nobody can complete the sign-in: the callback cannot be received, and nobody can paste.
    #[error("there is no way to receive the answer of the page")]
    NobodyAnswers,
    /// The credential could not be stored or read.
    #[error("the credential store failed")]
    Store(#[from] CredentialStoreError),
    /// The scopes were refused after they had been granted; another attempt would not help.
    #[error("the server asks for permissions that were granted already")]
    StepUpFailed,
    /// The system has no random numbers.
    #[error("the system has no random numbers")]
    NoRandomness,
}

/// An address that was tried, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TriedAddress {
    /// The address, without its query.
    pub address: String,
    /// What was found, such as "status 404".
    pub found: String,
}

impl fmt::Display for TriedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.address, self.found)
    }
}

/// Why metadata must not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataFlaw {
    /// The issuer in it is not the one that it was requested for.
    #[error("it is about the issuer {found}, not {expected}")]
    Issuer {
        /// The issuer that the server names.
        expected: String,
        /// The issuer in the metadata.
        found: String,
    },
    /// The resource in it is not the server.
    #[error("it is about the resource {found}")]
    Resource {
        /// The resource in the metadata.
        found: String,
    },
    /// An address in it is not safe.
    #[error("`{field}` is not a safe address")]
    Address {
        /// The field.
        field: &'static str,
    },
    /// A server on the internet names an address of this machine or of a private network.
    #[error("it names the private address {address}")]
    Private {
        /// The address, without its query.
        address: String,
    },
    /// A required field is missing.
    #[error("`{field}` is missing")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// It does not offer PKCE with S256, so a stolen code could be used.
    #[error("it does not offer PKCE with S256")]
    NoPkce,
    /// It is not a JSON object, or a field has the wrong type.
    #[error("it is not valid")]
    Malformed,
    /// It names no issuer.
    #[error("it names no issuer")]
    NoIssuer,
}

/// Why the answer of the page is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerFlaw {
    /// It has another state, so it belongs to another sign-in.
    #[error("it belongs to another sign-in")]
    State,
    /// It comes from another issuer (RFC 9207).
    #[error("it comes from another issuer")]
    Issuer,
    /// The issuer announced to name itself, and did not.
    #[error("it does not name its issuer")]
    NoIssuer,
    /// It has neither a code nor an error.
    #[error("it has no code")]
    NoCode,
}

/// An OAuth error that an issuer returned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthRefusal {
    /// The code, such as `access_denied`.
    pub code: String,
    /// The description of the issuer: untrusted text.
    pub description: Option<String>,
}

impl fmt::Display for OAuthRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.description {
            Some(description) => write!(f, "{description} ({})", self.code),
            None => f.write_str(&self.code),
        }
    }
}

impl SignInError {
    /// Returns the message with those of all causes, in one line.
    pub(super) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut source = self.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    }

    /// Tells whether the same sign-in may work later: nothing says that it was refused.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(_) | Self::TimedOut { .. } | Self::Locked => true,
            Self::Status { status, .. } => *status >= 500 || *status == 429,
            Self::Refused(refusal) => {
                matches!(&*refusal.code, "temporarily_unavailable" | "server_error" | "slow_down")
            }
            Self::Store(error) => !error.is_read_only(),
            _ => false,
        }
    }
}
