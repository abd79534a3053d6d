//! Answers requests of servers, like a host with a person.

use wharf_protocol::Json;
use wharf_protocol::envelope::{Notification, RpcError};
use wharf_protocol::peer::{ClientHandler, HandlerFuture, RequestCause};

/// Answers every request that MCP defines.
pub(crate) struct TestHandler;

impl ClientHandler for TestHandler {
    fn on_notification(&self, _: Notification) {}

    fn on_request(
        &self,
        method: &str,
        params: Option<Json>,
        _: Option<RequestCause>,
    ) -> HandlerFuture {
        let has = |member: &str| params.as_ref().is_some_and(|it| it.get(member).is_some());
        let answer = match method {
            "roots/list" => Ok(r#"{"roots":[]}"#),
            "elicitation/create" if has("url") => Ok(r#"{"action":"accept"}"#),
            "elicitation/create" if has("requestedSchema") => {
                Ok(r#"{"action":"accept","content":{"berth":"7"}}"#)
            }
            "sampling/createMessage" if has("messages") => {
                Ok(r#"{"role":"assistant","content":{"type":"text","text":"7"},"model":"m"}"#)
            }
            "elicitation/create" | "sampling/createMessage" => {
                Err(RpcError::invalid_params("something is missing"))
            }
            _ => Err(RpcError::method_not_found(method)),
        };
        let answer = answer.map(|text| text.parse().unwrap());
        Box::pin(async move { answer })
    }
}
