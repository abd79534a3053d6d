//! The definition of the tool: name, description, input and output schema.
//!
//! The names of the tool and of its arguments are those of the reference server
//! `sequential-thinking`, so that existing prompts work.

use serde::Serialize;
use serde_json::{Value, json};
use wharf_protocol::Json;

use super::thought::MAX_THOUGHT_LENGTH;

/// The name of the tool.
pub(super) const NAME: &str = "sequentialthinking";

const DESCRIPTION: &str = "\
Works through a hard problem one thought at a time. Call it once per thought.

Use it to plan, to design, or to analyse when the way is not clear from the start. Begin with a rough \
guess of how many thoughts it will take and change the guess whenever you know better. A thought may \
revise an earlier one, or branch off from it to try another way. State a hypothesis when you have one, \
check it against the thoughts so far, and set nextThoughtNeeded to false only when you are content with \
the answer.";

/// What the client's revision of the protocol supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultSupport {
    /// Text only, up to 2025-03-26.
    Plain,
    /// Also titles, hints and structured results.
    Structured,
}

/// The definition of the tool, in the order in which a model reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolDefinition {
    name: &'static str,
    description: &'static str,
    input_schema: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Value>,
}

/// Returns the definition of the tool.
pub(super) fn definition(result_support: ResultSupport) -> ToolDefinition {
    let is_structured = result_support == ResultSupport::Structured;
    let annotations = || json!({ "readOnlyHint": true, "openWorldHint": false });
    ToolDefinition {
        name: NAME,
        description: DESCRIPTION,
        input_schema: input_schema(),
        title: is_structured.then_some("Sequential thinking"),
        output_schema: is_structured.then(output_schema),
        annotations: is_structured.then(annotations),
    }
}

fn input_schema() -> Json {
    let thought = json!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_THOUGHT_LENGTH,
        "description": "What you think at this step"
    });
    let branch = json!({ "type": "string", "description": "A short name for the branch" });
    object(
        &[
            ("thought", thought),
            ("nextThoughtNeeded", boolean("Whether another thought follows")),
            ("thoughtNumber", count("The number of this thought, from 1")),
            ("totalThoughts", count("The number of thoughts that you expect now; may change")),
            ("isRevision", boolean("Whether this thought corrects an earlier one")),
            ("revisesThought", count("The number of the thought that is corrected")),
            ("branchFromThought", count("The number of the thought from which a branch starts")),
            ("branchId", branch),
            ("needsMoreThoughts", boolean("Whether more thoughts are needed than expected")),
        ],
        &["thought", "nextThoughtNeeded", "thoughtNumber", "totalThoughts"],
    )
}

fn output_schema() -> Json {
    let branches = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "The branches so far, oldest first"
    });
    let properties = [
        ("thoughtNumber", count("The number of this thought")),
        ("totalThoughts", count("The number of thoughts expected, at least thoughtNumber")),
        ("nextThoughtNeeded", boolean("Whether another thought follows, as in the request")),
        ("branches", branches),
        ("thoughtHistoryLength", count("The number of thoughts in this session so far")),
    ];
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    object(&properties, &names)
}

/// Makes the schema of an object whose properties keep their order: a model fills them in in this
/// order.
fn object(properties: &[(&str, Value)], required: &[&str]) -> Json {
    let member = |(name, schema): &(&str, Value)| format!("{}:{schema}", json!(name));
    let properties = properties.iter().map(member).collect::<Vec<_>>().join(",");
    let required = json!(required);
    let text =
        format!(r#"{{"type":"object","properties":{{{properties}}},"required":{required}}}"#);
    Json::parse(text).unwrap_or_else(|_| Json::object())
}

fn boolean(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 1, "description": description })
}
