//! Prompts of servers, their arguments, and the messages of a prompt result.

use bytestring::ByteString;

use super::content::ContentBlock;
use super::fields::{entry, view};
use super::violation::{JsonType, MemberRule, ObjectRules};
use crate::Json;

const PROMPT: ObjectRules = &[(
    "",
    &[
        MemberRule::required("name", JsonType::String),
        MemberRule::optional("title", JsonType::String),
        MemberRule::optional("description", JsonType::String),
        MemberRule::optional("arguments", JsonType::Array),
        MemberRule::optional("icons", JsonType::Array),
    ],
)];

entry! {
    /// A prompt: a template for messages.
    Prompt, "prompts", "name" as name, PROMPT
}

impl Prompt {
    /// Returns the display name.
    pub fn title(&self) -> Option<ByteString> {
        self.raw.text_at("title").filter(|title| !title.is_empty())
    }

    /// Returns the server's description: untrusted text.
    pub fn description(&self) -> Option<ByteString> {
        self.raw.text_at("description")
    }

    /// Returns the arguments; those without a name are left out.
    pub fn arguments(&self) -> Vec<PromptArgument> {
        self.raw.items_at("arguments").iter().filter_map(PromptArgument::read).collect()
    }
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name.
    pub name: ByteString,
    /// The display name.
    pub title: Option<ByteString>,
    /// The server's description: untrusted text.
    pub description: Option<ByteString>,
    /// Whether a value is required.
    pub is_required: bool,
}

impl PromptArgument {
    fn read(raw: &Json) -> Option<Self> {
        Some(Self {
            name: raw.text_at("name").filter(|name| !name.is_empty())?,
            title: raw.text_at("title"),
            description: raw.text_at("description"),
            is_required: raw.bool_at("required").unwrap_or_default(),
        })
    }
}

view! {
    /// The result of `prompts/get`.
    PromptResult
}

impl PromptResult {
    /// Returns the server's description: untrusted text.
    pub fn description(&self) -> Option<ByteString> {
        self.raw.text_at("description")
    }

    /// Returns the messages.
    pub fn messages(&self) -> Vec<PromptMessage> {
        PromptMessage::list(&self.raw)
    }
}

view! {
    /// A message of a prompt or of a sampling request.
    PromptMessage
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person, or a program that acts for them.
    User,
    /// The model.
    Assistant,
}

impl PromptMessage {
    /// Returns the role of the sender; the default is the user.
    pub fn role(&self) -> Role {
        match self.raw.text_at("role").as_deref() {
            Some("assistant") => Role::Assistant,
            _ => Role::User,
        }
    }

    /// Returns the content: usually one block, in sampling also several.
    pub fn content(&self) -> Vec<ContentBlock> {
        ContentBlock::list(self.raw.get("content"))
    }

    pub(super) fn list(raw: &Json) -> Vec<Self> {
        let messages = raw.items_at("messages").into_iter();
        messages.filter(Json::is_object).map(Self::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ListEntry;
    use super::*;

    #[test]
    fn arguments_without_a_name_are_omitted() {
        let text = r#"{"name":"p","arguments":[{"name":"a","required":true},{},7,
            {"name":"b","required":"yes","title":5}]}"#;
        let arguments = Prompt::read(text.parse().unwrap()).unwrap().arguments();
        let rendered: Vec<_> =
            arguments.iter().map(|it| (it.name.to_string(), it.is_required)).collect();
        assert_eq!(rendered, [("a".to_owned(), true), ("b".to_owned(), false)]);
    }

    #[test]
    fn irregular_messages_are_read_where_possible() {
        let text = r#"{"messages":[{"role":"assistant","content":{"type":"text","text":"a"}},
            {"content":"b"},{"role":"dog","content":[{"type":"text","text":"c"},"d"]},"e"]}"#;
        let messages = PromptResult::read(text.parse().unwrap()).messages();
        let rendered: Vec<_> =
            messages.iter().map(|message| (message.role(), message.content().len())).collect();
        assert_eq!(rendered, [(Role::Assistant, 1), (Role::User, 1), (Role::User, 2)]);
    }
}
