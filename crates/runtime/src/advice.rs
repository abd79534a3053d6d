//! What can be done about an error of the wire: the one place of the runtime that words it.
//!
//! The advice is about files, addresses and programs. What to type is for the front end to say.

use wharf_protocol::envelope::{RpcError, code};
use wharf_protocol::peer::{EndReason, RequestError};

/// The advice for a server that did not start in time.
pub(crate) const RAISE_TIMEOUT: &str = "raise `timeout` in its entry if it needs longer to start";

/// The advice for a server that ended: whoever shows its error output needs no such advice.
pub(crate) const READ_STDERR: &str = "its error output says why";

/// The advice for a program that writes something else than messages.
pub(crate) const START_AN_MCP_SERVER: &str = "check that the command starts an MCP server";

/// Says what to do about a server that cannot be connected to, or was lost.
pub(crate) fn on_connecting(error: &RequestError, stderr: &str) -> Option<String> {
    let advice = match error {
        RequestError::Unauthorized { status, .. } => on_authorization(status.as_u16()),
        RequestError::Status { status, .. } => on_status(status.as_u16())?,
        RequestError::Http(error) => return error.hint(),
        RequestError::Lost { ended, .. } => match &ended.reason {
            EndReason::Http(error) => return error.hint(),
            EndReason::NotMcp => START_AN_MCP_SERVER,
            EndReason::Exited { .. } if !stderr.trim().is_empty() => READ_STDERR,
            EndReason::Exited { .. } => "run its command by hand to see what it says",
            _ => return None,
        },
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Says what to do about a call that has no result.
pub(crate) fn on_calling(error: &RequestError) -> Option<String> {
    let advice = match error.innermost() {
        RequestError::Http(error) => return error.hint(),
        RequestError::Refused(refusal) => on_refusal(refusal)?,
        RequestError::Unauthorized { status, .. } => on_authorization(status.as_u16()),
        RequestError::Status { status, .. } if status.is_redirection() => {
            "a call is not sent again where a redirect leads; reconnect, or put that address into \
             the entry"
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
        403 => "the token or account is known, but may not do this; use another one",
        _ => "sign in, or check the token in its headers",
    }
}

/// Says what an HTTP status suggests to whoever wrote the address down.
fn on_status(status: u16) -> Option<&'static str> {
    match status {
        404 | 405 | 410 => {
            Some("check the path in its address: most servers answer at /mcp, older ones at /sse")
        }
        429 => Some("the server limits how often it may be asked; wait before you try again"),
        500.. => Some("the server itself has trouble; try again later, or tell whoever runs it"),
        _ => None,
    }
}

fn on_refusal(refusal: &RpcError) -> Option<&'static str> {
    match refusal.code {
        code::METHOD_NOT_FOUND => {
            Some("the server does not have this tool any more; list its tools again")
        }
        code::URL_ELICITATION_REQUIRED => {
            Some("a page has to be visited before this call; on a terminal you are shown which one")
        }
        _ => None,
    }
}
