//! Tool results, the type of a result, and the result of MCP completion.

use std::sync::LazyLock;

use bytestring::ByteString;
use memchr::memmem::Finder;

use super::content::ContentBlock;
use super::fields::view;
use super::violation::{JsonType, MemberRule, ObjectRules, ProtocolViolation, check};
use crate::{Json, scan};

/// The type of a result (2026-07-28).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResultType {
    /// A complete result; also every result without a type.
    Complete,
    /// Input requests that must be answered first: [`InputRequest`](super::InputRequest).
    InputRequired,
    /// A task that will have the result later: [`Task`](super::Task).
    Task,
    /// A type of an extension.
    Other(ByteString),
}

impl ResultType {
    /// Reads the type of a result.
    pub(crate) fn of(result: &Json) -> Self {
        Self::named(result.get("resultType").as_ref())
    }

    /// Returns the type with a name; without a name, the result is complete.
    pub(crate) fn named(name: Option<&Json>) -> Self {
        match name.and_then(Json::to_shared_text) {
            None => Self::Complete,
            Some(text) => match &*text {
                "complete" => Self::Complete,
                "input_required" => Self::InputRequired,
                "task" => Self::Task,
                _ => Self::Other(text),
            },
        }
    }
}

/// The result of `tools/call`.
///
/// Members are parsed on demand, because a large result may only be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    raw: Json,
}

/// Finds `isError` quickly: most results do not contain it.
static IS_ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"isError"));

const TOOL_RESULT: ObjectRules = &[(
    "",
    &[
        MemberRule::required("content", JsonType::Array),
        MemberRule::optional("isError", JsonType::Boolean),
        MemberRule::optional("_meta", JsonType::Object),
    ],
)];

impl ToolResult {
    /// Wraps any JSON value as a result.
    pub fn read(raw: Json) -> Self {
        Self { raw }
    }

    /// Returns the content blocks; also accepts a single block or a string instead of a list.
    pub fn content(&self) -> Vec<ContentBlock> {
        ContentBlock::list(self.raw.get("content"))
    }

    /// Returns the structured content, with all digits.
    ///
    /// Since 2026-07-28, when results have a type, `null` is a valid value. Before, some servers
    /// send `null` for a missing value.
    pub fn structured(&self) -> Option<Json> {
        let [found, kind] = scan::find(self.raw.as_str(), ["structuredContent", "resultType"]);
        let found = found.map(|found| self.raw.part_at(found))?;
        Some(found).filter(|value| kind.is_some() || !value.is_null())
    }

    /// Tells whether the tool failed.
    pub fn is_error(&self) -> bool {
        IS_ERROR.find(self.raw.as_str().as_bytes()).is_some()
            && self.raw.bool_at("isError") == Some(true)
    }

    /// Returns the result as the server sent it.
    pub fn raw(&self) -> &Json {
        &self.raw
    }

    /// Returns the protocol violations, except those inside the blocks.
    pub(super) fn own_violations(&self) -> Vec<ProtocolViolation> {
        check(&self.raw, TOOL_RESULT)
    }

    /// Returns the protocol violations, also inside the blocks.
    pub fn violations(&self) -> Vec<ProtocolViolation> {
        if !self.raw.is_object() {
            return vec![ProtocolViolation::mismatch("result", &self.raw, JsonType::Object)];
        }
        let mut violations = self.own_violations();
        violations.extend(self.content().iter().flat_map(ContentBlock::violations));
        violations
    }
}

view! {
    /// The result of `completion/complete`: proposed values of an argument.
    Completion
}

impl Completion {
    /// Returns the proposed values.
    pub fn values(&self) -> Vec<ByteString> {
        self.raw.get("completion").map(|it| it.texts_at("values")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> ToolResult {
        ToolResult::read(text.parse().unwrap())
    }

    fn texts(text: &str) -> Vec<String> {
        let blocks = result(text).content();
        blocks.iter().filter_map(|block| block.as_text().map(ToString::to_string)).collect()
    }

    #[test]
    fn content_is_found_in_every_shape() {
        assert_eq!(texts(r#"{"content":[{"type":"text","text":"a"},{"type":"x"}]}"#), ["a"]);
        assert_eq!(texts(r#"{"content":{"type":"text","text":"a"}}"#), ["a"]);
        assert_eq!(texts(r#"{"content":"a"}"#), ["a"]);
        for empty in [r#"{"content":null}"#, r#"{"content":[]}"#, "{}", "null", "[]"] {
            assert_eq!(result(empty).content(), [], "{empty}");
        }
    }

    #[test]
    fn digits_of_structured_content_survive() {
        let result = result(r#"{"structuredContent":{"id":98765432109876543210},"content":[]}"#);
        assert_eq!(result.structured().unwrap().as_str(), r#"{"id":98765432109876543210}"#);
    }

    #[test]
    fn null_is_structured_content_only_since_2026_07_28() {
        assert_eq!(result(r#"{"structuredContent":null}"#).structured(), None);
        let modern = result(r#"{"resultType":"complete","structuredContent":null}"#);
        assert_eq!(modern.structured(), Some(Json::null()));
    }

    #[test]
    fn only_true_is_an_error() {
        assert!(result(r#"{"isError":true}"#).is_error());
        for fine in [r#"{"isError":"true"}"#, r#"{"isError":null}"#, "{}", "7"] {
            assert!(!result(fine).is_error(), "{fine}");
        }
    }

    #[test]
    fn the_result_type_is_read() {
        let kind = |text: &str| ResultType::of(&text.parse().unwrap());
        assert_eq!(kind("{}"), ResultType::Complete);
        assert_eq!(kind("null"), ResultType::Complete);
        assert_eq!(kind(r#"{"resultType":"input_required"}"#), ResultType::InputRequired);
        assert_eq!(kind(r#"{"resultType":"odd"}"#), ResultType::Other("odd".into()));
    }

    #[test]
    fn proposals_are_texts() {
        let text = r#"{"completion":{"values":["a",1,"b"],"total":3.0,"hasMore":true}}"#;
        let completion = Completion::read(text.parse().unwrap());
        assert_eq!(completion.values(), ["a", "b"]);
        assert!(Completion::read("[]".parse().unwrap()).values().is_empty());
    }
}
