//! Redirects: decides whether one is followed.
//!
//! MCP endpoints mostly redirect from `/mcp` to `/mcp/`, often with 301 or 302 where 307 is meant.
//! A `GET` instead of the `POST`, as browsers would send it, is useless there, so the method and
//! the body are always kept. Credentials for one origin are never sent to another.

use std::fmt;

use http::header::{AUTHORIZATION, COOKIE, LOCATION, PROXY_AUTHORIZATION};
use http::{HeaderMap, StatusCode};

use super::error::HttpError;
use super::target::HttpTarget;

/// How many redirects are followed in a row.
pub(super) const MAX_REDIRECTS: usize = 5;

/// Why a redirect was not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectRefusal {
    /// The location is not an HTTP address.
    NotAnAddress,
    /// Status 303 asks for a `GET` of another resource.
    SeeOther,
    /// There were too many redirects.
    TooMany,
    /// It leads from a secure to an insecure address.
    Insecure,
    /// It leads from a remote server to this machine.
    LocalAddress,
    /// It leads to another origin, and the request has credentials.
    Credentials,
    /// It was followed, but the server there cannot be reached.
    Unreachable,
}

impl fmt::Display for RedirectRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotAnAddress => "that is not an address of a server",
            Self::SeeOther => "status 303 has no meaning for a message",
            Self::TooMany => "there were too many redirects in a row",
            Self::Insecure => "that address is not encrypted",
            Self::LocalAddress => {
                "a remote server may not redirect to this machine or its local link"
            }
            Self::Credentials => {
                "the request carries credentials that are meant for the first address only"
            }
            Self::Unreachable => "it cannot be reached",
        })
    }
}

impl RedirectRefusal {
    pub(super) fn hint(self, from: &HttpTarget, to: Option<&HttpTarget>) -> Option<String> {
        let to = to.filter(|_| self == Self::Credentials)?;
        Some(if to.origin().is_secure() && to.origin().has_host_of(from.origin()) {
            format!("change the address in the configuration to {to}")
        } else {
            format!(
                "if you trust {to} with the credentials, put that address into the configuration"
            )
        })
    }
}

/// Returns the target of a redirect; `None` if the response is not a redirect.
pub(super) fn next_target(
    from: &HttpTarget,
    status: StatusCode,
    headers: &HeaderMap,
    carries_credentials: bool,
) -> Result<Option<HttpTarget>, HttpError> {
    let refused =
        |to, reason| HttpError::Redirected { from: from.clone(), to, reason, source: None };
    let location = match status.as_u16() {
        301 | 302 | 303 | 307 | 308 => headers.get(LOCATION),
        _ => None,
    };
    let Some(location) = location else {
        return Ok(None);
    };
    let to = location.to_str().ok().and_then(|location| from.join(location).ok());
    let Some(to) = to else {
        return Err(refused(None, RedirectRefusal::NotAnAddress));
    };
    match refusal(from, &to, status, carries_credentials) {
        Some(reason) => Err(refused(Some(to), reason)),
        None => Ok(Some(to)),
    }
}

fn refusal(
    from: &HttpTarget,
    to: &HttpTarget,
    status: StatusCode,
    carries_credentials: bool,
) -> Option<RedirectRefusal> {
    if status == StatusCode::SEE_OTHER {
        return Some(RedirectRefusal::SeeOther);
    }
    let (old, new) = (from.origin(), to.origin());
    if old == new {
        return None;
    }
    if old.is_secure() && !new.is_secure() {
        return Some(RedirectRefusal::Insecure);
    }
    if new.is_this_machine() && !old.is_this_machine() {
        return Some(RedirectRefusal::LocalAddress);
    }
    carries_credentials.then_some(RedirectRefusal::Credentials)
}

/// Tells whether a request has credentials that only its first target may get.
pub(super) fn has_credentials(target: &HttpTarget, headers: &HeaderMap) -> bool {
    target.has_credentials()
        || [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION]
            .iter()
            .any(|name| headers.contains_key(name))
        || headers.contains_key("mcp-session-id")
        || headers.values().any(http::HeaderValue::is_sensitive)
}
