//! A service that uses all features of the server core, and requests for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::Json;
use crate::envelope::RpcError;
use crate::era::Era;
use crate::serve::{
    CallProgress, Client, ClientNotification, DescriptionFuture, McpServer, SendError,
    ServerDescription, ServerInfo, ServerSubscriptionFilter, Service, ServiceAnswer, ServiceCall,
    header_mismatch, missing_capability,
};
use crate::view::LogLevel;

const CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}"#;
const TIMEOUT: Duration = Duration::from_secs(60);

/// The service; it sends the events of its calls to `seen`.
pub(super) struct SampleService {
    seen: mpsc::UnboundedSender<String>,
    gate: Arc<Notify>,
}

/// A server with the sample service, and handles to control it.
pub(super) struct TestServer {
    pub(super) server: McpServer,
    pub(super) seen: mpsc::UnboundedReceiver<String>,
    /// Lets a call of `gate` continue.
    pub(super) gate: Arc<Notify>,
}

impl TestServer {
    pub(super) fn new() -> Self {
        let (sender, seen) = mpsc::unbounded_channel();
        let gate = Arc::new(Notify::new());
        let service = SampleService { seen: sender, gate: Arc::clone(&gate) };
        Self { server: McpServer::new(service), seen, gate }
    }

    /// Waits until this many sessions and subscriptions are open.
    pub(super) async fn until_subscriber_count(&self, count: usize) {
        let waiting = async {
            while self.server.change_notifier().subscriber_count() != count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("wrong count");
    }

    /// Waits for this event of the service, and returns the events before it.
    pub(super) async fn wait_for(&mut self, what: &str) -> Vec<String> {
        let mut before = Vec::new();
        let waiting = async {
            loop {
                let seen = self.seen.recv().await.unwrap();
                if seen == what {
                    return;
                }
                before.push(seen);
            }
        };
        tokio::time::timeout(Duration::from_secs(10), waiting).await.expect(what);
        before
    }
}

impl SampleService {
    fn record(&self, what: impl Into<String>) {
        drop(self.seen.send(what.into()));
    }

    async fn call_tool(&self, call: &ServiceCall) -> Result<Json, RpcError> {
        let context = &call.context;
        let name = call.param("name").and_then(|name| name.to_text()).unwrap_or_default();
        let arguments = call.param("arguments").unwrap_or_else(Json::object);
        match name.as_str() {
            "echo" => Ok(content(arguments.as_str())),
            "add" => {
                let [a, b]: [i64; 2] = arguments
                    .get("numbers")
                    .and_then(|it| it.to())
                    .ok_or_else(|| RpcError::invalid_params("numbers"))?;
                Ok(content(&(a + b).to_string()))
            }
            "slow" => {
                self.record("slow started");
                context.cancellation().cancelled().await;
                self.record("slow cancelled");
                Ok(content("nobody reads this"))
            }
            "gate" => {
                self.record("gate reached");
                self.gate.notified().await;
                Ok(content("gate passed"))
            }
            "stubborn" => {
                self.record("stubborn started");
                std::future::pending().await
            }
            "progress" => {
                for (progress, message) in [(1.0, "one"), (2.0, "two")] {
                    let progress =
                        CallProgress { progress, total: Some(2.0), message: Some(message) };
                    sent(context.progress(progress).await)?;
                }
                Ok(content("done"))
            }
            "log" => {
                for level in [LogLevel::Debug, LogLevel::Error] {
                    let data = Json::encode(level.as_str()).unwrap();
                    sent(context.log(level, &data).await)?;
                }
                Ok(content("logged"))
            }
            "change" => {
                context.change_notifier().tools_changed();
                context.change_notifier().resource_updated("test://watched");
                context.change_notifier().resource_updated("test://other");
                Ok(content("changed"))
            }
            "panic" => panic!("on purpose"),
            "panic later" => {
                tokio::task::yield_now().await;
                panic!("on purpose")
            }
            "city" => city(call, &arguments),
            "elicit" => self.ask(call, "elicitation", "elicitation/create").await,
            "sample" => self.ask(call, "sampling", "sampling/createMessage").await,
            _ => Err(RpcError::invalid_params("Unknown tool")),
        }
    }

