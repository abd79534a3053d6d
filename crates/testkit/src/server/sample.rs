//! The sample service: it has some of every feature of MCP, in both eras.

use std::sync::Arc;

use wharf_protocol::Json;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::serve::{
    Client, DescriptionFuture, ServerDescription, ServerInfo, Service, ServiceAnswer, ServiceCall,
};

use super::event_counts::EventCounts;
use super::results;
use super::tools;

/// A service for [`McpServer::new`](wharf_protocol::serve::McpServer::new).
///
/// Its tool `history` returns the number of started, completed and cancelled calls and of ended
/// sessions, and the number of open sessions and subscriptions. Its tool `change` notifies that
/// all lists have changed.
#[derive(Debug, Default)]
pub struct SampleService {
    events: EventCounts,
}

impl Service for SampleService {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("wharf-sample", "1.0.0")
    }

    fn describe(self: Arc<Self>, client: Client) -> DescriptionFuture {
        Box::pin(async move {
            let mut description = ServerDescription::new(results::capabilities(client.revision()));
            description.instructions = Some("Ask before you land.".to_owned());
            description
        })
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        Box::pin(async move {
            match call.method.as_ref() {
                "tools/list" => Ok(results::tools()),
                "tools/call" => tools::call(&self.events, &call).await,
                "resources/list" => Ok(results::resources()),
                "resources/templates/list" => Ok(results::templates()),
                "resources/read" => results::resource(&call),
                "resources/subscribe" | "resources/unsubscribe" => Ok(Json::object()),
                "prompts/list" => Ok(results::prompts()),
                "prompts/get" => results::prompt(&call),
                "completion/complete" => Ok(results::completion(&call)),
                method => Err(RpcError::method_not_found(method)),
            }
        })
    }

    fn session_ended(&self, _client: &Client) {
        self.events.add("session ended");
    }
}
