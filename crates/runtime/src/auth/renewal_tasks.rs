//! The renewals under way, and how a program ends while there are any.
//!
//! A refresh token may be used once: from the moment it is sent until the answer is stored, the
//! program must not end. A renewal that has not sent it yet is dropped.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::requests::REQUEST_LIMIT;

/// How long the end of a program waits: one request, and its answer in the store.
pub(super) const SHUTDOWN_LIMIT: Duration = REQUEST_LIMIT.saturating_add(Duration::from_secs(5));

/// How many refresh tokens were sent whose answer is not stored.
static UNFINISHED: AtomicUsize = AtomicUsize::new(0);

/// Returns how many renewals are at the point where the end of the program would lose a token.
/// Such a renewal takes 25 seconds at most, unless the credential store is slow.
pub fn unfinished_renewals() -> usize {
    UNFINISHED.load(Ordering::Relaxed)
}

/// Counts a renewal whose refresh token is being sent.
pub(super) struct UnfinishedRenewal(());

impl UnfinishedRenewal {
    pub(super) fn begin() -> Self {
        UNFINISHED.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for UnfinishedRenewal {
    fn drop(&mut self) {
        UNFINISHED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The tasks that renew tokens.
#[derive(Debug, Clone, Default)]
pub(crate) struct RenewalTasks {
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl RenewalTasks {
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tasks.spawn(task)
    }

    /// Does something that the end of the program drops; then returns `None`.
    pub(super) async fn until_closing<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.closing.run_until_cancelled(work).await
    }

    /// Waits for renewals that have sent their refresh token, and drops the others.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        drop(tokio::time::timeout(SHUTDOWN_LIMIT, self.tasks.wait()).await);
    }
}
