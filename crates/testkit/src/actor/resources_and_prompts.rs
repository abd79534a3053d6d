//! The resources, templates, prompts and completions of a scripted server.

use serde_json::{Value, json};

/// Returns the result of a request about resources, prompts or completion; `count` is the number
/// of resources and the number of prompts.
pub(super) fn result(method: &str, params: &Value, count: usize) -> Result<Value, Value> {
    match method {
        "resources/list" => {
            let all = (0..count)
                .map(|it| json!({ "uri": format!("actor://{it}"), "name": format!("r{it}") }));
            Ok(json!({ "resources": all.collect::<Value>() }))
        }
        "resources/templates/list" => {
            let template = json!([{ "uriTemplate": "actor://{number}", "name": "t" }]);
            Ok(json!({ "resourceTemplates": template }))
        }
        "resources/read" => {
            let contents = json!([{ "uri": params["uri"], "text": "what is in it" }]);
            Ok(json!({ "contents": contents }))
        }
        "prompts/list" => {
            let arguments = json!([{ "name": "who" }]);
            let all =
                (0..count).map(|it| json!({ "name": format!("p{it}"), "arguments": arguments }));
            Ok(json!({ "prompts": all.collect::<Value>() }))
        }
        "prompts/get" => {
            let who = params["arguments"]["who"].as_str().unwrap_or("nobody");
            let content = json!({ "type": "text", "text": format!("hello {who}") });
            Ok(json!({ "messages": [{ "role": "user", "content": content }] }))
        }
        "completion/complete" => Ok(json!({ "completion": { "values": ["one", "two"] } })),
        _ => Err(json!({ "code": -32601, "message": "no such method" })),
    }
}
