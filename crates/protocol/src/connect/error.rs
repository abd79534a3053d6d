//! Why a connection could not be made.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::session::RequestError;
use crate::transport::process::StartError;

/// Why a server could not be connected to.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program did not start.
    Start(StartError),
    /// The program could not open a pipe to the server.
    Open(io::Error),
    /// Connecting took too long.
    TimedOut {
        /// The limit.
        limit: Duration,
        /// The last part of its stderr: untrusted text.
        stderr: String,
    },
    /// The server did not respond to any probe as expected.
    Failed {
        /// The last failure.
        error: Box<RequestError>,
        /// The last part of its stderr: untrusted text.
        stderr: String,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::Open(_) => f.write_str("could not open a pipe to the server"),
            Self::TimedOut { limit, .. } => {
                write!(f, "the server did not answer within {limit:?}")
            }
            Self::Failed { error, .. } => error.fmt(f),
        }
    }
}

/// The message of `Start` and `Failed` is that of the inner error, so their source is its cause:
/// whoever prints the chain prints each message once.
impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Start(error) => error.source(),
            Self::Open(error) => Some(error),
            Self::TimedOut { .. } => None,
            Self::Failed { error, .. } => error.source(),
        }
    }
}

impl From<StartError> for ConnectError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::RpcError;

    #[test]
    fn each_message_of_the_chain_is_there_once() {
        let refused = StartError::Failed {
            program: "fs".to_owned(),
            source: io::Error::other("too many processes"),
        };
        let status = RequestError::ErrorResponse(RpcError::new(-32603, "broken"));
        let open = ConnectError::Open(io::Error::other("no pipe"));
        let errors =
            [ConnectError::from(refused), ConnectError::failed(status, String::new()), open];
        let chains = errors.iter().map(|error| {
            let mut chain = vec![error.to_string()];
            let mut cause = error.source();
            while let Some(error) = cause {
                chain.push(error.to_string());
                cause = error.source();
            }
            chain.join(" < ")
        });
        insta::assert_snapshot!(chains.collect::<Vec<_>>().join("\n"), @"
        could not start program `fs` < too many processes
        the server answered: broken (code -32603)
        could not open a pipe to the server < no pipe
        ");
    }
}
