//! Tools and outcomes for the Gemini API and Vertex AI.

use serde::Serialize;
use serde_json::Value;
use wharf_protocol::Json;

use super::ResultLimits;
use super::gemini_schema::gemini_schema;
use super::media::{Media, ModelContent};
use super::object_schema::object_schema;
use super::ordered::{array, object, string};
use crate::call::Outcome;
use crate::tools::Tool;
use crate::tools::schema::strict;

/// What a function response may contain beside its text.
const MEDIA: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "application/pdf"];

/// How the parameters of a function are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GeminiSchema {
    /// `parametersJsonSchema`: the keywords of JSON Schema that Gemini supports. It loses least: an
    /// object may have any members, and an enum may have numbers.
    #[default]
    JsonSchema,
    /// `parameters`: a subset of the schema of OpenAPI 3.0, for models and proxies that do not know
    /// the other field.
    OpenApi,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionDeclaration<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<Value>,
}

impl Tool {
    /// Returns the tool as a function declaration for a request to Gemini: an item of
    /// `functionDeclarations`.
    pub fn to_gemini(&self, schema: GeminiSchema) -> Json {
        let description = self.description().or_else(|| self.title());
        let parameters = gemini_schema(&inlined_schema(self), schema);
        let (parameters, parameters_json_schema) = match schema {
            GeminiSchema::OpenApi => (parameters, None),
            GeminiSchema::JsonSchema => (None, parameters),
        };
        let declaration = FunctionDeclaration {
            name: self.name(),
            // It is required.
            description: description.as_deref().unwrap_or(self.tool()),
            parameters,
            parameters_json_schema,
        };
        // Encoding cannot fail: all keys are strings.
        Json::encode(&declaration).unwrap_or_else(|_| Json::object())
    }
}

/// Returns the schema as an object without references; the usual form is inlined once per tool.
fn inlined_schema(tool: &Tool) -> Json {
    let object = object_schema(tool.accepted_schema());
    if object == *tool.accepted_schema() { tool.strict_schema().clone() } else { strict(&object) }
}

impl Outcome {
    /// Returns the outcome as a part with a `functionResponse` for the next request to Gemini.
    ///
    /// The name is the one that the model called; the id is given if the call had one. Images are
    /// read from Gemini 3 on; use [`ResultLimits::without_media`] for earlier models.
    pub fn to_gemini(&self, name: &str, call_id: Option<&str>, limits: &ResultLimits) -> Json {
        let content = ModelContent::new(self, &MEDIA, limits);
        let key = if self.is_error { "error" } else { "output" };
        let mut response = Vec::new();
        response.extend(call_id.map(|id| ("id", string(id))));
        response.push(("name", string(name)));
        response.push(("response", object(&[(key, string(&content.text))])));
        if !content.media.is_empty() {
            response.push(("parts", array(content.media.iter().map(part))));
        }
        object(&[("functionResponse", object(&response))])
    }
}

fn part(media: &Media) -> Json {
    let data = [("mimeType", string(media.mime_type)), ("data", string(&media.base64))];
    object(&[("inlineData", object(&data))])
}
