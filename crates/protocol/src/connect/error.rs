//! Why a connection could not be made.

use std::io;
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
    /// The program could not open a pipe to the server.
    #[error("could not open a pipe to the server")]
    Open(#[source] io::Error),
    /// Connecting took too long.
    #[error("the server did not answer within {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The last part of its stderr: untrusted text.
        stderr: String,
    },
    /// The server did not respond to any probe as expected.
    #[error("{error}")]
    Failed {
        /// The last failure.
        #[source]
        error: Box<RequestError>,
        /// The last part of its stderr: untrusted text.
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

    /// Tells whether the server requires authorization.
    pub fn needs_auth(&self) -> bool {
        matches!(self, Self::Failed { error, .. } if matches!(**error, RequestError::Unauthorized { .. }))
    }

    /// Returns the failed request, if that is the reason.
    pub fn request(&self) -> Option<&RequestError> {
        match self {
            Self::Failed { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns the last part of the server's stderr: untrusted text.
    pub fn stderr(&self) -> &str {
        match self {
            Self::Start(_) | Self::Open(_) => "",
            Self::TimedOut { stderr, .. } | Self::Failed { stderr, .. } => stderr,
        }
    }
}