    /// Sends a request to the client in the form of its era.
    async fn ask(
        &self,
        call: &ServiceCall,
        capability: &str,
        method: &str,
    ) -> Result<Json, RpcError> {
        let client = call.context.client();
        if !client.has_capability(capability) {
            let required = Json::parse(format!(r#"{{"{capability}":{{}}}}"#)).unwrap();
            return Err(missing_capability(&required));
        }
        let params = r#"{"message":"?"}"#.parse().unwrap();
        if client.era() == Era::Modern {
            return match call.param("inputResponses") {
                Some(answers) => Ok(content(answers.as_str())),
                None => Ok(Json::parse(format!(
                    r#"{{"resultType":"input_required","inputRequests":{{"q":{{"method":"{method}","params":{{"message":"?"}}}}}}}}"#
                ))
                .unwrap()),
            };
        }
        match call.context.request(method, Some(&params), TIMEOUT).await {
            Ok(answer) => Ok(content(answer.as_str())),
            Err(error) => {
                self.record(format!("request failed: {error}"));
                Err(RpcError::new(-1, error.to_string()))
            }
        }
    }
}

/// Accepts the argument only if the header has the same value.
fn city(call: &ServiceCall, arguments: &Json) -> Result<Json, RpcError> {
    let argument = arguments.get("city").and_then(|city| city.to_text());
    match call.headers.get("City") {
        Some(Ok(city)) if Some(&city) == argument.as_ref() => Ok(content(&city)),
        _ => Err(header_mismatch("Mcp-Param-City does not match city")),
    }
}

fn sent(outcome: Result<(), SendError>) -> Result<(), RpcError> {
    outcome.map_err(|error| RpcError::new(-1, error.to_string()))
}

fn content(text: &str) -> Json {
    Json::parse(format!(
        r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
        serde_json::Value::from(text)
    ))
    .unwrap()
}

impl Service for SampleService {
    fn info(&self) -> ServerInfo {
        ServerInfo::new("sample", "1.0.0")
    }

    fn describe(self: Arc<Self>, _client: Client) -> DescriptionFuture {
        Box::pin(async {
            let mut description = ServerDescription::new(CAPABILITIES.parse().unwrap());
            description.instructions = Some("Be nice.".to_owned());
            description
        })
    }

    fn handle(self: Arc<Self>, call: ServiceCall) -> ServiceAnswer {
        assert_ne!(call.method, "panic/at-once", "on purpose");
        Box::pin(async move {
            match call.method.as_ref() {
                "tools/call" => self.call_tool(&call).await,
                // On two lines, as an upstream server may send it.
                "tools/list" => Ok("{\"tools\":\n[]}".parse().unwrap()),
                "resources/subscribe" | "resources/unsubscribe" => Ok(Json::object()),
                _ => Err(RpcError::method_not_found(&call.method)),
            }
        })
    }

    fn handle_notification(&self, notification: ClientNotification) {
        assert_ne!(notification.method, "notifications/panic", "on purpose");
        self.record(notification.method.to_string());
    }

    fn accept_subscription(
        &self,
        wanted: ServerSubscriptionFilter,
        context: &crate::serve::RequestContext,
    ) -> ServerSubscriptionFilter {
        self.record(format!("listening {}", context.id()));
        wanted
    }

    fn session_ended(&self, _client: &Client) {
        self.record("session ended");
    }
}

/// A legacy request.
pub(super) fn legacy(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A modern request with these capabilities; `params` are members, without braces.
pub(super) fn modern(id: u32, method: &str, params: &str, capabilities: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    legacy(
        id,
        method,
        &format!(
            r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities},"progressToken":"t"}}{comma}{params}}}"#
        ),
    )
}

/// The parameters of `initialize`.
pub(super) fn initialize_params(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"elicitation":{{}},"sampling":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}"#
    )
}

/// The parameters of a call.
pub(super) fn tool(name: &str) -> String {
    format!(r#"{{"name":"{name}","arguments":{{}},"_meta":{{"progressToken":7}}}}"#)
}
