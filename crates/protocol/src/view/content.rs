//! Content blocks of tools, prompts and models: text, images, audio, resources.
//!
//! Blocks of unknown types and unknown members of known blocks are kept unchanged.

use std::fmt;

use bytestring::ByteString;

use super::list_page::ListEntry;
use super::resource::{Resource, ResourceContents};
use super::tool_result::ToolResult;
use super::violation::{JsonType, MemberRule, ObjectRules, ProtocolViolation, check};
use crate::json::push_string;
use crate::{Json, scan};

/// One block of content.
#[derive(Clone, PartialEq, Eq)]
pub struct ContentBlock {
    raw: Json,
    content: Content,
}

/// The content of a block, by type.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// A text.
    Text(ByteString),
    /// An image.
    Image {
        /// The bytes, as Base64.
        data: ByteString,
        /// The MIME type.
        mime_type: Option<ByteString>,
    },
    /// Audio.
    Audio {
        /// The bytes, as Base64.
        data: ByteString,
        /// The MIME type.
        mime_type: Option<ByteString>,
    },
    /// A link to a resource.
    Link(Resource),
    /// An embedded resource.
    Embedded(ResourceContents),
    /// A model requests a tool call (in sampling, from 2025-11-25 on).
    ToolUse {
        /// The id of the tool use.
        id: ByteString,
        /// The name of the tool.
        name: ByteString,
        /// The arguments.
        input: Json,
    },
    /// The result of a tool call that a model requested.
    ToolResult {
        /// The id of the tool use.
        tool_use_id: ByteString,
        /// The result.
        result: ToolResult,
    },
    /// A block of an unknown type, or without a required member.
    Unknown {
        /// The type; empty if it has none.
        kind: ByteString,
    },
}

impl ContentBlock {
    /// Makes a text block.
    pub fn text(text: &str) -> Self {
        let mut raw = r#"{"type":"text","text":"#.to_owned();
        push_string(&mut raw, text);
        raw.push('}');
        Self::read(Json::trusted(raw))
    }

    /// Reads a block from any JSON value; a string becomes a text block.
    pub fn read(raw: Json) -> Self {
        let content = raw.to_shared_text().map_or_else(|| Content::read(&raw), Content::Text);
        Self { raw, content }
    }

    /// Returns the content.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the block as the server sent it.
    pub fn raw(&self) -> &Json {
        &self.raw
    }

    /// Returns the text, if it is a text block.
    pub fn as_text(&self) -> Option<&ByteString> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the protocol violations.
    pub(crate) fn violations(&self) -> Vec<ProtocolViolation> {
        if !self.raw.is_object() {
            return vec![ProtocolViolation::mismatch("content", &self.raw, JsonType::Object)];
        }
        let mut violations = check(&self.raw, KIND);
        violations.extend(match &self.content {
            Content::Text(_) => check(&self.raw, TEXT),
            Content::Image { .. } | Content::Audio { .. } => check(&self.raw, DATA),
            Content::Link(resource) => resource.violations(),
            Content::Embedded(contents) => contents.violations(),
            Content::ToolUse { .. } => check(&self.raw, TOOL_USE),
            // Results can be nested, so a recursion would have no bound.
            Content::ToolResult { result, .. } => result.own_violations(),
            Content::Unknown { .. } => Vec::new(),
        });
        violations
    }

    /// Reads content that is a list, a single block, a string, `null` or missing.
    pub(super) fn list(content: Option<Json>) -> Vec<Self> {
        match content {
            None => Vec::new(),
            Some(content) => match content.items() {
                Some(blocks) => blocks.into_iter().map(Self::read).collect(),
                None if content.is_null() => Vec::new(),
                None => vec![Self::read(content)],
            },
        }
    }
}

/// Prints only the type: the content may be secret.
impl fmt::Debug for ContentBlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ContentBlock({:?}, {} bytes)", self.content, self.raw.as_str().len())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Text(_) => "text",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Link(_) => "resource_link",
            Self::Embedded(_) => "resource",
            Self::ToolUse { .. } => "tool_use",
            Self::ToolResult { .. } => "tool_result",
            Self::Unknown { .. } => "unknown",
        })
    }
}

