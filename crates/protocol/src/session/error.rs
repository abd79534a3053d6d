//! Why a request failed, why a session ended, and whether the server can have received the request.
//!
//! The last point decides whether a call may be sent again, so that it is executed exactly once.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::envelope::RpcError;
use crate::era::Era;
#[cfg(feature = "http")]
use crate::http_client::HttpError;

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The server responded with a JSON-RPC error.
    #[error("the server answered: {0}")]
    ErrorResponse(RpcError),
    /// The request timed out.
    #[error("no answer within {limit:?}")]
    TimedOut {
        /// The limit that was reached.
        limit: Duration,
        /// Whether the request was still queued.
        never_sent: bool,
    },
    /// The session ended before the response.
    #[error("{ended}")]
    Lost {
        /// How it ended.
        ended: Arc<SessionEnd>,
        /// Whether the server has certainly not received the request.
        never_sent: bool,
    },
    /// The server requires authorization.
    #[error("the server answered {status}")]
    Unauthorized {
        /// 401 or 403.
        status: StatusCode,
        /// The `WWW-Authenticate` header, if there was one.
        challenge: Option<String>,
    },
    /// The server requires authorization, and the credentials could not be renewed now: nothing
    /// says that they are bad.
    #[error("the server answered {status}, and the credentials could not be renewed: {reason}")]
    NotRenewed {
        /// 401 or 403.
        status: StatusCode,
        /// Why.
        reason: String,
    },
    /// An HTTP response with an error status and no JSON-RPC response.
    #[error("the server answered {status}{}", excerpt_suffix(excerpt))]
    Status {
        /// The status.
        status: StatusCode,
        /// The start of the body, if it is text: untrusted.
        excerpt: String,
    },
    /// An error that leaves open whether the request was executed: it does not have the id of the
    /// request, or the HTTP status may come from a proxy (5xx, 408, 429).
    #[error("{}", inconclusive(*status, error))]
    Inconclusive {
        /// The JSON-RPC error.
        error: RpcError,
        /// The HTTP status, if it is an error status.
        status: Option<StatusCode>,
    },
    /// The HTTP exchange failed.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(Arc<HttpError>),
    /// The `endpoint` event of HTTP+SSE names another origin.
    #[error("the SSE `endpoint` event points to another origin")]
    EndpointOnOtherOrigin,
    /// The stream ended before the response.
    #[error("the connection closed before the response arrived")]
    StreamEnded,
    /// The response is over the limit for one message.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The response is not a valid response.
    #[error("the response is invalid: {0}")]
    InvalidResponse(String),
    /// The server requested input (multi round-trip), and the handler returned an error.
    #[error("the server requires input, and the client answered with an error: {0}")]
    InputUnavailable(RpcError),
    /// The server requested input too often.
    #[error("no result after {0} rounds of input requests")]
    TooManyRounds(usize),
    /// The request cannot be sent, for example because the revision does not have it.
    #[error("the request cannot be sent: {0}")]
    Unsendable(String),
    /// A later request of an operation with several requests failed, after the server had started.
    ///
    /// The operation must not be repeated, even if this later request was never sent.
    #[error(transparent)]
    AfterStart(Box<Self>),
}

#[cfg(feature = "http")]
impl From<HttpError> for RequestError {
    fn from(error: HttpError) -> Self {
        Self::Http(Arc::new(error))
    }
}

impl RequestError {
    /// Marks an error that happened after the server had started the operation.
    pub(crate) fn after_start(self) -> Self {
        match self {
            Self::AfterStart(_) => self,
            error => Self::AfterStart(Box::new(error)),
        }
    }

