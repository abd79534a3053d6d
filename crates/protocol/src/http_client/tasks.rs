//! The background tasks of one client: they are tracked, and they end with the client.

use std::future::Future;

use hyper::rt::Executor;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Starts and tracks tasks. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientTasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl ClientTasks {
    /// Runs a future until it is done or the client is closed.
    pub(super) fn start(&self, future: impl Future<Output = ()> + Send + 'static) {
        // A body may be dropped after its runtime has ended; then there is nothing to do.
        if let Ok(runtime) = Handle::try_current() {
            let stop = self.stop.clone();
            self.tracker.spawn_on(stop.run_until_cancelled_owned(future), &runtime);
        }
    }

    /// Runs blocking code on a thread for blocking tasks.
    #[cfg(feature = "tls")]
    pub(super) async fn block<T: Send + 'static>(
        &self,
        code: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.tracker.spawn_blocking(code).await.ok()
    }

    /// Signals all tasks to end.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits until all tasks have ended.
    pub(super) async fn wait(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// hyper starts tasks for HTTP/2 connections and request bodies.
impl<F> Executor<F> for ClientTasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        self.start(future);
    }
}
