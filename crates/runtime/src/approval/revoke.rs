//! What was agreed to in advance about calls, for whoever wants to see it or take it back.
//!
//! An answer that counts for more than one call lapses by itself when the server's definition or
//! the tool changes; here a person changes their mind.

use std::path::Path;
use std::sync::Arc;

use super::approval_store::{ApprovalStore, ApprovalStoreError};
use super::decision::{ApprovalLifetime, Approvals};

/// Calls of one server that run without asking, by an earlier answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RememberedApproval {
    /// The server.
    pub server: String,
    /// Whether every tool of it is covered, also those that have not been used yet.
    pub everything: bool,
    /// The tools that are covered as they are now, as the server calls them: foreign text.
    pub tools: Vec<String>,
    /// How long it counts.
    pub lifetime: ApprovalLifetime,
}

/// Why remembered answers could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ApprovalsError(#[from] ApprovalStoreError);

impl ApprovalsError {
    /// Says what to do about it.
    pub fn hint(&self) -> String {
        match &self.0 {
            ApprovalStoreError::Store(error) => error.hint(),
            ApprovalStoreError::Malformed { .. } => {
                "correct the file, or delete it; until then nothing in it counts".to_owned()
            }
            ApprovalStoreError::NoHome | ApprovalStoreError::NotPinned => {
                "set HOME, or WHARF_HOME to a folder of yours".to_owned()
            }
        }
    }
}

impl Approvals {
    /// Returns the answers that count for more than one call, those for good first.
    pub(crate) async fn all(&self) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        self.with_store(ApprovalStore::all).await
    }

    /// Removes what was answered about a server, or about one tool of it.
    pub(crate) async fn revoke(
        &self,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        let (server, tool) = (server.to_owned(), tool.map(str::to_owned));
        self.with_store(move |store| store.revoke(&server, tool.as_deref())).await
    }

    /// Works on the answers on a thread that may wait for another process.
    async fn with_store(
        &self,
        work: impl FnOnce(&ApprovalStore) -> Result<Vec<RememberedApproval>, ApprovalStoreError>
        + Send
        + 'static,
    ) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        let store = Arc::clone(self.store());
        let working = tokio::task::spawn_blocking(move || work(&store));
        // Nobody aborts it: without an answer the program is ending.
        Ok(working.await.unwrap_or_else(|_| Ok(Vec::new()))?)
    }
}

/// Takes back what was answered for good about a server, or about one tool of it, and returns what
/// that was. `home` is `WHARF_HOME`. Runtimes of other processes know it with their next call.
///
/// Blocks the thread while another process changes files.
pub fn revoke_approvals(
    home: &Path,
    server: &str,
    tool: Option<&str>,
) -> Result<Vec<RememberedApproval>, ApprovalsError> {
    Ok(ApprovalStore::new(Some(home)).revoke(server, tool)?)
}
