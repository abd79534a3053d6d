//! The arguments of a tool as a list: name, type, required, default, choices.
//!
//! Only the properties of the schema are listed; other keywords are ignored here. All texts are
//! untrusted text of the server.

use std::collections::HashMap;

use serde_json::Value;
use wharf_config::text::clip;
use wharf_protocol::Json;

use super::argument_schemas::{ArgumentSchemas, branches, names_in_order};

/// How many arguments are listed; a schema may have thousands.
const MAX_ARGUMENTS: usize = 500;

/// How many choices of one argument are kept.
const MAX_CHOICES: usize = 50;

/// How many characters of a type, a default or a choice are kept.
const LONGEST: usize = 120;

/// The arguments of a tool, those that are required first.
///
/// ```
/// use wharf::arguments::Signature;
///
/// let schema = r#"{"properties":{"limit":{"type":"integer","default":10},
///     "path":{"type":"string"}},"required":["path"]}"#.parse()?;
/// let signature = Signature::of(&schema);
/// let shown: Vec<String> = signature.arguments.iter()
///     .map(|argument| format!("{}: {}", argument.name, argument.kind))
///     .collect();
/// assert_eq!(shown, ["path: string", "limit: integer"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Signature {
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// How many more there are than listed.
    pub more: usize,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type in words: `string`, `integer or null`, `list of strings`, `any`.
    pub kind: String,
    /// Whether it is a list, so that it may be given several times.
    pub is_list: bool,
    /// Whether it is required.
    pub is_required: bool,
    /// Its default value, as JSON.
    pub default: Option<String>,
    /// The only accepted values: strings unquoted, everything else as JSON.
    pub choices: Vec<String>,
    /// Its description: untrusted text.
    pub description: Option<String>,
}

impl Signature {
    /// Reads the arguments of a schema; empty if it has no properties.
    pub fn of(schema: &Json) -> Self {
        let order = names_in_order(schema);
        let order: HashMap<&str, usize> =
            order.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let schema = schema.to::<Value>().unwrap_or_default();
        let schemas = ArgumentSchemas::new(&schema);
        let properties = schemas.properties().into_iter().flatten();
        let mut properties: Vec<(&str, &Value)> =
            properties.map(|(name, schema)| (name.as_str(), schema)).collect();
        properties.sort_by_key(|(name, _)| order.get(name).copied());
        let required = required(schemas.root());
        // An argument may be required and not described.
        let is_described = |name: &str| properties.iter().any(|(known, _)| *known == name);
        let bare =
            required.iter().filter(|name| !is_described(name)).map(|name| (*name, &Value::Null));
        let all: Vec<(&str, &Value)> = properties.iter().copied().chain(bare).collect();
        let mut arguments: Vec<Argument> = all
            .iter()
            .take(MAX_ARGUMENTS)
            .map(|(name, schema)| argument(name, schema, schemas, required.contains(name)))
            .collect();
        arguments.sort_by_key(|argument| !argument.is_required);
        let more = all.len() - arguments.len();
        Self { arguments, more }
    }
}

/// Returns the names of the arguments that a schema requires.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn argument(
    name: &str,
    schema: &Value,
    schemas: ArgumentSchemas<'_>,
    is_required: bool,
) -> Argument {
    // Annotations beside a reference are about this argument.
    let target = schemas.follow(schema);
    let find = |key: &str| schema.get(key).or_else(|| target.get(key));
    let description = find("description").or_else(|| find("title")).and_then(Value::as_str);
    let types = schemas.types_of(target);
    Argument {
        name: name.to_owned(),
        kind: kind(&types, target, schemas),
        is_list: types.contains(&"array"),
        is_required,
        default: find("default").map(|value| clip(&value.to_string(), LONGEST)),
        choices: choices(target, schemas),
        description: description.map(|text| text.trim().to_owned()).filter(|it| !it.is_empty()),
    }
}

