//! Executes the tools of the sample service.

use std::time::Duration;

use serde_json::{Value, json};
use wharf_protocol::Json;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::serve::{CallProgress, ServiceCall, missing_capability};
use wharf_protocol::view::LogLevel;

use super::event_counts::EventCounts;
use super::results::{CHART, encode};

/// The timeout of requests to the client.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The state that a modern client must send back with its responses.
const REQUEST_STATE: &str = "asked once";

/// Calls the tool that the parameters name.
pub(super) async fn call(events: &EventCounts, call: &ServiceCall) -> Result<Json, RpcError> {
    let name = call.param("name").and_then(|name| name.to_text()).unwrap_or_default();
    let arguments = call.param("arguments").unwrap_or_else(Json::object);
    match name.as_str() {
        "echo" => echo(&arguments),
        "add" => add(&arguments),
        "slow" => Ok(slow(events, call, &arguments).await),
        "ask" => request(call, ELICITATION, &elicitation_params()).await,
        "sample" => request(call, SAMPLING, &sampling_params()).await,
        "roots" => request(call, ROOTS, &json!({})).await,
        "log" => Ok(log(call).await),
        "change" => Ok(change(call)),
        "history" => Ok(event_counts(events, call)),
        _ => Err(RpcError::invalid_params(format!("Unknown tool: {name}"))),
    }
}

fn echo(arguments: &Json) -> Result<Json, RpcError> {
    let argument = arguments.get("text").and_then(|it| it.to_text());
    argument
        .map(|argument| text(&argument))
        .ok_or_else(|| RpcError::invalid_params("text is required"))
}

fn add(arguments: &Json) -> Result<Json, RpcError> {
    let number = |name| arguments.get(name).and_then(|it| it.to::<i64>());
    let sum = number("a").zip(number("b")).and_then(|(a, b)| a.checked_add(b));
    sum.map(|sum| text(&sum.to_string()))
        .ok_or_else(|| RpcError::invalid_params("a and b must be numbers with a sum"))
}

async fn slow(events: &EventCounts, call: &ServiceCall, arguments: &Json) -> Json {
    let steps: u32 = arguments.get("steps").and_then(|it| it.to()).unwrap_or(1000);
    let pause: u64 = arguments.get("pause_ms").and_then(|it| it.to()).unwrap_or(50);
    let context = &call.context;
    events.add("slow began");
    // The oldest revision has no `message` in progress notifications.
    let has_message = context.client().revision() > Revision::V2024_11_05;
    for step in 1..=steps {
        tokio::select! {
            biased;
            () = context.cancellation().cancelled() => {
                events.add("slow was cancelled");
                return text("nobody reads this");
            }
            () = tokio::time::sleep(Duration::from_millis(pause)) => {}
        }
        let progress = CallProgress {
            progress: step.into(),
            total: Some(steps.into()),
            message: has_message.then_some("on the way"),
        };
        // If the client has disconnected, the token is cancelled.
        drop(context.progress(progress).await);
    }
    events.add("slow is done");
    text("arrived")
}

/// The capability that a request to the client needs, and its method.
struct ClientRequest {
    capability: &'static str,
    method: &'static str,
}

const ELICITATION: ClientRequest =
    ClientRequest { capability: "elicitation", method: "elicitation/create" };
const SAMPLING: ClientRequest =
    ClientRequest { capability: "sampling", method: "sampling/createMessage" };
const ROOTS: ClientRequest = ClientRequest { capability: "roots", method: "roots/list" };

fn elicitation_params() -> Value {
    json!({
        "message": "Which berth?",
        "requestedSchema": {
            "type": "object",
            "properties": {"berth": {"type": "string"}},
            "required": ["berth"],
        },
    })
}

fn sampling_params() -> Value {
    let content = json!({"type": "text", "text": "One word for a place to land?"});
    json!({"messages": [{"role": "user", "content": content}], "maxTokens": 10})
}

/// Sends a request to the client, as its era requires, and returns the response as text.
async fn request(
    call: &ServiceCall,
    request: ClientRequest,
    params: &Value,
) -> Result<Json, RpcError> {
    let ClientRequest { capability, method } = request;
    let client = call.context.client();
    if !client.has_capability(capability) {
        return match client.era() {
            Era::Modern => Err(missing_capability(&encode(&json!({capability: {}})))),
            Era::Legacy => Ok(error_text(&format!("the client has no {capability}"))),
        };
    }
    if client.era() == Era::Legacy {
        let response = call.context.request(method, Some(&encode(params)), CLIENT_TIMEOUT).await;
        return Ok(match response {
            Ok(response) => text(response.as_str()),
            Err(error) => error_text(&error.to_string()),
        });
    }
    let Some(responses) = call.param("inputResponses") else {
        return Ok(encode(&json!({
            "resultType": "input_required",
            "inputRequests": {"question": {"method": method, "params": params}},
            "requestState": REQUEST_STATE,
        })));
    };
    let state = call.param("requestState").and_then(|state| state.to_text());
    match responses.get("question").filter(|_| state.as_deref() == Some(REQUEST_STATE)) {
        Some(response) => Ok(text(response.as_str())),
        None => Err(RpcError::invalid_params("The response or the state is missing")),
    }
}

async fn log(call: &ServiceCall) -> Json {
    for level in [LogLevel::Debug, LogLevel::Error] {
        // The client may have disconnected.
        drop(call.context.log(level, &encode(&json!(level.as_str()))).await);
    }
    text("logged")
}

fn change(call: &ServiceCall) -> Json {
    let change_notifier = call.context.change_notifier();
    change_notifier.tools_changed();
    change_notifier.prompts_changed();
    change_notifier.resources_changed();
    change_notifier.resource_updated(CHART);
    text("changed")
}

fn event_counts(events: &EventCounts, call: &ServiceCall) -> Json {
    let mut counts = json!(events.counts());
    counts["audience"] = call.context.change_notifier().subscriber_count().into();
    text(&counts.to_string())
}

fn text(text: &str) -> Json {
    encode(&json!({"content": [{"type": "text", "text": text}]}))
}

fn error_text(text: &str) -> Json {
    encode(&json!({"content": [{"type": "text", "text": text}], "isError": true}))
}
