//! The hook for notifications and requests of a server: elicitation, sampling and roots.

use std::future::Future;
use std::pin::Pin;

use super::RequestCause;
use crate::Json;
use crate::envelope::{Notification, RpcError};

/// The future of the response to a server's request.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// Handles the notifications and requests that a server sends.
///
/// Progress of our requests, pings and cancellations are handled before and do not get here. A
/// panic costs the notification or the request that it was called for; the session goes on.
pub trait ClientHandler: Send + Sync + 'static {
    /// Handles a notification. It is called in the order of arrival and must return at once.
    fn on_notification(&self, notification: Notification);

    /// Answers a request: `elicitation/create`, `sampling/createMessage` or `roots/list`.
    ///
    /// `cause` is the one in the options of our request that the server is working on. It is `None`
    /// if that request has none, or if it is not certain which request it is.
    ///
    /// The future is dropped when the server cancels the request or the session ends. After a panic,
    /// the server gets an error.
    fn on_request(
        &self,
        method: &str,
        params: Option<Json>,
        cause: Option<RequestCause>,
    ) -> HandlerFuture;

    /// Called when a new session has replaced one that the server has lost, with all its settings
    /// and subscriptions. All lists are announced as changed before. It must return at once.
    fn on_session_renewed(&self) {}
}

/// Ignores all notifications and refuses all requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHandler;

impl ClientHandler for NoHandler {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, method: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
        let error = RpcError::method_not_found(method);
        Box::pin(async move { Err(error) })
    }
}
