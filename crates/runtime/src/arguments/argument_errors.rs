//! Describes which arguments are wrong and what is expected, without repeating values.
//!
//! Arguments may be long or secret, so only their types are named. Expected values come from the
//! schema and are cut.

use std::fmt::Write as _;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;
use wharf_config::text::{clip, nearest};

use super::invalid_arguments::{InvalidArguments, type_of};

/// How many problems are described.
const MAX_TOLD: usize = 5;

/// How many characters of a name or a value are shown.
const LONGEST: usize = 120;

/// Describes validation errors of one tool's arguments.
pub(super) struct ArgumentErrorWriter<'a> {
    /// The names of the tool's arguments.
    pub(super) known: &'a [String],
    /// Whether the tool rejects arguments with other names.
    pub(super) allows_no_others: bool,
}

impl ArgumentErrorWriter<'_> {
    /// Collects the problems; `None` if there are none.
    pub(super) fn collect<'i>(
        &self,
        errors: impl Iterator<Item = ValidationError<'i>>,
    ) -> Option<InvalidArguments> {
        let mut invalid = InvalidArguments { problems: Vec::new(), more: 0 };
        for error in errors {
            if invalid.problems.len() < MAX_TOLD {
                invalid.problems.push(self.describe(&error));
            } else {
                invalid.more += 1;
            }
        }
        (!invalid.problems.is_empty()).then_some(invalid)
    }

    fn describe(&self, error: &ValidationError<'_>) -> String {
        let at = error.instance_path();
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let missing = format!("{} is missing", field(&at.join(name)));
                match self.misspelled(name, error.instance()).filter(|_| at.is_empty()) {
                    Some(misspelled) => {
                        format!("{}; {missing}", self.unknown(at, &[misspelled.to_owned()]))
                    }
                    None => missing,
                }
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => self.unknown(at, unexpected),
            _ => {
                let place = if at.is_empty() { "the whole".to_owned() } else { field(at) };
                format!("{place} {}", expectation(error))
            }
        }
    }

    /// Returns the misspelled name of a missing argument: an unknown name that is similar. Only if
    /// other names are allowed, because otherwise the unknown name is reported anyway.
    fn misspelled<'i>(&self, missing: &str, arguments: &'i Value) -> Option<&'i str> {
        if self.allows_no_others {
            return None;
        }
        let names = arguments.as_object()?.keys().map(String::as_str);
        nearest(missing, names.filter(|name| !self.known.iter().any(|known| known == name)))
    }

    fn unknown(&self, at: &Location, unexpected: &[String]) -> String {
        let names = unexpected.iter().take(MAX_TOLD).map(|name| {
            let mut text = field(&at.join(name.as_str()));
            let known = self.known.iter().map(String::as_str);
            if let Some(meant) = nearest(name, known).filter(|_| at.is_empty()) {
                let _infallible = write!(text, " (did you mean \"{}\"?)", clip(meant, LONGEST));
            }
            text
        });
        format!("unknown {}", names.collect::<Vec<_>>().join(", "))
    }
}

/// Returns the quoted path of an argument: `"a.b[0]"`.
fn field(at: &Location) -> String {
    let mut name = String::new();
    for segment in at.segments() {
        match segment {
            LocationSegment::Index(place) => {
                let _infallible = write!(name, "[{place}]");
            }
            LocationSegment::Property(key) => {
                let dot = if name.is_empty() { "" } else { "." };
                let _infallible = write!(name, "{dot}{key}");
            }
        }
    }
    format!("\"{}\"", clip(&name, LONGEST))
}

fn expectation(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type { kind } => {
            format!("must be {}, not {}", types(kind), type_of(error.instance()))
        }
        Kind::Enum { options } => format!("must be one of {}", listed(options)),
        Kind::Constant { expected_value } => {
            format!("must be {}", clip(&expected_value.to_string(), LONGEST))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(error, context),
        Kind::OneOfMultipleValid { .. } => "matches more than one of its allowed forms".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern {}", clip(pattern, LONGEST)),
        Kind::Not { .. } | Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} members"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::UniqueItems => "must not have the same item twice".to_owned(),
        Kind::Contains => "lacks an item that it must have".to_owned(),
        Kind::PropertyNames { .. } => "has a member with a name that is not allowed".to_owned(),
        kind => format!("does not match the schema (keyword `{}`)", clip(kind.keyword(), LONGEST)),
    }
}

/// Describes the alternatives: `must be a string or null, not a number` if they are only types.
fn alternatives(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let first: Vec<_> = context.iter().filter_map(|branch| branch.first()).collect();
    let wanted: Option<Vec<String>> = first
        .iter()
        .map(|it| match it.kind() {
            Kind::Type { kind } if it.instance_path() == error.instance_path() => Some(types(kind)),
            _ => None,
        })
        .collect();
    if let Some(mut wanted) = wanted.filter(|wanted| !wanted.is_empty()) {
        wanted.dedup();
        return format!("must be {}, not {}", wanted.join(" or "), type_of(error.instance()));
    }
    let forms = first.iter().take(3).map(|it| {
        let writer = ArgumentErrorWriter { known: &[], allows_no_others: false };
        if it.instance_path() == error.instance_path() && !is_named(it.kind()) {
            expectation_of_leaf(it)
        } else {
            writer.describe_leaf(it)
        }
    });
    format!(
        "matches none of its allowed forms: {}",
        clip(&forms.collect::<Vec<_>>().join(", or "), 3 * LONGEST)
    )
}

impl ArgumentErrorWriter<'_> {
    /// Describes an error in an alternative, but not in nested alternatives.
    fn describe_leaf(&self, error: &ValidationError<'_>) -> String {
        if is_nested(error.kind()) { expectation_of_leaf(error) } else { self.describe(error) }
    }
}

fn expectation_of_leaf(error: &ValidationError<'_>) -> String {
    if is_nested(error.kind()) {
        "must match one of several forms".to_owned()
    } else {
        expectation(error)
    }
}

fn is_nested(kind: &Kind) -> bool {
    matches!(kind, Kind::AnyOf { .. } | Kind::OneOfNotValid { .. })
}

/// Tells whether the description names a member itself.
fn is_named(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Required { .. }
            | Kind::AdditionalProperties { .. }
            | Kind::UnevaluatedProperties { .. }
    )
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(*one).to_owned(),
        TypeKind::Multiple(many) => many.iter().map(with_article).collect::<Vec<_>>().join(" or "),
    }
}

fn with_article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

fn listed(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut rendered: Vec<String> =
        options.iter().take(20).map(|option| clip(&option.to_string(), 40)).collect();
    if options.len() > rendered.len() {
        rendered.push("…".to_owned());
    }
    clip(&rendered.join(", "), 3 * LONGEST)
}
