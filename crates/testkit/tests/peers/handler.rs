//! The host of our client: answers what servers ask, and passes on what they tell.

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use wharf_protocol::Json;
use wharf_protocol::envelope::{Notification, RpcError};
use wharf_protocol::peer::{ClientHandler, HandlerFuture};
use wharf_protocol::view::send::SamplingSupport;
use wharf_protocol::view::send::{ClientCapabilities, ElicitationSupport, RootsSupport};

/// Somebody with an answer to every question.
pub(crate) struct TestHandler(UnboundedSender<String>);

impl TestHandler {
    /// Returns somebody, and the methods of the notifications that they hear.
    pub(crate) fn new() -> (Self, UnboundedReceiver<String>) {
        let (sender, notifications) = mpsc::unbounded_channel();
        (Self(sender), notifications)
    }

    /// Returns what they can do for a server.
    pub(crate) fn capabilities() -> ClientCapabilities {
        ClientCapabilities {
            roots: Some(RootsSupport { list_changed: true }),
            sampling: Some(SamplingSupport::default()),
            elicitation: Some(ElicitationSupport { form: true, url: false }),
            ..ClientCapabilities::default()
        }
    }
}

impl ClientHandler for TestHandler {
    fn on_notification(&self, notification: Notification) {
        // A test that is over hears nothing any more.
        drop(self.0.send(notification.method.to_string()));
    }

    fn on_request(&self, method: &str, _: Option<Json>) -> HandlerFuture {
        let answer = match method {
            "roots/list" => Ok(r#"{"roots":[{"uri":"file:///harbour","name":"harbour"}]}"#),
            "elicitation/create" => Ok(r#"{"action":"accept","content":{"berth":"north"}}"#),
            "sampling/createMessage" => {
                Ok(r#"{"role":"assistant","content":{"type":"text","text":"pier"},"model":"m"}"#)
            }
            _ => Err(RpcError::method_not_found(method)),
        };
        let answer = answer.map(|text| text.parse().unwrap());
        Box::pin(async move { answer })
    }
}
