//! The handler of the client: answers requests of servers, and forwards their notifications.

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use wharf_protocol::Json;
use wharf_protocol::envelope::{Notification, RpcError};
use wharf_protocol::peer::{ClientHandler, HandlerFuture, RequestCause};
use wharf_protocol::view::send::SamplingSupport;
use wharf_protocol::view::send::{ClientCapabilities, ElicitationSupport, RootsSupport};

/// Answers every request of a server.
pub(crate) struct TestHandler(UnboundedSender<String>);

impl TestHandler {
    /// Returns a handler, and the methods of the notifications that it receives.
    pub(crate) fn new() -> (Self, UnboundedReceiver<String>) {
        let (sender, notifications) = mpsc::unbounded_channel();
        (Self(sender), notifications)
    }

    /// Returns the capabilities that the handler supports.
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
        // A test that has ended has dropped the receiver.
        drop(self.0.send(notification.method.to_string()));
    }

    fn on_request(&self, method: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
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