    /// Returns the error without the `AfterStart` wrapper.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::AfterStart(error) => error.innermost(),
            error => error,
        }
    }

    /// Tells whether the request certainly never reached the server; `false` if any part of it may
    /// have.
    pub fn never_sent(&self) -> bool {
        match self {
            Self::TimedOut { never_sent, .. } | Self::Lost { never_sent, .. } => *never_sent,
            #[cfg(feature = "http")]
            Self::Http(error) => error.never_sent(),
            Self::Unsendable(_) => true,
            _ => false,
        }
    }

    /// Tells whether a server of this era has certainly not executed the request.
    ///
    /// The two error codes mean that only in the modern era; a legacy server may use them for
    /// anything.
    pub fn was_not_executed(&self, era: Era) -> bool {
        use crate::envelope::code;
        match self {
            Self::Unauthorized { status, .. } | Self::NotRenewed { status, .. } => {
                *status == StatusCode::UNAUTHORIZED
            }
            Self::ErrorResponse(error) if era == Era::Modern => {
                matches!(error.code, code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION)
            }
            _ => self.never_sent(),
        }
    }

    /// Tells whether the server closed an HTTP connection before the end of its response.
    pub(crate) fn is_connection_closed(&self) -> bool {
        match self {
            #[cfg(feature = "http")]
            Self::Http(error) => {
                matches!(**error, HttpError::NoResponse { .. } | HttpError::IncompleteBody { .. })
            }
            _ => false,
        }
    }

    /// Returns the JSON-RPC error that the server returned for this request, if it is conclusive.
    pub fn error_response(&self) -> Option<&RpcError> {
        match self {
            Self::ErrorResponse(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the JSON-RPC error, whether or not it has the id of the request.
    pub(crate) fn rpc_error(&self) -> Option<&RpcError> {
        match self {
            Self::ErrorResponse(error) | Self::Inconclusive { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns the HTTP error status, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        match self.innermost() {
            Self::Unauthorized { status, .. }
            | Self::NotRenewed { status, .. }
            | Self::Status { status, .. } => Some(*status),
            Self::Inconclusive { status, .. } => *status,
            _ => None,
        }
    }
}

/// Tells whether a status is the server's own response to the request. Other statuses may come from
/// a proxy, after the server has started to execute the request.
pub(crate) fn is_about_request(status: StatusCode) -> bool {
    !status.is_server_error()
        && !matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

fn inconclusive(status: Option<StatusCode>, error: &RpcError) -> String {
    match status {
        Some(status) => format!("the server answered {status}: {error}"),
        None => format!("the server answered without the id of the request: {error}"),
    }
}

fn excerpt_suffix(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") }
}

/// How a session ended.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{reason}")]
pub struct SessionEnd {
    /// Why.
    pub reason: EndReason,
    /// The last part of the server's stderr: untrusted text.
    pub stderr: String,
}

/// Why a session ended.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EndReason {
    /// The client closed it.
    #[error("the session was closed")]
    Closed,
    /// The process has exited.
    #[error("the server's process ended ({})", exit_text(status.as_ref()))]
    Exited {
        /// The exit status, if it is known.
        status: Option<ExitStatus>,
    },
    /// The process is running, but its stdout is closed; or the output of a pipe ended.
    #[error("the server closed its output")]
    OutputClosed,
    /// The process is running, but its stdin is closed; or writing to a pipe failed.
    #[error("the server closed its input")]
    InputClosed,
    /// The server writes to its stdout or pipe, but no MCP messages.
    #[error("the server's output contains text that is not MCP")]
    NotMcp,
    /// The server sent a message that does not end.
    #[error("the server sent a line that is over the size limit and has no end")]
    EndlessMessage,
    /// A task of the connection panicked: a bug in Wharf, not in the server.
    #[error("internal error: the connection task panicked")]
    Panicked,
    /// The task that the program runs with its pipe panicked.
    #[error("the task that came with the server's pipe panicked")]
    PipeTaskPanicked,
    /// The event stream of HTTP+SSE ended.
    #[error("the server's event stream closed")]
    StreamClosed,
}

fn exit_text(status: Option<&ExitStatus>) -> String {
    status.map_or_else(|| "no status".to_owned(), ToString::to_string)
}
