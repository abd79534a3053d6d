//! Model formats: tools and outcomes as the JSON that OpenAI, Anthropic and Gemini take.
//!
//! ```text
//! Tool ─ object_schema ─┬─ openai (strict_schema) ─┐
//!                       ├─ anthropic               ├─► Json for a request
//! Outcome ─ media ──────┴─ gemini (gemini_schema) ─┘
//! ```
//!
//! The same tools always give the same bytes, because providers cache a prompt by its bytes: keys
//! have a fixed order, tools are sorted by name, and a schema that needs no change keeps the order of
//! its server. The keys of a rewritten one are sorted, unless the program turns on `preserve_order` of
//! `serde_json`.
//! Nothing here sends requests. `added_nulls` undoes in arguments what a strict schema required.

mod added_nulls;
mod anthropic;
mod gemini;
mod gemini_schema;
mod media;
mod object_schema;
mod openai;
mod ordered;
mod result_limits;
mod strict_schema;
mod tokens;
mod tool_slice;

pub use gemini::GeminiSchema;
pub use openai::{OpenAiApi, OpenAiResult, StrictTool};
pub use result_limits::ResultLimits;
pub use strict_schema::{NotStrict, NotStrictReason};
pub use tool_slice::{StrictTools, ToolSlice};

#[cfg(test)]
#[cfg(feature = "schema-validation")]
mod tests;

/// Removes a key; the others keep their order.
fn take(
    object: &mut serde_json::Map<String, serde_json::Value>,
    key: &str,
) -> Option<serde_json::Value> {
    let value = object.get_mut(key).map(serde_json::Value::take);
    object.retain(|other, _| other != key);
    value
}
