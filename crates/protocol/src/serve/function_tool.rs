//! One tool that is a function of the program: its definition, its calls, and what it returns.

use std::fmt;
use std::future::Future;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::request_context::RequestContext;
use crate::Json;
use crate::era::Revision;
use crate::transport::BoxFuture;

type Function =
    Box<dyn Fn(FunctionCall) -> BoxFuture<'static, Result<ToolReply, String>> + Send + Sync>;

/// A tool that is a function of the program, for a [`ToolService`](super::ToolService).
///
/// ```
/// use serde_json::json;
/// use wharf_protocol::serve::{FunctionCall, FunctionTool, ToolReply};
///
/// let double = FunctionTool::new("double", async |call: FunctionCall| {
///     let n: i64 = call.argument("n")?;
///     Ok(ToolReply::text((2 * n).to_string()))
/// })
/// .description("Doubles a number.")
/// .input_schema(json!({
///     "type": "object",
///     "properties": { "n": { "type": "integer" } },
///     "required": ["n"],
/// }))
/// .read_only();
/// # drop(double);
/// ```
#[must_use = "a tool is served once it is added to a service"]
pub struct FunctionTool {
    pub(super) name: String,
    definition: Map<String, Value>,
    function: Function,
}

/// A call of a [`FunctionTool`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The arguments: an object. They are not checked against the schema.
    pub arguments: Json,
    /// The client, and messages to it during the call: progress, log messages and requests; also
    /// tells when the call is cancelled.
    pub context: RequestContext,
}

/// What a function of a [`ToolService`](super::ToolService) returns.
#[derive(Debug, Clone)]
pub struct ToolReply {
    text: String,
    structured: Option<Json>,
}

impl FunctionTool {
    /// Makes a tool without arguments; [`FunctionTool::input_schema`] adds some.
    ///
    /// An error of the function is shown to the model, which can correct its arguments. If the call
    /// is cancelled, the function has two seconds to end; then its future is dropped.
    pub fn new<F, R>(name: &str, function: F) -> Self
    where
        F: Fn(FunctionCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolReply, String>> + Send + 'static,
    {
        let schema = json!({ "type": "object", "properties": {} });
        let members = [("name", name.into()), ("inputSchema", schema)];
        Self {
            name: name.to_owned(),
            definition: members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            function: Box::new(move |call| Box::pin(function(call))),
        }
    }

    /// Sets the description for the model.
    pub fn description(self, description: impl Into<String>) -> Self {
        self.with("description", description.into().into())
    }

    /// Sets the title for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        self.with("title", title.into().into())
    }

    /// Sets the JSON schema of the arguments.
    pub fn input_schema(self, schema: impl Into<Value>) -> Self {
        self.with("inputSchema", schema.into())
    }

    /// Sets the JSON schema of [`ToolReply::structured`].
    pub fn output_schema(self, schema: impl Into<Value>) -> Self {
        self.with("outputSchema", schema.into())
    }

    /// Says that the tool only reads.
    pub fn read_only(self) -> Self {
        self.hint("readOnlyHint", true)
    }

    /// Says that the tool may change something, but destroys nothing.
    pub fn additive(self) -> Self {
        self.hint("destructiveHint", false)
    }

    /// Says that a second call with the same arguments changes nothing more.
    pub fn idempotent(self) -> Self {
        self.hint("idempotentHint", true)
    }

    /// Says that the tool has to do with nothing outside of this program.
    pub fn closed_world(self) -> Self {
        self.hint("openWorldHint", false)
    }

    fn hint(mut self, hint: &str, value: bool) -> Self {
        let annotations = self.definition.entry("annotations").or_insert_with(|| json!({}));
        annotations[hint] = value.into();
        self
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.definition.insert(key.to_owned(), value);
        self
    }

    /// Returns the definition for a client of this revision.
    pub(super) fn definition(&self, revision: Revision) -> Value {
        let mut definition = self.definition.clone();
        // Earlier revisions do not have them.
        if revision < Revision::V2025_06_18 {
            definition.retain(|key, _| !matches!(key.as_str(), "title" | "outputSchema"));
        }
        if revision < Revision::V2025_03_26 {
            definition.retain(|key, _| key != "annotations");
        }
        definition.into()
    }

    /// Returns the result of a call.
    pub(super) async fn call(&self, call: FunctionCall) -> Value {
        let has_structured = call.context.client().revision() >= Revision::V2025_06_18;
        match (self.function)(call).await {
            Ok(reply) => {
                let mut result = json!({ "content": [text_block(&reply.text)] });
                if let Some(structured) = reply.structured.filter(|_| has_structured) {
                    result["structuredContent"] = json!(structured);
                }
                result
            }
            Err(error) => json!({ "content": [text_block(&error)], "isError": true }),
        }
    }
}

impl FunctionCall {
    /// Returns one argument. The error says to the model which argument is missing or wrong.
    ///
    /// A missing argument is `null` for a type that accepts it, such as `Option`.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        match self.arguments.get(name) {
            Some(value) => value.decode().map_err(|error| format!("\"{name}\" is wrong: {error}")),
            None => T::deserialize(Value::Null).map_err(|_| format!("\"{name}\" is missing")),
        }
    }

    /// Returns all arguments as one value. The error says to the model what is wrong.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String> {
        self.arguments.decode().map_err(|error| format!("the arguments are wrong: {error}"))
    }
}

impl ToolReply {
    /// Replies with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None }
    }

    /// Replies with a JSON object. Clients of older revisions get its text.
    pub fn structured(value: impl Into<Json>) -> Self {
        let value = value.into();
        Self { text: value.as_str().to_owned(), structured: Some(value) }
    }
}

/// Shows the definition.
impl fmt::Debug for FunctionTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FunctionTool")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
