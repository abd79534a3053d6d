//! Several tools at once, as the value of `tools` in a request.

use std::borrow::Borrow;

use wharf_protocol::Json;

use super::ordered::{array, object};
use super::{GeminiSchema, NotStrict, OpenAiApi};
use crate::tools::Tool;

/// The tools of a request with strict schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrictTools {
    /// The value of `tools`.
    pub json: Json,
    /// The tools that are not strict, by name, and why.
    pub not_strict: Vec<(String, NotStrict)>,
}

/// The formats of model providers for slices and vectors of tools, as from
/// [`Runtime::tools`](crate::Runtime::tools).
///
/// The tools are sorted by name, so the same tools give the same bytes in whatever order they come.
///
/// ```
/// use wharf::model_formats::{OpenAiApi, ToolSlice};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = wharf::Runtime::builder().start().await?;
/// let tools = runtime.snapshot().registry().tools().to_openai(OpenAiApi::Responses);
/// assert_eq!(tools.as_str(), "[]");
/// # runtime.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub trait ToolSlice {
    /// Returns the value of `tools` for OpenAI, see [`Tool::to_openai`].
    fn to_openai(&self, api: OpenAiApi) -> Json;

    /// Returns the value of `tools` for OpenAI with strict schemas where possible, see
    /// [`Tool::to_strict_openai`].
    fn to_strict_openai(&self, api: OpenAiApi) -> StrictTools;

    /// Returns the value of `tools` for Anthropic, see [`Tool::to_anthropic`].
    fn to_anthropic(&self) -> Json;

    /// Returns the value of `tools` for Gemini: one tool with all function declarations, see
    /// [`Tool::to_gemini`].
    fn to_gemini(&self, schema: GeminiSchema) -> Json;

    /// Returns roughly how many tokens the tools take in a prompt, see [`Tool::estimated_tokens`].
    fn estimated_tokens(&self) -> usize;
}

impl<T: Borrow<Tool>> ToolSlice for [T] {
    fn to_openai(&self, api: OpenAiApi) -> Json {
        array(sorted(self).map(|tool| tool.to_openai(api)))
    }

    fn to_strict_openai(&self, api: OpenAiApi) -> StrictTools {
        let mut not_strict = Vec::new();
        let json = array(sorted(self).map(|tool| {
            let strict = tool.to_strict_openai(api);
            not_strict.extend(strict.not_strict.map(|why| (tool.name().to_owned(), why)));
            strict.json
        }));
        StrictTools { json, not_strict }
    }

    fn to_anthropic(&self) -> Json {
        array(sorted(self).map(Tool::to_anthropic))
    }

    fn to_gemini(&self, schema: GeminiSchema) -> Json {
        if self.is_empty() {
            return array(std::iter::empty());
        }
        let declarations = array(sorted(self).map(|tool| tool.to_gemini(schema)));
        array([object(&[("functionDeclarations", declarations)])])
    }

    fn estimated_tokens(&self) -> usize {
        self.iter().map(|tool| tool.borrow().estimated_tokens()).sum()
    }
}

fn sorted<T: Borrow<Tool>>(tools: &[T]) -> impl Iterator<Item = &Tool> {
    let mut tools: Vec<&Tool> = tools.iter().map(Borrow::borrow).collect();
    tools.sort_by_key(|tool| tool.name());
    tools.into_iter()
}
