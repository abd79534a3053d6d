//! Protocol violations in the contents of messages that Wharf can still read.
//!
//! Reading a result collects nothing: a view computes its violations on demand. A violation names
//! the member and what is wrong with it, but never contains its value.

use std::fmt;

use bytestring::ByteString;

use crate::Json;

/// How many characters of an untrusted name are printed.
const SUBJECT_LENGTH: usize = 80;

/// One protocol violation that did no harm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolViolation {
    /// The name of the tool, prompt or resource: untrusted text.
    pub(crate) subject: Option<ByteString>,
    /// The object that contains the member; empty for the outermost.
    pub(crate) within: &'static str,
    /// The member.
    pub(crate) part: &'static str,
    /// What is wrong with it.
    pub(crate) kind: ViolationKind,
}

/// What is wrong with a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViolationKind {
    /// It is required and missing.
    Missing,
    /// It is an empty string, which is not allowed.
    Empty,
    /// It has the wrong type.
    Type {
        /// The type of the value.
        found: JsonType,
        /// The type in the specification.
        expected: JsonType,
    },
    /// It is none of the values in the specification.
    Unknown,
}

/// The six types of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// Returns the type of a complete value, by its first character.
    pub(crate) fn of(json: &Json) -> Self {
        match json.as_str().as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }
}

impl ProtocolViolation {
    pub(super) fn new(part: &'static str, kind: ViolationKind) -> Self {
        Self { subject: None, within: "", part, kind }
    }

    pub(super) fn mismatch(part: &'static str, found: &Json, expected: JsonType) -> Self {
        Self::new(part, ViolationKind::Type { found: JsonType::of(found), expected })
    }

    pub(super) fn with_subject(mut self, subject: &ByteString) -> Self {
        self.subject = Some(subject.clone());
        self
    }
}

/// Writes one line without control characters, such as
/// `"echo": annotations.title is null, not a string`.
impl fmt::Display for ProtocolViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = &self.subject {
            let rendered: String = subject.chars().take(SUBJECT_LENGTH).collect();
            let rest = if rendered.len() < subject.len() { "…" } else { "" };
            write!(formatter, "\"{}{rest}\": ", rendered.escape_debug())?;
        }
        if !self.within.is_empty() {
            write!(formatter, "{}.", self.within)?;
        }
        write!(formatter, "{} {}", self.part, self.kind)
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("is missing"),
            Self::Empty => formatter.write_str("is empty"),
            Self::Type { found, expected } => write!(formatter, "is {found}, not {expected}"),
            Self::Unknown => formatter.write_str("has an unknown value"),
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// What the specification says about one member.
#[derive(Debug)]
pub(super) struct MemberRule {
    key: &'static str,
    expected: JsonType,
    is_required: bool,
    values: &'static [&'static str],
}

impl MemberRule {
    /// A required member.
    pub(super) const fn required(key: &'static str, expected: JsonType) -> Self {
        Self { key, expected, is_required: true, values: &[] }
    }

    /// An optional member.
    pub(super) const fn optional(key: &'static str, expected: JsonType) -> Self {
        Self { key, expected, is_required: false, values: &[] }
    }

    /// A string that must be one of these values.
    pub(super) const fn one_of(mut self, values: &'static [&'static str]) -> Self {
        self.values = values;
        self
    }

    fn find_violation(&self, object: &Json) -> Option<ViolationKind> {
        let Some(found) = object.get(self.key) else {
            return self.is_required.then_some(ViolationKind::Missing);
        };
        if JsonType::of(&found) != self.expected {
            return Some(ViolationKind::Type {
                found: JsonType::of(&found),
                expected: self.expected,
            });
        }
        let is_known = self.values.is_empty()
            || found.to_text().is_some_and(|text| self.values.contains(&text.as_str()));
        (!is_known).then_some(ViolationKind::Unknown)
    }
}

/// The rules of an object (named "") and of the objects in its members.
pub(super) type ObjectRules = &'static [(&'static str, &'static [MemberRule])];

/// Returns the violations of the rules in a value.
pub(super) fn check(json: &Json, rules: ObjectRules) -> Vec<ProtocolViolation> {
    let mut violations = Vec::new();
    for (within, rules) in rules {
        let object = if within.is_empty() { Some(json.clone()) } else { json.object_at(within) };
        let Some(object) = object else { continue };
        violations.extend(rules.iter().filter_map(|rule| {
            let kind = rule.find_violation(&object)?;
            Some(ProtocolViolation { within, ..ProtocolViolation::new(rule.key, kind) })
        }));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_is_rendered_on_one_line() {
        let null: Json = "null".parse().unwrap();
        let violation = ProtocolViolation::mismatch("title", &null, JsonType::String)
            .with_subject(&"a\n\"b\u{1b}[0m".into());
        let violation = ProtocolViolation { within: "annotations", ..violation };
        assert_eq!(
            violation.to_string(),
            r#""a\n\"b\u{1b}[0m": annotations.title is null, not a string"#
        );
    }

    #[test]
    fn a_long_subject_is_truncated() {
        let violation = ProtocolViolation::new("name", ViolationKind::Unknown)
            .with_subject(&"é".repeat(1000).into());
        assert_eq!(
            violation.to_string().chars().count(),
            80 + "\"…\": name has an unknown value".len() - 2
        );
    }

    #[test]
    fn rules_apply_to_nested_objects() {
        const RULES: ObjectRules = &[
            (
                "",
                &[
                    MemberRule::required("name", JsonType::String),
                    MemberRule::optional("more", JsonType::Object),
                ],
            ),
            ("more", &[MemberRule::optional("mode", JsonType::String).one_of(&["a", "b"])]),
        ];
        let rendered = |text: &str| {
            let json: Json = text.parse().unwrap();
            check(&json, RULES).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(rendered(r#"{"name":"x","more":{"mode":"a"}}"#), "");
        assert_eq!(
            rendered(r#"{"more":{"mode":"c"}}"#),
            "name is missing; more.mode has an unknown value"
        );
        assert_eq!(
            rendered(r#"{"name":1,"more":[]}"#),
            "name is a number, not a string; more is an array, not an object"
        );
        assert_eq!(rendered("7"), "name is missing");
    }
}
