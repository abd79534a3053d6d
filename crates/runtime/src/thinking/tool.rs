//! The definition of the tool: name, description, input and output schema.
//!
//! The names of the tool and of its arguments are those of the reference server
//! `sequential-thinking`, so that existing prompts work.

use serde_json::{Value, json};

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

/// Returns the definition of the tool.
pub(super) fn definition(result_support: ResultSupport) -> Value {
    let mut tool =
        json!({ "name": NAME, "description": DESCRIPTION, "inputSchema": input_schema() });
    if result_support == ResultSupport::Structured {
        tool["title"] = json!("Sequential thinking");
        tool["outputSchema"] = output_schema();
        tool["annotations"] = json!({ "readOnlyHint": true, "openWorldHint": false });
    }
    tool
}

fn input_schema() -> Value {
    let boolean = |description: &str| json!({ "type": "boolean", "description": description });
    json!({
        "type": "object",
        "properties": {
            "thought": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_THOUGHT_LENGTH,
                "description": "What you think at this step"
            },
            "nextThoughtNeeded": boolean("Whether another thought follows"),
            "thoughtNumber": count("The number of this thought, from 1"),
            "totalThoughts": count("The number of thoughts that you expect now; may change"),
            "isRevision": boolean("Whether this thought corrects an earlier one"),
            "revisesThought": count("The number of the thought that is corrected"),
            "branchFromThought": count("The number of the thought from which a branch starts"),
            "branchId": { "type": "string", "description": "A short name for the branch" },
            "needsMoreThoughts": boolean("Whether more thoughts are needed than expected")
        },
        "required": ["thought", "nextThoughtNeeded", "thoughtNumber", "totalThoughts"]
    })
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "thoughtNumber": count("The number of this thought"),
            "totalThoughts": count("The number of thoughts expected, at least thoughtNumber"),
            "nextThoughtNeeded": { "type": "boolean", "description": "Whether another thought follows, as in the request" },
            "branches": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The branches so far, oldest first"
            },
            "thoughtHistoryLength": count("The number of thoughts in this session so far")
        },
        "required": [
            "thoughtNumber",
            "totalThoughts",
            "nextThoughtNeeded",
            "branches",
            "thoughtHistoryLength"
        ]
    })
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 1, "description": description })
}