impl Content {
    fn read(raw: &Json) -> Self {
        let [kind, text] = scan::find(raw.as_str(), ["type", "text"]);
        let text_of = |part: Option<&str>| part.and_then(|part| raw.part_at(part).to_shared_text());
        let kind = text_of(kind);
        let text = text_of(text);
        let known = match kind.as_deref() {
            // A text block without a text is read as an empty text.
            Some("text") => Some(Self::Text(text.unwrap_or_default())),
            None => text.map(Self::Text),
            Some("image") => {
                media_fields(raw).map(|(data, mime_type)| Self::Image { data, mime_type })
            }
            Some("audio") => {
                media_fields(raw).map(|(data, mime_type)| Self::Audio { data, mime_type })
            }
            Some("resource_link") => Resource::read(raw.clone()).ok().map(Self::Link),
            Some("resource") => {
                raw.object_at("resource").map(ResourceContents::read).map(Self::Embedded)
            }
            Some("tool_use") => tool_use(raw),
            Some("tool_result") => tool_result(raw),
            Some(_) => None,
        };
        known.unwrap_or_else(|| Self::Unknown { kind: kind.unwrap_or_default() })
    }
}

fn media_fields(raw: &Json) -> Option<(ByteString, Option<ByteString>)> {
    Some((raw.text_at("data")?, raw.text_at("mimeType")))
}

fn tool_use(raw: &Json) -> Option<Content> {
    Some(Content::ToolUse {
        id: raw.text_at("id")?,
        name: raw.text_at("name")?,
        input: raw.object_at("input").unwrap_or_else(Json::object),
    })
}

fn tool_result(raw: &Json) -> Option<Content> {
    let tool_use_id = raw.text_at("toolUseId")?;
    Some(Content::ToolResult { tool_use_id, result: ToolResult::read(raw.clone()) })
}

const KIND: ObjectRules = &[("", &[MemberRule::required("type", JsonType::String)])];
const TEXT: ObjectRules = &[("", &[MemberRule::required("text", JsonType::String)])];
const DATA: ObjectRules = &[(
    "",
    &[
        MemberRule::required("data", JsonType::String),
        MemberRule::required("mimeType", JsonType::String),
    ],
)];
const TOOL_USE: ObjectRules = &[("", &[MemberRule::required("input", JsonType::Object)])];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, kind: &str, violations: &str) {
        let block = ContentBlock::read(text.parse().unwrap());
        assert_eq!(format!("{:?}", block.content()), kind, "{text}");
        let found: Vec<_> = block.violations().iter().map(ToString::to_string).collect();
        assert_eq!(found.join("; "), violations, "{text}");
        assert_eq!(block.raw().as_str(), text, "the raw block is unchanged");
    }

    #[test]
    fn every_kind_is_read() {
        check(r#"{"type":"text","text":"a"}"#, "text", "");
        check(r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#, "image", "");
        check(r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#, "audio", "");
        check(r#"{"type":"resource_link","uri":"a:b","name":"n"}"#, "resource_link", "");
        check(r#"{"type":"resource","resource":{"uri":"a:b","text":"t"}}"#, "resource", "");
        check(r#"{"type":"tool_use","id":"1","name":"n","input":{}}"#, "tool_use", "");
        check(r#"{"type":"tool_result","toolUseId":"1","content":[]}"#, "tool_result", "");
    }

    #[test]
    fn an_irregular_block_is_read_by_its_content() {
        check(r#"{"type":"text","text":null}"#, "text", "text is null, not a string");
        check(r#"{"type":"text"}"#, "text", "text is missing");
        check(r#"{"text":"a"}"#, "text", "type is missing");
        check(r#""bare""#, "text", "content is a string, not an object");
        check(r#"{"type":"image","data":"AA=="}"#, "image", "mimeType is missing");
    }

    #[test]
    fn unknown_blocks_are_kept_unchanged() {
        check(r#"{"type":"hologram","depth":12345678901234567890}"#, "unknown", "");
        check(r#"{"type":"image"}"#, "unknown", "");
        check("7", "unknown", "content is a number, not an object");
        check("null", "unknown", "content is null, not an object");
    }

    #[test]
    fn a_text_block_can_be_made() {
        let block = ContentBlock::text("a\n\"b\"");
        assert_eq!(block.as_text().map(|text| &**text), Some("a\n\"b\""));
        assert_eq!(block.raw().as_str(), r#"{"type":"text","text":"a\n\"b\""}"#);
    }

    #[test]
    fn debug_shows_no_content() {
        let block = ContentBlock::read(r#"{"type":"text","text":"secret"}"#.parse().unwrap());
        assert_eq!(format!("{block:?}"), "ContentBlock(text, 31 bytes)");
    }
}
