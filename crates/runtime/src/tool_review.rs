//! Reviews the tools of a server against their pins, and accepts exactly the tools that were
//! reviewed.

use std::fmt;
use std::sync::Arc;

use wharf_config::ServerName;

use crate::runtime::{Runtime, Unavailable};
use crate::status::{FailureKind, ServerFailure};
use crate::tools::ToolChange;
use crate::tools::server_tools::ServerTools;
use crate::trust_gate::TrustedServer;

/// The tools of a connected server at one moment, and how they differ from their pins.
pub struct ToolReview {
    /// The server.
    pub server: ServerName,
    /// The new and changed tools, with their differences: untrusted text.
    pub changes: Vec<ToolChange>,
    current_tools: Option<(Arc<TrustedServer>, Arc<ServerTools>)>,
}

impl ToolReview {
    /// Returns how many tools there are.
    pub fn count(&self) -> usize {
        self.current_tools.as_ref().map_or(0, |(_, server_tools)| server_tools.listed().len())
    }
}

impl fmt::Debug for ToolReview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolReview")
            .field("server", &self.server)
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}

impl Runtime {
    /// Waits for a server and returns how its tools differ from their pins.
    ///
    /// In the mode that only observes changes, a reported change counts as accepted, so there is
    /// nothing to review.
    pub async fn review_tools(&self, server: &str) -> Result<ToolReview, Unavailable> {
        let view = self.wait_for(server).await?;
        let shared = Arc::clone(&self.0.shared);
        let reviewing = tokio::task::spawn_blocking(move || {
            let current_tools = view.trusted.clone().zip(view.server_tools.clone());
            let changes = current_tools.as_ref().map(|(trusted, server_tools)| {
                shared.history.review_pins(trusted, server_tools.listed())
            });
            let changes = changes.unwrap_or_default();
            ToolReview { server: view.name.clone(), changes, current_tools }
        });
        reviewing.await.map_err(|_| Unavailable::ShutDown)
    }

    /// Accepts the tools of a review, new and changed ones included, and returns how many there
    /// are. Tools that changed after the review are not accepted.
    pub async fn accept_review(&self, review: ToolReview) -> Result<usize, Unavailable> {
        let Some((trusted, server_tools)) = review.current_tools else { return Ok(0) };
        let (shared, name) = (Arc::clone(&self.0.shared), review.server);
        // It may wait for the lock of another process.
        let accepting = tokio::task::spawn_blocking(move || {
            shared
                .history
                .accept_pins(&trusted, server_tools.listed())
                .map(|()| server_tools.listed().len())
        });
        // The task is never aborted: an error means that the program is ending.
        let many = accepting.await.map_err(|_| Unavailable::ShutDown)?.map_err(|error| {
            let failure = Arc::new(ServerFailure::new(FailureKind::Config, error.to_string()));
            Unavailable::Failed { server: name.clone(), failure }
        })?;
        self.connect(name.as_str()).await?;
        Ok(many)
    }

    /// Accepts the tools of a connected server as they are now, new and changed ones included, and
    /// returns how many there are.
    pub async fn accept_tools(&self, server: &str) -> Result<usize, Unavailable> {
        let review = self.review_tools(server).await?;
        self.accept_review(review).await
    }
}
