//! The results of the sample service: its lists, resources, prompt and completion.

use serde_json::{Value, json};
use wharf_protocol::Json;
use wharf_protocol::envelope::RpcError;
use wharf_protocol::era::Revision;
use wharf_protocol::serve::ServiceCall;

/// The URI of the resource.
pub(super) const CHART: &str = "harbour://chart";

/// The berths: the completions, and the parameters of the resource template.
const BERTHS: [&str; 3] = ["north", "north-east", "south"];

/// Returns the capabilities of a revision.
pub(super) fn capabilities(revision: Revision) -> Json {
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "logging": {},
    });
    if revision >= Revision::V2025_03_26 {
        capabilities["completions"] = json!({});
    }
    encode(&capabilities)
}

/// Returns the list of tools.
pub(super) fn tools() -> Json {
    let text = json!({"text": {"type": "string"}});
    let numbers = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    let timing = json!({"steps": {"type": "integer"}, "pause_ms": {"type": "integer"}});
    encode(&json!({"tools": [
        tool("echo", "Returns the text.", &text),
        tool("add", "Adds two whole numbers.", &numbers),
        tool("slow", "Goes on step by step, and tells of each.", &timing),
        tool("ask", "Asks the person for a berth.", &json!({})),
        tool("sample", "Asks the client's model for a word.", &json!({})),
        tool("roots", "Asks for the folders of the client.", &json!({})),
        tool("log", "Logs a line of each of two severities.", &json!({})),
        tool("change", "Says that everything has changed.", &json!({})),
        tool("history", "Returns what the server went through.", &json!({})),
    ]}))
}

fn tool(name: &str, description: &str, properties: &Value) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties},
    })
}

/// Returns the list of resources.
pub(super) fn resources() -> Json {
    encode(&json!({"resources": [{"uri": CHART, "name": "chart", "mimeType": "text/plain"}]}))
}

/// Returns the list of templates.
pub(super) fn templates() -> Json {
    let template = json!({"uriTemplate": "harbour://berth/{berth}", "name": "berth"});
    encode(&json!({"resourceTemplates": [template]}))
}

/// Returns the list of prompts.
pub(super) fn prompts() -> Json {
    let argument = json!({"name": "ship", "description": "Who is welcome.", "required": true});
    encode(&json!({"prompts": [{"name": "welcome", "arguments": [argument]}]}))
}

/// Returns the chart, or a berth of the template.
pub(super) fn resource(call: &ServiceCall) -> Result<Json, RpcError> {
    let uri = call.param("uri").and_then(|uri| uri.to_text()).unwrap_or_default();
    let text = match uri.strip_prefix("harbour://berth/") {
        Some(berth) if BERTHS.contains(&berth) => format!("The berth {berth} is free."),
        None if uri == CHART => "Three fathoms everywhere.".to_owned(),
        _ => return Err(RpcError::invalid_params("Resource not found")),
    };
    let contents = json!({"uri": uri, "mimeType": "text/plain", "text": text});
    Ok(encode(&json!({"contents": [contents]})))
}

/// Returns the prompt with its argument.
pub(super) fn prompt(call: &ServiceCall) -> Result<Json, RpcError> {
    let ship = call.param("arguments").and_then(|it| it.get("ship")?.to_text());
    let ship = ship.ok_or_else(|| RpcError::invalid_params("Invalid params: ship is required"))?;
    let content = json!({"type": "text", "text": format!("Welcome {ship} to the harbour.")});
    Ok(encode(&json!({"messages": [{"role": "user", "content": content}]})))
}

/// Returns the completions of the name of a berth.
pub(super) fn completion(call: &ServiceCall) -> Json {
    let typed = call.param("argument").and_then(|it| it.get("value")?.to_text());
    let typed = typed.unwrap_or_default();
    let values: Vec<_> = BERTHS.into_iter().filter(|berth| berth.starts_with(&typed)).collect();
    encode(&json!({"completion": {"values": values, "hasMore": false}}))
}

/// Encodes a value as JSON text.
pub(super) fn encode(value: &Value) -> Json {
    Json::encode(value).unwrap_or_else(|_| Json::object())
}
