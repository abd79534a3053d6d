//! Rules that a server broke in a way we survive; `doctor` shows them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::envelope::Flaw;

/// A broken rule, each kept once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Something other than a message came where only messages may be.
    #[error("writes text that is no message to its output")]
    JunkOutput,
    /// A message over the limit was passed over.
    #[error("sent a message that is too large")]
    Oversized,
    /// An answer without an id, or with one that had to be guessed.
    #[error("answers without the id of the request")]
    MissingId,
    /// An answer to a question that was never asked.
    #[error("answers requests that were never made")]
    UnknownId,
    /// A request where the era has none.
    #[error("sends requests although its protocol revision has none")]
    UnexpectedRequest,
    /// A message that breaks the rules of JSON-RPC.
    #[error("{0}")]
    Flawed(Flaw),
    /// A shape that differs from the specification, in words.
    #[error("{0}")]
    Other(String),
}

/// The warnings of one connection; bounded, as a stranger writes them.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<BTreeSet<Warning>>);

impl Warnings {
    const MAX: usize = 64;

    pub(crate) fn add(&self, warning: Warning) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::MAX && !kept.contains(&warning) {
            match &warning {
                // What is odd may have a name that the server gave it, and logs have no foreign
                // words.
                Warning::Other(_) => tracing::debug!("the server does something odd"),
                warning => tracing::debug!(%warning, "the server breaks a rule"),
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
