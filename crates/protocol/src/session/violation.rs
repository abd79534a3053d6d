//! Protocol violations of a server that the session notices and that do not break the connection.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::envelope::EnvelopeViolation;

/// A violation of the protocol; each is kept once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum SessionViolation {
    /// Text that is not a message, where only messages are allowed.
    #[error("writes text that is not a message to its output")]
    JunkOutput,
    /// A message over the limit, which was skipped.
    #[error("sent a message that is too large")]
    Oversized,
    /// A response without a usable id.
    #[error("answers without the id of the request")]
    MissingId,
    /// A response to a request that was never sent.
    #[error("answers requests that were never sent")]
    UnknownId,
    /// A request of the server in an era without such requests.
    #[error("sends requests, which its protocol revision does not allow")]
    UnexpectedRequest,
    /// A violation of JSON-RPC.
    #[error("{0}")]
    Envelope(EnvelopeViolation),
    /// Any other deviation from the specification, described in a sentence.
    #[error("{0}")]
    Other(String),
}

/// The violations of one connection; bounded, because the server is untrusted.
#[derive(Debug, Default)]
pub(crate) struct SessionViolations(Mutex<BTreeSet<SessionViolation>>);

impl SessionViolations {
    const MAX: usize = 64;

    pub(crate) fn add(&self, violation: SessionViolation) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::MAX && !kept.contains(&violation) {
            match &violation {
                // Its text may contain a name from the server, and logs contain no untrusted text.
                SessionViolation::Other(_) => {
                    tracing::debug!("the server deviates from the specification");
                }
                violation => tracing::debug!(%violation, "the server violates the protocol"),
            }
            kept.insert(violation);
        }
    }

    pub(crate) fn has(&self, violation: &SessionViolation) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(violation)
    }

    pub(crate) fn all(&self) -> Vec<SessionViolation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
