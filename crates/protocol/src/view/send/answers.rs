//! Responses to requests of a server: elicitation, sampling, roots.
//!
//! Before 2026-07-28 they are results of JSON-RPC requests, since then entries of `inputResponses`.

use super::{Object, encode, object};
use crate::Json;
use crate::era::Revision;
use crate::view::content::{Content, ContentBlock};

/// The response of the person to an elicitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElicitationAnswer {
    /// Accepted; with the content of the form, or nothing for a URL.
    Accept(Option<Object>),
    /// Declined explicitly.
    Decline,
    /// Dismissed without a decision.
    Cancel,
}

/// Writes the result of `elicitation/create`.
pub fn elicitation_result(answer: &ElicitationAnswer) -> Json {
    let (action, content) = match answer {
        ElicitationAnswer::Accept(content) => {
            ("accept", content.as_ref().map(|it| it.as_json().clone()))
        }
        ElicitationAnswer::Decline => ("decline", None),
        ElicitationAnswer::Cancel => ("cancel", None),
    };
    object([("action", Some(encode(action))), ("content", content)])
}

/// The message of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingAnswer {
    /// The name of the model.
    pub model: String,
    /// The content blocks; see [`text_block`].
    pub content: Vec<Json>,
    /// Why the model stopped, such as `endTurn`, `maxTokens`, `stopSequence` or `toolUse`.
    pub stop_reason: Option<String>,
}

/// The reason why an answer cannot be sent to a server of this revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsendable {
    /// Before 2025-11-25 an answer must have exactly one block.
    #[error("an answer of several blocks cannot be sent in this revision of the protocol")]
    Several,
    /// The type of a block does not exist in the revision.
    #[error("a block of this kind cannot be sent in this revision of the protocol")]
    Kind,
}

/// Writes the result of `sampling/createMessage`.
pub fn sampling_result(answer: &SamplingAnswer, revision: Revision) -> Result<Json, Unsendable> {
    if !answer.content.iter().all(|block| is_known(block, revision)) {
        return Err(Unsendable::Kind);
    }
    let content = match answer.content.as_slice() {
        [block] => block.clone(),
        blocks if revision >= Revision::V2025_11_25 => encode(blocks),
        _ => return Err(Unsendable::Several),
    };
    Ok(object([
        ("role", Some(encode("assistant"))),
        ("content", Some(content)),
        ("model", Some(encode(&answer.model))),
        ("stopReason", answer.stop_reason.as_ref().map(encode)),
    ]))
}

fn is_known(block: &Json, revision: Revision) -> bool {
    let block = ContentBlock::read(block.clone());
    let since = match block.content() {
        Content::Text(_) | Content::Image { .. } => Revision::V2024_11_05,
        Content::Audio { .. } => Revision::V2025_03_26,
        Content::ToolUse { .. } | Content::ToolResult { .. } => Revision::V2025_11_25,
        Content::Link(_) | Content::Embedded(_) | Content::Unknown { .. } => return false,
    };
    revision >= since && block.violations().is_empty()
}

/// Writes a text block.
pub fn text_block(text: &str) -> Json {
    object([("type", Some(encode("text"))), ("text", Some(encode(text)))])
}

/// A root that the client reports to servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootEntry {
    /// The URI; must begin with `file://`.
    pub uri: String,
    /// The display name.
    pub name: Option<String>,
}

/// Writes the result of `roots/list`.
pub fn roots_result(roots: &[RootEntry]) -> Json {
    let root = |root: &RootEntry| {
        object([("uri", Some(encode(&root.uri))), ("name", root.name.as_ref().map(encode))])
    };
    let roots: Vec<Json> = roots.iter().map(root).collect();
    object([("roots", Some(encode(&roots)))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(blocks: &[Json], revision: Revision) -> Result<String, Unsendable> {
        let answer =
            SamplingAnswer { model: "m".into(), content: blocks.to_vec(), stop_reason: None };
        sampling_result(&answer, revision).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn one_block_is_not_sent_as_a_list() {
        let expected = r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}"#;
        for revision in Revision::ALL {
            assert_eq!(written(&[text_block("a")], revision).unwrap(), expected);
        }
    }

    #[test]
    fn content_unknown_to_the_revision_is_not_sent() {
        let two = [text_block("a"), text_block("b")];
        assert_eq!(written(&two, Revision::V2025_06_18), Err(Unsendable::Several));
        assert!(written(&two, Revision::V2025_11_25).unwrap().contains("[{"));
        let wish = r#"{"type":"tool_use","id":"1","name":"n","input":{}}"#.parse().unwrap();
        let wish = std::slice::from_ref(&wish);
        assert_eq!(written(wish, Revision::V2025_06_18), Err(Unsendable::Kind));
        assert!(written(wish, Revision::V2026_07_28).is_ok());
        assert_eq!(written(&[Json::object()], Revision::LATEST), Err(Unsendable::Kind));
    }

    #[test]
    fn an_elicitation_result_has_the_action() {
        let rendered = |answer| elicitation_result(&answer).as_str().to_owned();
        assert_eq!(rendered(ElicitationAnswer::Decline), r#"{"action":"decline"}"#);
        assert_eq!(
            rendered(ElicitationAnswer::Accept(Some(Object::default()))),
            r#"{"action":"accept","content":{}}"#
        );
    }
}
