//! Sampling: a server requests a message from the client's model (`sampling/createMessage`).

use bytestring::ByteString;

use super::fields::view;
use super::list_page::ListEntry;
use super::prompt::PromptMessage;
use super::tool::ToolDefinition;
use crate::Json;

view! {
    /// The parameters of `sampling/createMessage`.
    Sampling
}

impl Sampling {
    /// Returns the conversation to continue.
    pub fn messages(&self) -> Vec<PromptMessage> {
        PromptMessage::list(&self.raw)
    }

    /// Returns the maximum number of tokens; `None` if it is missing.
    pub fn max_tokens(&self) -> Option<u64> {
        self.raw.u64_at("maxTokens")
    }

    /// Returns the system prompt: untrusted text.
    pub fn system_prompt(&self) -> Option<ByteString> {
        self.raw.text_at("systemPrompt")
    }

    /// Returns the server's model preferences.
    pub fn model_preferences(&self) -> ModelPreferences {
        let preferences = self.raw.object_at("modelPreferences").unwrap_or_else(Json::object);
        ModelPreferences {
            hints: preferences
                .items_at("hints")
                .iter()
                .filter_map(|hint| hint.to_shared_text().or_else(|| hint.text_at("name")))
                .collect(),
            cost: preferences.f64_at("costPriority"),
            speed: preferences.f64_at("speedPriority"),
            intelligence: preferences.f64_at("intelligencePriority"),
        }
    }

    /// Returns the sampling temperature.
    pub fn temperature(&self) -> Option<f64> {
        self.raw.f64_at("temperature")
    }

    /// Returns the stop sequences.
    pub fn stop_sequences(&self) -> Vec<ByteString> {
        self.raw.texts_at("stopSequences")
    }

    /// Returns which context the model should get: `none`, `thisServer` or `allServers`.
    pub fn include_context(&self) -> Option<ByteString> {
        self.raw.text_at("includeContext")
    }

    /// Returns the metadata for the model provider.
    pub fn metadata(&self) -> Option<Json> {
        self.raw.object_at("metadata")
    }

    /// Returns the tools that the model may use; unusable ones are left out.
    pub fn tools(&self) -> Vec<ToolDefinition> {
        self.raw
            .items_at("tools")
            .into_iter()
            .filter_map(|raw| ToolDefinition::read(raw).ok())
            .collect()
    }

    /// Returns whether the model may, must or must not use the tools.
    pub fn tool_choice(&self) -> ToolChoice {
        let choice = self.raw.object_at("toolChoice").and_then(|choice| choice.text_at("mode"));
        match choice.as_deref() {
            Some("none") => ToolChoice::None,
            Some("required") => ToolChoice::Required,
            _ => ToolChoice::Auto,
        }
    }
}

/// The model preferences of a server; not binding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelPreferences {
    /// Substrings of model names, the most preferred first.
    pub hints: Vec<ByteString>,
    /// The priority of low cost, from 0 to 1.
    pub cost: Option<f64>,
    /// The priority of speed, from 0 to 1.
    pub speed: Option<f64>,
    /// The priority of intelligence, from 0 to 1.
    pub intelligence: Option<f64>,
}

/// Whether a model may use tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must use a tool.
    Required,
    /// The model must not use tools.
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_sampling_members_are_ignored() {
        let sampling = Sampling::read(
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"maxTokens":1e3,
            "modelPreferences":{"hints":[{"name":"big"},"small",{}],"costPriority":0.5},
            "tools":[{"name":"t"},{}],"toolChoice":{"mode":"required"},"stopSequences":["x",1]}"#
                .parse()
                .unwrap(),
        );
        assert_eq!(sampling.messages().len(), 1);
        assert_eq!(sampling.max_tokens(), Some(1000));
        let preferences = sampling.model_preferences();
        assert_eq!(preferences.hints, ["big", "small"]);
        assert_eq!((preferences.cost, preferences.speed), (Some(0.5), None));
        assert_eq!(sampling.tools().len(), 1);
        assert_eq!(sampling.tool_choice(), ToolChoice::Required);
        assert_eq!(sampling.stop_sequences(), ["x"]);
    }

    #[test]
    fn empty_sampling_params_are_accepted() {
        let sampling = Sampling::read("{}".parse().unwrap());
        assert!(sampling.messages().is_empty());
        assert_eq!(sampling.tool_choice(), ToolChoice::Auto);
    }
}
