//! Violations of the protocol by a server that do not break the connection.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::envelope::Flaw;

/// A violation of the protocol; each is kept once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
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
    #[error("answers requests that were never made")]
    UnknownId,
    /// A request of the server in an era without such requests.
    #[error("sends requests although its protocol revision has none")]
    UnexpectedRequest,
    /// A violation of JSON-RPC.
    #[error("{0}")]
    Flawed(Flaw),
    /// Any other deviation from the specification, described in a sentence.
    #[error("{0}")]
    Other(String),
}

/// The warnings of one connection; bounded, because the server is untrusted.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<BTreeSet<Warning>>);

impl Warnings {
    const MAX: usize = 64;

    pub(crate) fn add(&self, warning: Warning) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::MAX && !kept.contains(&warning) {
            match &warning {
                // Its text may contain a name from the server, and logs contain no untrusted text.
                Warning::Other(_) => tracing::debug!("the server deviates from the specification"),
                warning => tracing::debug!(%warning, "the server violates the protocol"),
            }
            kept.insert(warning);
        }
    }

    pub(crate) fn has(&self, warning: &Warning) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(warning)
    }

    pub(crate) fn all(&self) -> Vec<Warning> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
