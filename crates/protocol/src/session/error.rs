//! Why a request failed, why a session ended, and whether the server can have seen the request.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::envelope::RpcError;
use crate::era::Era;
use crate::http_client::HttpError;

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The server answered with an error.
    #[error("the server answered: {0}")]
    Refused(#[source] RpcError),
    /// The server said nothing for too long.
    #[error("no answer within {limit:?}")]
    TimedOut {
        /// The limit that passed.
        limit: Duration,
        /// Whether the request was still waiting to be written.
        never_sent: bool,
    },
    /// The session ended first.
    #[error("{ended}")]
    Lost {
        /// How it ended.
        ended: Arc<SessionEnd>,
        /// Whether the server provably did not get the request.
        never_sent: bool,
    },
    /// The server wants to know who asks.
    #[error("the server answered {status}")]
    Unauthorized {
        /// 401 or 403.
        status: StatusCode,
        /// The `WWW-Authenticate` header, if there was one.
        challenge: Option<String>,
    },
    /// HTTP answered with a status that is no answer to a request.
    #[error("the server answered {status}{}", excerpt_suffix(excerpt))]
    Status {
        /// The status.
        status: StatusCode,
        /// The start of the body, if it was text: foreign.
        excerpt: String,
    },
    /// An error that does not settle whether the request was executed: it has not the id of the
    /// request, or HTTP says that something on the way failed (5xx, 408, 429).
    #[error("{}", inconclusive(*status, error))]
    Inconclusive {
        /// The error, as far as it is one of JSON-RPC.
        error: RpcError,
        /// The status of HTTP, if it came over HTTP with one that says no.
        status: Option<StatusCode>,
    },
    /// The HTTP exchange failed.
    #[error(transparent)]
    Http(Arc<HttpError>),
    /// The server wants to be asked at an address that is not its own.
    #[error("the server names an address for messages that is not its own")]
    EndpointOnOtherOrigin,
    /// The stream ended before the answer came.
    #[error("the connection closed before the answer came")]
    StreamEnded,
    /// The answer is over the limit for one message.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The answer came, but is none.
    #[error("the answer makes no sense: {0}")]
    InvalidResponse(String),
    /// The server asked back, and there was no answer to give.
    #[error("the server asked something that was not answered: {0}")]
    InputUnavailable(#[source] RpcError),
    /// The server kept asking back.
    #[error("no answer after {0} rounds of questions")]
    TooManyRounds(usize),
    /// The request itself is not possible, for example with this revision.
    #[error("cannot be sent: {0}")]
    Unsendable(String),
    /// A later request of something that takes several failed, after the server had begun.
    ///
    /// Whatever is known about that request, the whole must not be sent again as if it had not run.
    #[error(transparent)]
    AfterStart(Box<Self>),
}

impl RequestError {
    /// Marks the error of a later request of something that the server has begun.
    pub(crate) fn after_start(self) -> Self {
        match self {
            Self::AfterStart(_) => self,
            error => Self::AfterStart(Box::new(error)),
        }
    }

    /// Returns the failure itself, however far the server had got.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::AfterStart(error) => error.innermost(),
            error => error,
        }
    }

    /// Tells whether the request provably never reached the server; `false` if any part of it did.
    pub fn never_sent(&self) -> bool {
        match self {
            Self::TimedOut { never_sent, .. } | Self::Lost { never_sent, .. } => *never_sent,
            Self::Http(error) => error.never_sent(),
            Self::Unsendable(_) => true,
            _ => false,
        }
    }

    /// Tells whether a server of this era turned the request away unexecuted.
    ///
    /// The two codes mean that only in the modern era; a legacy server may use them for anything.
    pub fn was_not_executed(&self, era: Era) -> bool {
        use crate::envelope::code;
        match self {
            Self::Unauthorized { status, .. } => *status == StatusCode::UNAUTHORIZED,
            Self::Refused(error) if era == Era::Modern => {
                matches!(error.code, code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION)
            }
            _ => self.never_sent(),
        }
    }

    /// Returns the error the server answered this very request with, if it answered at once.
    pub fn refusal(&self) -> Option<&RpcError> {
        match self {
            Self::Refused(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the error that came in place of an answer, whether or not it has the request's id.
    pub(crate) fn rpc_error(&self) -> Option<&RpcError> {
        match self {
            Self::Refused(error) | Self::Inconclusive { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns the status of HTTP that came in place of an answer.
    pub fn status(&self) -> Option<StatusCode> {
        match self.innermost() {
            Self::Unauthorized { status, .. } | Self::Status { status, .. } => Some(*status),
            Self::Inconclusive { status, .. } => *status,
            _ => None,
        }
    }
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
    /// The last of what the server wrote to its error output: foreign text.
    pub stderr: String,
}

/// Why a session ended.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EndReason {
    /// We closed it.
    #[error("the session was closed")]
    Closed,
    /// The process is gone.
    #[error("the server's process ended ({})", exit_text(status.as_ref()))]
    Exited {
        /// How, if it is known.
        status: Option<ExitStatus>,
    },
    /// The process lives, but its output is closed.
    #[error("the server closed its output")]
    OutputClosed,
    /// The process lives, but takes no input any more.
    #[error("the server closed its input")]
    InputClosed,
    /// The server writes, but nothing of it is MCP.
    #[error("the server writes no MCP messages to its output")]
    NotMcp,
    /// A message without an end.
    #[error("the server sent a message without end")]
    EndlessMessage,
    /// A task of the connection panicked: a bug on our side, not of the server.
    #[error("its connection failed inside Wharf")]
    Panicked,
    /// The event stream of HTTP+SSE closed.
    #[error("the server's event stream closed")]
    StreamClosed,
    /// The HTTP exchange failed.
    #[error(transparent)]
    Http(Arc<HttpError>),
}

fn exit_text(status: Option<&ExitStatus>) -> String {
    status.map_or_else(|| "no status".to_owned(), ToString::to_string)
}
