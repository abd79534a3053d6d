//! Lists and revokes stored approvals.
//!
//! An approval lapses by itself when the server's definition or the tool changes; here a person
//! revokes it.

use std::path::Path;
use std::sync::Arc;

use super::approval_store::{ApprovalStore, ApprovalStoreError};
use super::approver::ApprovalLifetime;
use super::decision::Approvals;

/// The stored approvals of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RememberedApproval {
    /// The server.
    pub server: String,
    /// Whether every tool of the server is covered, also those that have not been called yet.
    pub everything: bool,
    /// The raw names of the tools that are covered while they do not change: untrusted text.
    pub tools: Vec<String>,
    /// How long they count.
    pub lifetime: ApprovalLifetime,
}

/// Why stored approvals could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ApprovalsError(#[from] ApprovalStoreError);

impl ApprovalsError {
    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match &self.0 {
            ApprovalStoreError::Store(error) => error.hint(),
            ApprovalStoreError::Malformed { .. } => {
                "correct the file or delete it; until then it is ignored".to_owned()
            }
            ApprovalStoreError::NoIdentity => "give the custom transport an identity".to_owned(),
            ApprovalStoreError::NoHome
            | ApprovalStoreError::NotPinned
            | ApprovalStoreError::OfView => {
                "give the runtime a folder to store approvals in".to_owned()
            }
        }
    }
}

impl Approvals {
    /// Returns all approvals: permanent ones, then those of the session, then those of views.
    pub(crate) async fn all(&self) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        let mut all = self.with_store(ApprovalStore::all).await?;
        all.extend(self.views().all());
        Ok(all)
    }

    /// Revokes the approvals of a server, or of one tool of it, also those of views.
    pub(crate) async fn revoke(
        &self,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        // Those of views are revoked even if the file cannot be changed.
        let of_views = self.views().revoke(server, tool);
        let (server, tool) = (server.to_owned(), tool.map(str::to_owned));
        let mut taken =
            self.with_store(move |store| store.revoke(&server, tool.as_deref())).await?;
        taken.extend(of_views);
        Ok(taken)
    }

    /// Runs `work` on a blocking thread, because it may wait for another process.
    async fn with_store(
        &self,
        work: impl FnOnce(&ApprovalStore) -> Result<Vec<RememberedApproval>, ApprovalStoreError>
        + Send
        + 'static,
    ) -> Result<Vec<RememberedApproval>, ApprovalsError> {
        let store = Arc::clone(self.store());
        let working = tokio::task::spawn_blocking(move || work(&store));
        // The task is never aborted; it only fails while the program ends.
        Ok(working.await.unwrap_or_else(|_| Ok(Vec::new()))?)
    }
}

/// Revokes the permanent approvals of a server, or of one tool of it, and returns them. `home` is
/// `WHARF_HOME`. Runtimes of other processes notice it with their next call.
///
/// Blocks the thread while another process holds the lock.
pub fn revoke_approvals(
    home: &Path,
    server: &str,
    tool: Option<&str>,
) -> Result<Vec<RememberedApproval>, ApprovalsError> {
    Ok(ApprovalStore::new(Some(home)).revoke(server, tool)?)
}
