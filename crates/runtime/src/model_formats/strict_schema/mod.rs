//! Strict schemas for OpenAI: every object is closed, every property is required, and an optional
//! one may be `null` instead.
//!
//! Unsupported keywords that only restrict values are dropped, because the arguments are validated
//! again before a call. A schema that would lose values, such as an object with any members,
//! cannot be made strict; [`NotStrict`] says why. The rules are those of "Structured Outputs,
//! supported schemas" in the documentation of OpenAI.

mod limits;
mod values;

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::object_schema::object_value;
use super::take;
use values::{add_null, copy_constraints, copy_notes, types};

/// The maximum nesting that is read, which also bounds the recursion.
const MAX_DEPTH: usize = 40;

/// Why the schema of a tool has no strict form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{reason} at `{at}`")]
pub struct NotStrict {
    /// The reason.
    pub reason: NotStrictReason,
    /// The place in the schema, as property names and keywords joined with `/`; empty for the root.
    pub at: String,
}

/// What a strict schema cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStrictReason {
    /// An object may have members that the schema does not name.
    FreeFormObject,
    /// Any value is allowed.
    AnyValue,
    /// A keyword that changes which values are allowed is not supported.
    Keyword(&'static str),
    /// A reference points to something else than a definition of the same schema.
    Reference,
    /// A name is required, but its schema is not given.
    UnknownRequiredName,
    /// The schema has more properties, values or levels than the provider accepts.
    TooLarge,
    /// The schema has numbers that cannot be represented.
    Numbers,
}

/// Serializes as its text.
impl Serialize for NotStrictReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for NotStrictReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FreeFormObject => f.write_str("an object may have any members"),
            Self::AnyValue => f.write_str("any value is allowed"),
            Self::Keyword(keyword) => write!(f, "`{keyword}` is not supported"),
            Self::Reference => f.write_str("a reference is not to a definition"),
            Self::UnknownRequiredName => f.write_str("a required name is not a property"),
            Self::TooLarge => f.write_str("the schema is too large"),
            Self::Numbers => f.write_str("a number cannot be represented"),
        }
    }
}

/// Returns the strict form of a schema.
pub(super) fn strict(schema: &Value) -> Result<Value, NotStrict> {
    let root = Value::Object(object_value(schema));
    let mut converter = Converter { root: &root, place: Vec::new(), used: Vec::new() };
    let mut strict = converter.object(converter.keywords(&root)?, Position::Root, 0)?;
    converter.add_definitions(&mut strict)?;
    let strict = Value::Object(strict);
    if limits::is_within(&strict) {
        Ok(strict)
    } else {
        Err(converter.refuse(NotStrictReason::TooLarge))
    }
}

/// Where an object is: the root may have no properties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Inside,
}

type Keywords = Map<String, Value>;

struct Converter<'a> {
    root: &'a Value,
    place: Vec<String>,
    /// The names of the definitions that are used, in the order of their first use.
    used: Vec<String>,
}

impl<'a> Converter<'a> {
    fn refuse(&self, reason: NotStrictReason) -> NotStrict {
        NotStrict { reason, at: self.place.join("/") }
    }

