//! A service with a bit of everything that MCP has, in both eras.

use std::sync::Arc;

use wharf_protocol::Json;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::serve::{
    Client, DescriptionFuture, ServerDescription, ServerInfo, Service, ServiceAnswer, ServiceCall,
};

use super::catalogue;
use super::history::History;
use super::tools;

/// The service; give it to [`McpServer::new`](wharf_protocol::serve::Server::new).
///
/// Its tool `history` tells what became of calls and sessions, and how many sessions and
/// subscriptions are open; its tool `change` announces that everything has changed.
#[derive(Debug, Default)]
pub struct Sample {
    history: History,
}

impl Service for Sample {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("wharf-sample", "1.0.0")
    }

    fn describe(self: Arc<Self>, client: Client) -> DescriptionFuture {
        Box::pin(async move {
            let mut description =
                ServerDescription::new(catalogue::capabilities(client.revision()));
            description.instructions = Some("Ask before you land.".to_owned());
            description
        })
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        Box::pin(async move {
            match call.method.as_ref() {
                "tools/list" => Ok(catalogue::tools()),
                "tools/call" => tools::call(&self.history, &call).await,
                "resources/list" => Ok(catalogue::resources()),
                "resources/templates/list" => Ok(catalogue::templates()),
                "resources/read" => catalogue::read(&call),
                "resources/subscribe" | "resources/unsubscribe" => Ok(Json::object()),
                "prompts/list" => Ok(catalogue::prompts()),
                "prompts/get" => catalogue::prompt(&call),
                "completion/complete" => Ok(catalogue::complete(&call)),
                method => Err(RpcError::method_not_found(method)),
            }
        })
    }

    fn session_ended(&self, _client: &Client) {
        self.history.note("session ended");
    }
}
