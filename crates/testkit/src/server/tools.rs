//! What the tools of the sample do.

use std::time::Duration;

use serde_json::{Value, json};
use wharf_protocol::Json;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::era::{Era, Revision};
use wharf_protocol::serve::{CallProgress, ServiceCall, missing_capability};
use wharf_protocol::view::LogLevel;

use super::catalogue::{CHART, written};
use super::history::History;

/// How long a client may think about a question.
const PATIENCE: Duration = Duration::from_secs(30);

/// What comes back with the answers of a modern client, so that it is seen to come back.
const STATE: &str = "asked once";

/// Calls the tool that the parameters name.
pub(super) async fn call(history: &History, call: &ServiceCall) -> Result<Json, RpcError> {
    let name = call.param("name").and_then(|name| name.to_text()).unwrap_or_default();
    let arguments = call.param("arguments").unwrap_or_else(Json::object);
    match name.as_str() {
        "echo" => echo(&arguments),
        "add" => add(&arguments),
        "slow" => Ok(slow(history, call, &arguments).await),
        "ask" => ask(call, BERTH, &berth()).await,
        "sample" => ask(call, WORD, &word()).await,
        "roots" => ask(call, ("roots", "roots/list"), &json!({})).await,
        "log" => Ok(log(call).await),
        "change" => Ok(change(call)),
        "history" => Ok(tell(history, call)),
        _ => Err(RpcError::invalid_params(format!("Unknown tool: {name}"))),
    }
}

fn echo(arguments: &Json) -> Result<Json, RpcError> {
    let given = arguments.get("text").and_then(|it| it.to_text());
    given.map(|given| text(&given)).ok_or_else(|| RpcError::invalid_params("text is required"))
}

fn add(arguments: &Json) -> Result<Json, RpcError> {
    let number = |name| arguments.get(name).and_then(|it| it.to::<i64>());
    let sum = number("a").zip(number("b")).and_then(|(a, b)| a.checked_add(b));
    sum.map(|sum| text(&sum.to_string()))
        .ok_or_else(|| RpcError::invalid_params("a and b must be numbers with a sum"))
}

async fn slow(history: &History, call: &ServiceCall, arguments: &Json) -> Json {
    let steps: u32 = arguments.get("steps").and_then(|it| it.to()).unwrap_or(1000);
    let pause: u64 = arguments.get("pause_ms").and_then(|it| it.to()).unwrap_or(50);
    let context = &call.context;
    history.note("slow began");
    // The oldest revision has no word for what is being done.
    let has_message = context.client().revision() > Revision::V2024_11_05;
    for step in 1..=steps {
        tokio::select! {
            biased;
            () = context.cancellation().cancelled() => {
                history.note("slow was cancelled");
                return text("nobody reads this");
            }
            () = tokio::time::sleep(Duration::from_millis(pause)) => {}
        }
        let progress = CallProgress {
            progress: step.into(),
            total: Some(steps.into()),
            message: has_message.then_some("on the way"),
        };
        // If the client is gone, the token will say so.
        drop(context.progress(progress).await);
    }
    history.note("slow is done");
    text("arrived")
}

/// The capability that a question needs, and its method.
type Question = (&'static str, &'static str);

const BERTH: Question = ("elicitation", "elicitation/create");
const WORD: Question = ("sampling", "sampling/createMessage");

fn berth() -> Value {
    json!({
        "message": "Which berth?",
        "requestedSchema": {
            "type": "object",
            "properties": {"berth": {"type": "string"}},
            "required": ["berth"],
        },
    })
}

fn word() -> Value {
    let content = json!({"type": "text", "text": "One word for a place to land?"});
    json!({"messages": [{"role": "user", "content": content}], "maxTokens": 10})
}

/// Asks the client in the way of its era, and returns the answer as text.
async fn ask(
    call: &ServiceCall,
    (capability, method): Question,
    params: &Value,
) -> Result<Json, RpcError> {
    let client = call.context.client();
    if !client.has_capability(capability) {
        return match client.era() {
            Era::Modern => Err(missing_capability(&written(&json!({capability: {}})))),
            Era::Legacy => Ok(failed(&format!("the client has no {capability}"))),
        };
    }
    if client.era() == Era::Legacy {
        let answer = call.context.request(method, Some(&written(params)), PATIENCE).await;
        return Ok(match answer {
            Ok(answer) => text(answer.as_str()),
            Err(error) => failed(&error.to_string()),
        });
    }
    let Some(answers) = call.param("inputResponses") else {
        return Ok(written(&json!({
            "resultType": "input_required",
            "inputRequests": {"question": {"method": method, "params": params}},
            "requestState": STATE,
        })));
    };
    let state = call.param("requestState").and_then(|state| state.to_text());
    match answers.get("question").filter(|_| state.as_deref() == Some(STATE)) {
        Some(answer) => Ok(text(answer.as_str())),
        None => Err(RpcError::invalid_params("The answer or the state is missing")),
    }
}

async fn log(call: &ServiceCall) -> Json {
    for level in [LogLevel::Debug, LogLevel::Error] {
        // A client that is gone reads no log either.
        drop(call.context.log(level, &written(&json!(level.as_str()))).await);
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

fn tell(history: &History, call: &ServiceCall) -> Json {
    let mut told = json!(history.counts());
    told["audience"] = call.context.change_notifier().subscriber_count().into();
    text(&told.to_string())
}

fn text(text: &str) -> Json {
    written(&json!({"content": [{"type": "text", "text": text}]}))
}

fn failed(text: &str) -> Json {
    written(&json!({"content": [{"type": "text", "text": text}], "isError": true}))
}
