//! Tools and outcomes for the APIs of OpenAI: Chat Completions and Responses.
//!
//! A tool message of Chat Completions takes text only, so images are given as a user message for
//! after all tool messages of the turn. A function's output in Responses takes images itself.

use serde::Serialize;
use serde_json::Value;
use wharf_protocol::Json;

use super::ResultLimits;
use super::media::{Media, ModelContent};
use super::object_schema::object_schema;
use super::ordered::{array, object, string};
use super::strict_schema::{NotStrict, NotStrictReason, strict};
use crate::call::Outcome;
use crate::tools::Tool;

/// The images that models of OpenAI read.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// How many characters of a description Chat Completions accepts; a longer one fails the request.
const MAX_CHAT_DESCRIPTION: usize = 1024;

/// An API of OpenAI, or of a provider that is compatible with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenAiApi {
    /// `/v1/chat/completions`.
    ChatCompletions,
    /// `/v1/responses`.
    Responses,
}

/// A tool with a strict schema, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrictTool {
    /// The tool for the request; `strict` is `false` in it if the schema has no strict form.
    pub json: Json,
    /// Why the schema has no strict form.
    pub not_strict: Option<NotStrict>,
}

/// An outcome as the input of the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenAiResult {
    /// The tool message, or the `function_call_output` item.
    pub item: Json,
    /// A user message with the images, to add after the tool messages of all calls of this turn;
    /// only for Chat Completions.
    pub images: Option<Json>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: &'a Json,
    strict: bool,
}

#[derive(Serialize)]
struct ChatTool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct ResponsesTool<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    function: Function<'a>,
}

impl Tool {
    /// Returns the tool for a request to OpenAI. The model may give arguments that do not match the
    /// schema; a call with them fails before anything is sent.
    ///
    /// For Chat Completions, a description is cut after 1024 characters.
    pub fn to_openai(&self, api: OpenAiApi) -> Json {
        self.openai_json(api, &object_schema(self.input_schema()), false)
    }

    /// Returns the tool for a request to OpenAI with `"strict": true`, so that the arguments always
    /// match the schema; without it if the schema has no strict form.
    ///
    /// A strict model gives `null` for an optional argument that it leaves out. Use
    /// [`Tool::without_added_nulls`] on the arguments before the call.
    pub fn to_strict_openai(&self, api: OpenAiApi) -> StrictTool {
        let numbers = || NotStrict { reason: NotStrictReason::Numbers, at: String::new() };
        let schema = self.accepted_schema().to::<Value>().ok_or_else(numbers);
        let schema = schema.and_then(|schema| strict(&schema));
        match schema.and_then(|schema| Json::encode(&schema).map_err(|_| numbers())) {
            Ok(schema) => {
                StrictTool { json: self.openai_json(api, &schema, true), not_strict: None }
            }
            Err(why) => StrictTool { json: self.to_openai(api), not_strict: Some(why) },
        }
    }

    fn openai_json(&self, api: OpenAiApi, parameters: &Json, strict: bool) -> Json {
        let description = self.description();
        let mut description = description.as_deref();
        let r#type = "function";
        let json = match api {
            OpenAiApi::ChatCompletions => {
                let cut = description.map(|it| cut(it, MAX_CHAT_DESCRIPTION));
                description = cut.as_deref();
                let function = Function { name: self.name(), description, parameters, strict };
                Json::encode(&ChatTool { r#type, function })
            }
            OpenAiApi::Responses => {
                let function = Function { name: self.name(), description, parameters, strict };
                Json::encode(&ResponsesTool { r#type, function })
            }
        };
        // Encoding cannot fail: the schema is valid JSON and all keys are strings.
        json.unwrap_or_else(|_| Json::object())
    }
}

/// Cuts a text after a number of characters.
fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max_chars - 1).chain(['…']).collect(),
    }
}

impl Outcome {
    /// Returns the outcome as the result of the call with this id for the next request to OpenAI.
    pub fn to_openai(&self, api: OpenAiApi, call_id: &str, limits: &ResultLimits) -> OpenAiResult {
        let content = ModelContent::new(self, &IMAGES, limits);
        let (item, images) = match api {
            OpenAiApi::ChatCompletions => chat(&content, call_id),
            OpenAiApi::Responses => (output(&content, call_id), None),
        };
        OpenAiResult { item, images }
    }
}

fn chat(content: &ModelContent, call_id: &str) -> (Json, Option<Json>) {
    let item = object(&[
        ("role", string("tool")),
        ("tool_call_id", string(call_id)),
        ("content", string(&content.text)),
    ]);
    if content.media.is_empty() {
        return (item, None);
    }
    let about = format!("The images of the result of the tool call {call_id}:");
    let about = object(&[("type", string("text")), ("text", string(&about))]);
    let image = |media: &Media| {
        let url = object(&[("url", string(&media.data_url()))]);
        object(&[("type", string("image_url")), ("image_url", url)])
    };
    let parts = array(std::iter::once(about).chain(content.media.iter().map(image)));
    (item, Some(object(&[("role", string("user")), ("content", parts)])))
}

fn output(content: &ModelContent, call_id: &str) -> Json {
    let output = if content.media.is_empty() {
        string(&content.text)
    } else {
        let text = object(&[("type", string("input_text")), ("text", string(&content.text))]);
        let image = |media: &Media| {
            let url = string(&media.data_url());
            object(&[("type", string("input_image")), ("image_url", url)])
        };
        array(std::iter::once(text).chain(content.media.iter().map(image)))
    };
    object(&[
        ("type", string("function_call_output")),
        ("call_id", string(call_id)),
        ("output", output),
    ])
}
