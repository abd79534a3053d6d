//! Tools and outcomes for the Messages API of Anthropic.
//!
//! Any JSON Schema with a plain object at its root is accepted, so it stays as the server wrote it.
//! An argument whose name Anthropic refuses is left out: it would fail the whole request.

use serde::Serialize;
use serde_json::Value;
use wharf_protocol::Json;

use super::ResultLimits;
use super::media::{Media, ModelContent};
use super::object_schema::object_schema;
use super::ordered::{array, object, string};
use crate::call::Outcome;
use crate::tools::Tool;

/// The images that models of Anthropic read.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The maximum length of the name of an argument.
const MAX_ARGUMENT_NAME: usize = 64;

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: &'a Json,
}

impl Tool {
    /// Returns the tool for a request to Anthropic.
    pub fn to_anthropic(&self) -> Json {
        let schema = with_accepted_names(object_schema(self.input_schema()));
        let description = self.description().filter(|text| !text.is_empty());
        let description = description.as_deref();
        let tool = AnthropicTool { name: self.name(), description, input_schema: &schema };
        // Encoding cannot fail: the schema is valid JSON and all keys are strings.
        Json::encode(&tool).unwrap_or_else(|_| Json::object())
    }
}

/// Leaves out the arguments whose names Anthropic does not accept.
fn with_accepted_names(schema: Json) -> Json {
    let properties = schema.get("properties");
    let members = properties.as_ref().and_then(Json::members);
    if members.is_none_or(|it| it.iter().all(|(name, _)| is_accepted(name))) {
        return schema;
    }
    let Some(Value::Object(mut root)) = schema.to::<Value>() else { return Json::object() };
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        properties.retain(|name, _| is_accepted(name));
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(is_accepted));
    }
    Json::encode(&root).unwrap_or_else(|_| Json::object())
}

fn is_accepted(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    !name.is_empty() && name.len() <= MAX_ARGUMENT_NAME && name.bytes().all(is_allowed)
}

impl Outcome {
    /// Returns the outcome as the `tool_result` block of the tool use with this id, for the next
    /// user message to Anthropic.
    pub fn to_anthropic(&self, tool_use_id: &str, limits: &ResultLimits) -> Json {
        let content = ModelContent::new(self, &IMAGES, limits);
        let mut blocks = Vec::new();
        // A blank text block fails the request.
        if !content.text.trim().is_empty() {
            blocks.push(object(&[("type", string("text")), ("text", string(&content.text))]));
        }
        blocks.extend(content.media.iter().map(image));
        let mut result =
            vec![("type", string("tool_result")), ("tool_use_id", string(tool_use_id))];
        if !blocks.is_empty() {
            result.push(("content", array(blocks)));
        }
        if self.is_error {
            result.push(("is_error", Json::from(Value::Bool(true))));
        }
        object(&result)
    }
}

fn image(media: &Media) -> Json {
    let source = object(&[
        ("type", string("base64")),
        ("media_type", string(media.mime_type)),
        ("data", string(&media.base64)),
    ]);
    object(&[("type", string("image")), ("source", source)])
}