    fn keywords<'s>(&self, schema: &'s Value) -> Result<&'s Keywords, NotStrict> {
        schema.as_object().ok_or_else(|| self.refuse(NotStrictReason::AnyValue))
    }

    /// Converts a schema at a place below the current one.
    fn below(&mut self, name: &str, schema: &Value, depth: usize) -> Result<Keywords, NotStrict> {
        self.place.push(name.to_owned());
        let converted = self.schema(schema, depth + 1)?;
        self.place.pop();
        Ok(converted)
    }

    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Keywords, NotStrict> {
        let keywords = self.keywords(schema)?;
        if depth > MAX_DEPTH {
            return Err(self.refuse(NotStrictReason::TooLarge));
        }
        let mut strict = self.without_nullable(keywords, depth)?;
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            add_null(&mut strict);
        }
        Ok(strict)
    }

    fn without_nullable(
        &mut self,
        keywords: &Keywords,
        depth: usize,
    ) -> Result<Keywords, NotStrict> {
        if let Some(reference) = keywords.get("$ref") {
            return self.reference(reference, keywords);
        }
        if let Some(Value::Array(all)) = keywords.get("allOf") {
            let [only] = all.as_slice() else {
                return Err(self.refuse(NotStrictReason::Keyword("allOf")));
            };
            let mut merged = keywords.clone();
            drop(take(&mut merged, "allOf"));
            for (key, value) in self.keywords(only)? {
                merged.entry(key).or_insert_with(|| value.clone());
            }
            return self.schema(&merged.into(), depth + 1);
        }
        let types = types(keywords);
        let union = ["anyOf", "oneOf"].into_iter().find_map(|key| keywords.get(key)?.as_array());
        match union {
            Some(branches)
                if types.iter().all(|it| it == "object")
                    && !keywords.contains_key("properties") =>
            {
                self.union(branches, keywords, depth)
            }
            _ => self.typed(keywords, &types, depth),
        }
    }

    fn reference(&mut self, reference: &Value, keywords: &Keywords) -> Result<Keywords, NotStrict> {
        let text = reference.as_str().unwrap_or_default();
        let name =
            ["#/$defs/", "#/definitions/"].into_iter().find_map(|head| text.strip_prefix(head));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let target = match name {
            _ if text == "#" => text.to_owned(),
            Some(name)
                if !name.is_empty()
                    && name.chars().all(is_plain)
                    && self.definition(name).is_some() =>
            {
                if !self.used.iter().any(|used| used == name) {
                    self.used.push(name.to_owned());
                }
                format!("#/$defs/{name}")
            }
            _ => return Err(self.refuse(NotStrictReason::Reference)),
        };
        let reference = Keywords::from_iter([("$ref".to_owned(), target.into())]);
        let mut notes = Keywords::new();
        copy_notes(keywords, &mut notes);
        if notes.is_empty() {
            return Ok(reference);
        }
        // No keyword is accepted beside a reference.
        notes.insert("anyOf".to_owned(), vec![Value::Object(reference)].into());
        Ok(notes)
    }

    fn definition(&self, name: &str) -> Option<&'a Value> {
        let root: &'a Value = self.root;
        ["$defs", "definitions"].into_iter().find_map(|key| root.get(key)?.get(name))
    }

    fn union(
        &mut self,
        branches: &[Value],
        keywords: &Keywords,
        depth: usize,
    ) -> Result<Keywords, NotStrict> {
        let mut strict = Keywords::new();
        copy_notes(keywords, &mut strict);
        let mut converted = Vec::with_capacity(branches.len());
        for branch in branches {
            let mut branch = branch.clone();
            if let (Some(branch), Some(kind)) = (branch.as_object_mut(), keywords.get("type"))
                && !branch.contains_key("$ref")
            {
                branch.entry("type").or_insert_with(|| kind.clone());
            }
            converted.push(Value::Object(self.below("anyOf", &branch, depth)?));
        }
        if converted.is_empty() {
            return Err(self.refuse(NotStrictReason::Keyword("anyOf")));
        }
        strict.insert("anyOf".to_owned(), converted.into());
        Ok(strict)
    }

    fn typed(
        &mut self,
        keywords: &Keywords,
        types: &[String],
        depth: usize,
    ) -> Result<Keywords, NotStrict> {
        let others: Vec<&str> =
            types.iter().map(String::as_str).filter(|kind| *kind != "null").collect();
        match others[..] {
            [] if types.is_empty() => Err(self.refuse(NotStrictReason::AnyValue)),
            ["object"] => {
                self.nullable_if(types, |it| it.object(keywords, Position::Inside, depth))
            }
            ["array"] => self.nullable_if(types, |it| it.array(keywords, depth)),
            _ if others.iter().any(|kind| matches!(*kind, "object" | "array")) => {
                let branch = |kind: &String| {
                    let mut branch = keywords.clone();
                    branch.insert("type".to_owned(), kind.as_str().into());
                    Value::Object(branch)
                };
                let branches: Vec<Value> = types.iter().map(branch).collect();
                self.union(&branches, &Keywords::new(), depth)
            }
            _ => {
                let mut strict = Keywords::new();
                let kind =
                    if let [only] = types { only.as_str().into() } else { types.to_vec().into() };
                strict.insert("type".to_owned(), kind);
                copy_notes(keywords, &mut strict);
                let copied = copy_constraints(keywords, types, &mut strict);
                copied.map_err(|keyword| self.refuse(NotStrictReason::Keyword(keyword)))?;
                Ok(strict)
            }
        }
    }

    fn nullable_if(
        &mut self,
        types: &[String],
        convert: impl FnOnce(&mut Self) -> Result<Keywords, NotStrict>,
    ) -> Result<Keywords, NotStrict> {
        let mut strict = convert(self)?;
        if types.len() > 1 {
            add_null(&mut strict);
        }
        Ok(strict)
    }

    fn object(
        &mut self,
        keywords: &Keywords,
        position: Position,
        depth: usize,
    ) -> Result<Keywords, NotStrict> {
        let is_open = |key: &str| keywords.get(key).is_some_and(|it| *it != Value::Bool(false));
        let has_patterns = keywords
            .get("patternProperties")
            .and_then(Value::as_object)
            .is_some_and(|it| !it.is_empty());
        let none = Keywords::new();
        let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
        let is_free = properties.is_empty() && position == Position::Inside && !is_closed;
        if is_open("additionalProperties") || has_patterns || is_free {
            return Err(self.refuse(NotStrictReason::FreeFormObject));
        }
        for fixed in ["enum", "const"] {
            if keywords.contains_key(fixed) {
                return Err(self.refuse(NotStrictReason::Keyword(if fixed == "enum" {
                    "enum"
                } else {
                    "const"
                })));
            }
        }
        let required =
            keywords.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if required
            .iter()
            .any(|name| !name.as_str().is_some_and(|name| properties.contains_key(name)))
        {
            return Err(self.refuse(NotStrictReason::UnknownRequiredName));
        }
        let mut strict = Keywords::from_iter([("type".to_owned(), "object".into())]);
        copy_notes(keywords, &mut strict);
        let mut converted = Keywords::new();
        for (name, schema) in properties {
            let mut property = self.below(name, schema, depth)?;
            if !required.iter().any(|it| it == name) {
                add_null(&mut property);
            }
            converted.insert(name.clone(), property.into());
        }
        let names: Vec<Value> = converted.keys().map(|name| name.as_str().into()).collect();
        strict.insert("properties".to_owned(), converted.into());
        strict.insert("required".to_owned(), names.into());
        strict.insert("additionalProperties".to_owned(), false.into());
        Ok(strict)
    }

    fn array(&mut self, keywords: &Keywords, depth: usize) -> Result<Keywords, NotStrict> {
        for tuple in ["prefixItems", "enum", "const"] {
            if keywords.contains_key(tuple) {
                return Err(self.refuse(NotStrictReason::Keyword(tuple)));
            }
        }
        let mut strict = Keywords::from_iter([("type".to_owned(), "array".into())]);
        copy_notes(keywords, &mut strict);
        let items = keywords.get("items").unwrap_or(&Value::Null);
        if items.is_array() {
            return Err(self.refuse(NotStrictReason::Keyword("items")));
        }
        let items = self.below("items", items, depth)?;
        strict.insert("items".to_owned(), items.into());
        for key in ["minItems", "maxItems"] {
            if let Some(value) = keywords.get(key).filter(|it| it.is_u64()) {
                strict.insert(key.to_owned(), value.clone());
            }
        }
        Ok(strict)
    }

    /// Adds the definitions that are used, also by other definitions.
    fn add_definitions(&mut self, strict: &mut Keywords) -> Result<(), NotStrict> {
        let mut definitions = Keywords::new();
        let mut done = 0;
        while let Some(name) = self.used.get(done).cloned() {
            done += 1;
            self.place = vec!["$defs".to_owned()];
            let schema = self.definition(&name).unwrap_or(&Value::Null);
            let converted = self.below(&name, schema, 0)?;
            definitions.insert(name, converted.into());
        }
        self.place.clear();
        if !definitions.is_empty() {
            strict.insert("$defs".to_owned(), definitions.into());
        }
        Ok(())
    }
}
