//! What a server did against the rules, although Wharf understood it.
//!
//! Nothing is collected while a result is read: a view is asked for its oddities when somebody
//! wants to show them, so ten thousand odd tools cost nothing until then. An oddity names a part
//! and what was found there, never the value itself.

use std::fmt;

use bytestring::ByteString;

use super::fields::Fields;
use crate::Json;

/// How much of a foreign name is shown.
const SUBJECT_LENGTH: usize = 80;

/// One deviation from the rules that did no harm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The name of the tool, prompt or resource it is about: foreign text.
    pub subject: Option<ByteString>,
    /// The object that the part is in, empty for the outermost.
    pub within: &'static str,
    /// The part that deviates.
    pub part: &'static str,
    /// How it deviates.
    pub deviation: Deviation,
}

/// How a part deviates from the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deviation {
    /// It has to be there and is not.
    Missing,
    /// It is a text that must not be empty and is.
    Empty,
    /// It is something else than it should be.
    Type {
        /// What it is.
        found: Kind,
        /// What it should be.
        wanted: Kind,
    },
    /// It is none of the values that have a meaning.
    Unknown,
}

/// The six kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A text in quotes.
    String,
    /// A list.
    Array,
    /// Members in braces.
    Object,
}

impl Kind {
    /// Tells the kind of a complete value by its first character.
    pub fn of(json: &Json) -> Self {
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

impl Oddity {
    pub(super) fn new(part: &'static str, deviation: Deviation) -> Self {
        Self { subject: None, within: "", part, deviation }
    }

    pub(super) fn mismatch(part: &'static str, found: &Json, wanted: Kind) -> Self {
        Self::new(part, Deviation::Type { found: Kind::of(found), wanted })
    }

    pub(super) fn about(mut self, subject: &ByteString) -> Self {
        self.subject = Some(subject.clone());
        self
    }
}

/// Writes one line without control characters, such as `"echo": annotations.title is null, not a string`.
impl fmt::Display for Oddity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = &self.subject {
            let shown: String = subject.chars().take(SUBJECT_LENGTH).collect();
            let rest = if shown.len() < subject.len() { "…" } else { "" };
            write!(formatter, "\"{}{rest}\": ", shown.escape_debug())?;
        }
        if !self.within.is_empty() {
            write!(formatter, "{}.", self.within)?;
        }
        write!(formatter, "{} {}", self.part, self.deviation)
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => formatter.write_str("is missing"),
            Self::Empty => formatter.write_str("is empty"),
            Self::Type { found, wanted } => write!(formatter, "is {found}, not {wanted}"),
            Self::Unknown => formatter.write_str("has an unknown value"),
        }
    }
}

impl fmt::Display for Kind {
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
pub(super) struct Rule {
    key: &'static str,
    wanted: Kind,
    is_needed: bool,
    values: &'static [&'static str],
}

impl Rule {
    /// A member that must be there.
    pub(super) const fn needed(key: &'static str, wanted: Kind) -> Self {
        Self { key, wanted, is_needed: true, values: &[] }
    }

    /// A member that may be left out.
    pub(super) const fn optional(key: &'static str, wanted: Kind) -> Self {
        Self { key, wanted, is_needed: false, values: &[] }
    }

    /// A text that has to be one of a few.
    pub(super) const fn one_of(mut self, values: &'static [&'static str]) -> Self {
        self.values = values;
        self
    }

    fn judge(&self, object: &Json) -> Option<Deviation> {
        let Some(found) = object.field(self.key) else {
            return self.is_needed.then_some(Deviation::Missing);
        };
        if Kind::of(&found) != self.wanted {
            return Some(Deviation::Type { found: Kind::of(&found), wanted: self.wanted });
        }
        let is_known = self.values.is_empty()
            || found.to_text().is_some_and(|text| self.values.contains(&text.as_str()));
        (!is_known).then_some(Deviation::Unknown)
    }
}

/// The rules of an object (named "") and of the objects in its members.
pub(super) type Rules = &'static [(&'static str, &'static [Rule])];

/// Returns how a value deviates from its rules.
pub(super) fn check(json: &Json, rules: Rules) -> Vec<Oddity> {
    let mut oddities = Vec::new();
    for (within, rules) in rules {
        let object = if within.is_empty() { Some(json.clone()) } else { json.object_at(within) };
        let Some(object) = object else { continue };
        oddities.extend(rules.iter().filter_map(|rule| {
            let deviation = rule.judge(&object)?;
            Some(Oddity { within, ..Oddity::new(rule.key, deviation) })
        }));
    }
    oddities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oddity_is_one_readable_line() {
        let null: Json = "null".parse().unwrap();
        let oddity =
            Oddity::mismatch("title", &null, Kind::String).about(&"a\n\"b\u{1b}[0m".into());
        let oddity = Oddity { within: "annotations", ..oddity };
        assert_eq!(
            oddity.to_string(),
            r#""a\n\"b\u{1b}[0m": annotations.title is null, not a string"#
        );
    }

    #[test]
    fn a_long_name_is_cut() {
        let oddity = Oddity::new("name", Deviation::Unknown).about(&"é".repeat(1000).into());
        assert_eq!(
            oddity.to_string().chars().count(),
            80 + "\"…\": name has an unknown value".len() - 2
        );
    }

    #[test]
    fn rules_reach_into_members() {
        const RULES: Rules = &[
            ("", &[Rule::needed("name", Kind::String), Rule::optional("more", Kind::Object)]),
            ("more", &[Rule::optional("mode", Kind::String).one_of(&["a", "b"])]),
        ];
        let shown = |text: &str| {
            let json: Json = text.parse().unwrap();
            check(&json, RULES).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(shown(r#"{"name":"x","more":{"mode":"a"}}"#), "");
        assert_eq!(
            shown(r#"{"more":{"mode":"c"}}"#),
            "name is missing; more.mode has an unknown value"
        );
        assert_eq!(
            shown(r#"{"name":1,"more":[]}"#),
            "name is a number, not a string; more is an array, not an object"
        );
        assert_eq!(shown("7"), "name is missing");
    }
}
