//! What a server may say and ask between our own requests, and who deals with it.

use std::future::Future;
use std::pin::Pin;

use crate::Json;
use crate::envelope::{Notification, RpcError};

/// The answer to a server's request, in the making.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// Receives what a server sends on its own.
///
/// Progress of our own requests, pings and cancellations are dealt with before they get here.
pub trait ClientHandler: Send + Sync + 'static {
    /// Takes note of something; called in order, and must return at once.
    fn on_notification(&self, notification: Notification);

    /// Answers a question: `elicitation/create`, `sampling/createMessage` or `roots/list`.
    ///
    /// The future is dropped when the server takes the question back or the session ends.
    fn on_request(&self, method: &str, params: Option<Json>) -> HandlerFuture;

    /// Hears that a new session has replaced one that the server forgot, with all that it was told
    /// in it. Everything that can be listed is announced as changed before. Must return at once.
    fn on_session_renewed(&self) {}
}

/// Ignores all notifications and has no answer to anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHandler;

impl ClientHandler for NoHandler {
    fn on_notification(&self, _: Notification) {}

    fn on_request(&self, method: &str, _: Option<Json>) -> HandlerFuture {
        let error = RpcError::method_not_found(method);
        Box::pin(async move { Err(error) })
    }
}
