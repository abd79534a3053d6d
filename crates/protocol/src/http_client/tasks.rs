//! The tasks of one client: they are counted, and they end with it.

use std::future::Future;

use hyper::rt::Executor;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Starts tasks that somebody owns. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientTasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl ClientTasks {
    /// Runs a future until it is done or the client is.
    pub(super) fn start(&self, future: impl Future<Output = ()> + Send + 'static) {
        // A body may be dropped when its runtime is gone, and then there is nothing left to do.
        if let Ok(runtime) = Handle::try_current() {
            let stop = self.stop.clone();
            self.tracker.spawn_on(stop.run_until_cancelled_owned(future), &runtime);
        }
    }

    /// Runs code that blocks where blocking is allowed.
    pub(super) async fn block<T: Send + 'static>(
        &self,
        code: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.tracker.spawn_blocking(code).await.ok()
    }

    /// Ends all tasks, soon.
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

/// HTTP/2 has tasks for a connection and for bodies on their way.
impl<F> Executor<F> for ClientTasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        self.start(future);
    }
}
