//! Why there is no connection.

use std::time::Duration;

use crate::session::RequestError;
use crate::transport::process::StartError;

/// Why a server could not be connected to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Connecting took too long.
    #[error("the server did not answer within {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The last of its error output: foreign text.
        stderr: String,
    },
    /// The server answered no question in any way we know.
    #[error("{error}")]
    Failed {
        /// The last failure.
        #[source]
        error: Box<RequestError>,
        /// The last of its error output: foreign text.
        stderr: String,
    },
}

impl ConnectError {
    pub(super) fn failed(error: RequestError, stderr: String) -> Self {
        let stderr = match &error {
            RequestError::Lost { ended, .. } if stderr.is_empty() => ended.stderr.clone(),
            _ => stderr,
        };
        Self::Failed { error: Box::new(error), stderr }
    }

    /// Tells whether the server wants to know who asks.
    pub fn needs_auth(&self) -> bool {
        matches!(self, Self::Failed { error, .. } if matches!(**error, RequestError::Unauthorized { .. }))
    }

    /// Returns the failed request, if that is why.
    pub fn request(&self) -> Option<&RequestError> {
        match self {
            Self::Failed { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns the last of the server's error output: foreign text.
    pub fn stderr(&self) -> &str {
        match self {
            Self::Start(_) => "",
            Self::TimedOut { stderr, .. } | Self::Failed { stderr, .. } => stderr,
        }
    }
}