/// Names the types that a schema allows.
fn kind(types: &[&str], schema: &Value, schemas: ArgumentSchemas<'_>) -> String {
    let mut words: Vec<String> = Vec::new();
    for name in types {
        let word = match *name {
            "array" => {
                let items = list_items(schema, schemas).map(|items| schemas.types_of(items));
                let items = items.unwrap_or_default();
                match items.as_slice() {
                    [one] => format!("list of {}", plural(one)),
                    _ => "list".to_owned(),
                }
            }
            other => clip(other, LONGEST),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.is_empty() { "any".to_owned() } else { clip(&words.join(" or "), LONGEST) }
}

fn plural(kind: &str) -> String {
    match kind {
        "array" => "lists".to_owned(),
        "null" => "null".to_owned(),
        other => format!("{}s", clip(other, LONGEST)),
    }
}

/// Finds the schema of the items of a list, also in an alternative.
fn list_items<'a>(schema: &'a Value, schemas: ArgumentSchemas<'a>) -> Option<&'a Value> {
    let own = schema.get("items");
    own.or_else(|| branches(schema).find_map(|it| schemas.follow(it).get("items")))
}

/// Returns the only values that a schema accepts; empty if it accepts others.
fn choices(schema: &Value, schemas: ArgumentSchemas<'_>) -> Vec<String> {
    let own = schema.get("enum").and_then(Value::as_array);
    let constant = |schema: &Value| schema.get("const").cloned();
    let values: Vec<Value> = match (own, constant(schema)) {
        (Some(values), _) => values.iter().take(MAX_CHOICES).cloned().collect(),
        (None, Some(value)) => vec![value],
        (None, None) => {
            // Some schemas define choices as alternatives with one `const` each.
            let branches = branches(schema).map(|it| constant(schemas.follow(it)));
            branches.collect::<Option<Vec<Value>>>().unwrap_or_default()
        }
    };
    values.iter().map(choice_text).collect()
}

fn choice_text(value: &Value) -> String {
    match value {
        Value::String(text) => clip(text, LONGEST),
        other => clip(&other.to_string(), LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(schema: &str) -> String {
        let signature = Signature::of(&schema.parse().unwrap());
        let line = |it: &Argument| {
            let required = if it.is_required { "!" } else { "" };
            let default = it.default.as_ref().map(|it| format!(" = {it}")).unwrap_or_default();
            let choices = match it.choices.as_slice() {
                [] => String::new(),
                choices => format!(" of {}", choices.join("|")),
            };
            let about = it.description.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            format!("{}{required}: {}{choices}{default}{about}", it.name, it.kind)
        };
        let lines: Vec<String> = signature.arguments.iter().map(line).collect();
        lines.join("\n")
    }

    #[test]
    fn arguments_are_listed_with_what_the_schema_says() {
        let schema = r##"{"type":"object","required":["path","mode","bare"],"properties":{
            "limit":{"type":"integer","default":10,"description":" How many\n"},
            "path":{"type":"string","title":"Where"},
            "mode":{"enum":["fast","slow",3]},
            "fixed":{"const":"x"},
            "style":{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]},
            "tags":{"type":"array","items":{"type":"string"}},
            "grid":{"type":"array","items":{"type":"array"}},
            "mixed":{"type":"array","items":{"type":["string","integer"]}},
            "maybe":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/id"}},{"type":"null"}],"default":null},
            "id":{"$ref":"#/$defs/id","description":"Which one"},
            "any":{},"yes":true,"filter":{"type":"object"}},
            "$defs":{"id":{"type":"integer","description":"An id"}}}"##;
        insta::assert_snapshot!(rendered(schema), @"
        path!: string (Where)
        mode!: string or number of fast|slow|3
        bare!: any
        limit: integer = 10 (How many)
        fixed: string of x
        style: string of a|b
        tags: list of strings
        grid: list of lists
        mixed: list
        maybe: list of integers or null = null
        id: integer (Which one)
        any: any
        yes: any
        filter: object
        ");
    }

    #[test]
    fn a_schema_without_properties_has_no_arguments() {
        for schema in ["null", "7", "{}", r#"{"properties":7}"#, r##"{"$ref":"#"}"##] {
            assert_eq!(Signature::of(&schema.parse().unwrap()), Signature::default(), "{schema}");
        }
    }

    #[test]
    fn thousands_of_arguments_are_counted_but_not_listed() {
        let names: Vec<String> = (0..2000).map(|it| format!("\"a{it}\":{{}}")).collect();
        let schema = format!(r#"{{"properties":{{{}}}}}"#, names.join(","));
        let signature = Signature::of(&schema.parse().unwrap());
        assert_eq!((signature.arguments.len(), signature.more), (MAX_ARGUMENTS, 1500));
    }
}
