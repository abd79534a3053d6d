//! Hints for errors of requests and connections: what a person can do about them.
//!
//! All hints of this kind are worded here. They name files, addresses and programs; the front end
//! adds the commands to type.

use wharf_protocol::envelope::{RpcError, code};
use wharf_protocol::peer::{EndReason, RequestError};

/// The hint for a server that did not start in time.
pub(crate) const RAISE_TIMEOUT: &str = "raise `timeout` in its entry if it needs longer to start";

/// The hint for a program whose output is not MCP messages.
pub(crate) const START_AN_MCP_SERVER: &str = "check that the command starts an MCP server";

/// The hint for a server that could not be connected, or was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConnectHint {
    /// The server exited; not needed where its stderr is shown.
    ReadStderr,
    /// Any other hint.
    Text(String),
}

impl ConnectHint {
    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::ReadStderr => "its error output says why",
            Self::Text(text) => text,
        }
    }
}

/// Returns the hint for a server that could not be connected, or was lost.
pub(crate) fn on_connecting(error: &RequestError, stderr: &str) -> Option<ConnectHint> {
    let advice = match error {
        RequestError::Unauthorized { status, .. } => on_authorization(status.as_u16()),
        RequestError::Status { status, .. } => on_status(status.as_u16())?,
        #[cfg(feature = "http")]
        RequestError::Http(error) => return error.hint().map(ConnectHint::Text),
        RequestError::Lost { ended, .. } => match &ended.reason {
            EndReason::NotMcp => START_AN_MCP_SERVER,
            EndReason::Exited { .. } if !stderr.trim().is_empty() => {
                return Some(ConnectHint::ReadStderr);
            }
            EndReason::Exited { .. } => "run its command by hand to see its output",
            _ => return None,
        },
        _ => return None,
    };
    Some(ConnectHint::Text(advice.to_owned()))
}

/// Returns the hint for a call without a result.
pub(crate) fn on_calling(error: &RequestError) -> Option<String> {
    let advice = match error.innermost() {
        #[cfg(feature = "http")]
        RequestError::Http(error) => return error.hint(),
        RequestError::ErrorResponse(error) => on_error_response(error)?,
        RequestError::Unauthorized { status, .. } => on_authorization(status.as_u16()),
        RequestError::Status { status, .. } if status.is_redirection() => {
            "redirects are not followed for a call; reconnect, or put the new address into the entry"
        }
        RequestError::Status { .. } | RequestError::Inconclusive { .. } => {
            on_status(error.status()?.as_u16())?
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

fn on_authorization(status: u16) -> &'static str {
    match status {
        403 => "the server refused this token (403); use a token or account that has permission",
        _ => "give the server a token, or check the token in its headers",
    }
}

/// Returns the hint for an HTTP status.
fn on_status(status: u16) -> Option<&'static str> {
    match status {
        404 | 405 | 410 => {
            Some("check the path in its address: most servers answer at /mcp, older ones at /sse")
        }
        429 => Some("the server limits the rate of requests; wait before you try again"),
        500.. => {
            Some("the server reports an internal failure; try again later, or contact its operator")
        }
        _ => None,
    }
}

fn on_error_response(error: &RpcError) -> Option<&'static str> {
    match error.code {
        code::METHOD_NOT_FOUND => Some("the server does not support this method"),
        code::URL_ELICITATION_REQUIRED => {
            Some("a page must be opened before this call; run it in a terminal to see the page")
        }
        _ => None,
    }
}
