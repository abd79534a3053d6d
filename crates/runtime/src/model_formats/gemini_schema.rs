//! Schemas for Gemini: only the keywords that its API documents, because an unknown one fails the
//! whole request.
//!
//! References are inlined first (`tools::schema::strict`). A keyword that Gemini does not support is
//! dropped; the arguments are validated again before a call.

use serde_json::{Map, Value, json};
use wharf_protocol::Json;

use super::GeminiSchema;
use super::take;

type Keywords = Map<String, Value>;

/// The formats that Gemini knows.
const FORMATS: [&str; 5] = ["date-time", "float", "double", "int32", "int64"];

/// Returns the schema of the parameters; `None` if there are none, because an object without
/// properties is refused. `inlined` is an object schema without references.
pub(super) fn gemini_schema(inlined: &Json, form: GeminiSchema) -> Option<Value> {
    let inlined = inlined.to::<Value>()?;
    let root = inlined.as_object()?;
    let has_properties = root.get("properties")?.as_object().is_some_and(|it| !it.is_empty());
    let has_more = form == GeminiSchema::JsonSchema && root.contains_key("additionalProperties");
    if !has_properties && !has_more {
        return None;
    }
    Some(match form {
        GeminiSchema::JsonSchema => json_schema(inlined),
        GeminiSchema::OpenApi => open_api(inlined),
    })
}

/// Returns the members of a schema and those of its `allOf`.
fn keywords(schema: Value) -> Keywords {
    let Value::Object(mut keywords) = schema else { return Keywords::new() };
    let Some(Value::Array(all)) = take(&mut keywords, "allOf") else { return keywords };
    for branch in all {
        for (key, value) in self::keywords(branch) {
            match (keywords.get_mut(&key), value) {
                (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => {
                    own.extend(more);
                }
                (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                    own.extend(more);
                }
                (None, value) => drop(keywords.insert(key, value)),
                _ => {}
            }
        }
    }
    if let Some(Value::Array(names)) = keywords.get_mut("required") {
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.to_string()));
    }
    keywords
}

/// Returns the key of the union.
fn union_key(keywords: &Keywords) -> Option<&'static str> {
    let is_list = |key: &&str| keywords.get(*key).is_some_and(Value::is_array);
    let key = ["anyOf", "oneOf"].into_iter().find(is_list)?;
    let all = keywords.get(key)?.as_array()?;
    (!all.is_empty()).then_some(key)
}

fn take_list(keywords: &mut Keywords, key: &str) -> Option<Vec<Value>> {
    match keywords.get_mut(key)?.take() {
        Value::Array(all) => Some(all),
        _ => None,
    }
}

fn fixed_values(keywords: &Keywords) -> Option<Vec<Value>> {
    match (keywords.get("enum"), keywords.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.clone()),
        (_, Some(value)) => Some(vec![value.clone()]),
        _ => None,
    }
}

/// Copies the members that have the same form in both schemas.
fn copy_common(keywords: &Keywords, written: &mut Keywords) {
    let mut copy = |key: &str, is_valid: fn(&Value) -> bool| {
        if let Some(value) = keywords.get(key).filter(|value| is_valid(value)) {
            written.insert(key.to_owned(), value.clone());
        }
    };
    copy("title", Value::is_string);
    copy("description", Value::is_string);
    copy("format", |it| it.as_str().is_some_and(|it| FORMATS.contains(&it)));
    copy("minItems", Value::is_u64);
    copy("maxItems", Value::is_u64);
    copy("minimum", Value::is_number);
    copy("maximum", Value::is_number);
}

fn copy_required(keywords: &Keywords, written: &mut Keywords) {
    let names = keywords.get("required").and_then(Value::as_array);
    let is_property = |name: &&Value| {
        let name = name.as_str().unwrap_or_default();
        written.get("properties").is_some_and(|it| it.get(name).is_some())
    };
    let names: Vec<Value> = names.into_iter().flatten().filter(is_property).cloned().collect();
    if !names.is_empty() {
        written.insert("required".to_owned(), names.into());
    }
}

fn copy_properties(keywords: &mut Keywords, written: &mut Keywords, convert: fn(Value) -> Value) {
    if let Some(Value::Object(properties)) = keywords.get_mut("properties").map(Value::take) {
        let converted: Keywords =
            properties.into_iter().map(|(name, schema)| (name, convert(schema))).collect();
        written.insert("properties".to_owned(), converted.into());
        copy_required(keywords, written);
    }
}

/// Writes the supported keywords of JSON Schema.
fn json_schema(schema: Value) -> Value {
    let mut keywords = keywords(schema);
    let mut written = Keywords::new();
    if let Some(kind) = keywords.get("type").filter(|it| it.as_str().is_some_and(is_type)) {
        written.insert("type".to_owned(), kind.clone());
    }
    copy_common(&keywords, &mut written);
    if let Some(values) = fixed_values(&keywords)
        && !values.is_empty()
        && values.iter().all(|it| it.is_string() || it.is_number())
    {
        written.insert("enum".to_owned(), values.into());
    }
    let tuple = take_list(&mut keywords, "prefixItems");
    let tuple = tuple.or_else(|| match keywords.get("items") {
        Some(Value::Array(_)) => take_list(&mut keywords, "items"),
        _ => None,
    });
    if let Some(items) = keywords.get_mut("items").filter(|it| it.is_object()) {
        written.insert("items".to_owned(), json_schema(items.take()));
    }
    if let Some(items) = tuple {
        let items = items.into_iter().map(json_schema).collect();
        written.insert("prefixItems".to_owned(), items);
    }
    copy_properties(&mut keywords, &mut written, json_schema);
    match keywords.get_mut("additionalProperties").map(Value::take) {
        Some(Value::Bool(is_open)) => {
            written.insert("additionalProperties".to_owned(), is_open.into());
        }
        Some(more) => drop(written.insert("additionalProperties".to_owned(), json_schema(more))),
        None => {}
    }
    if let Some(branches) = union_key(&keywords).and_then(|key| take_list(&mut keywords, key)) {
        let branches = branches.into_iter().map(json_schema).collect();
        written.insert("anyOf".to_owned(), branches);
    }
    written.into()
}

fn is_type(kind: &str) -> bool {
    matches!(kind, "string" | "number" | "integer" | "boolean" | "array" | "object" | "null")
}

/// Writes the subset of OpenAPI. Every schema has a type or is a union, and a union has nothing
/// else beside it, as Vertex AI demands.
fn open_api(schema: Value) -> Value {
    let mut keywords = keywords(schema);
    let Some(kind) = open_api_type(&keywords) else {
        let branches = union_key(&keywords).and_then(|key| take_list(&mut keywords, key));
        return match branches {
            Some(branches) => union_of(branches, &mut keywords),
            None => any_value(&keywords),
        };
    };
    let mut written = Keywords::from_iter([("type".to_owned(), kind.into())]);
    copy_common(&keywords, &mut written);
    if keywords.get("nullable") == Some(&Value::Bool(true)) {
        written.insert("nullable".to_owned(), true.into());
    }
    match kind {
        "OBJECT" => copy_properties(&mut keywords, &mut written, open_api),
        "ARRAY" => {
            let items = keywords.get_mut("items").filter(|it| it.is_object()).map(Value::take);
            let items = items.map_or_else(|| any_value(&Keywords::new()), open_api);
            written.insert("items".to_owned(), items);
        }
        "STRING" => copy_string(&keywords, &mut written),
        _ => {}
    }
    written.into()
}

fn copy_string(keywords: &Keywords, written: &mut Keywords) {
    for key in ["minLength", "maxLength"] {
        if let Some(value) = keywords.get(key).filter(|it| it.is_u64()) {
            written.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(pattern) = keywords.get("pattern").filter(|it| it.is_string()) {
        written.insert("pattern".to_owned(), pattern.clone());
    }
    if let Some(values) = fixed_values(keywords)
        && !values.is_empty()
        && values.iter().all(|it| it.as_str().is_some_and(|it| !it.is_empty()))
    {
        written.insert("format".to_owned(), "enum".into());
        written.insert("enum".to_owned(), values.into());
    }
}

/// Returns the type, as declared or as other keywords imply; `None` for a union and for any value.
fn open_api_type(keywords: &Keywords) -> Option<&'static str> {
    let has = |key: &str| keywords.contains_key(key);
    let has_branches = union_key(keywords).is_some() && !has("properties");
    match keywords.get("type").and_then(Value::as_str) {
        Some("object") if has_branches => None,
        Some("object") => Some("OBJECT"),
        Some("array") => Some("ARRAY"),
        Some("string") => Some("STRING"),
        Some("number") => Some("NUMBER"),
        Some("integer") => Some("INTEGER"),
        Some("boolean") => Some("BOOLEAN"),
        Some("null") => Some("NULL"),
        _ if has_branches => None,
        _ if has("properties") => Some("OBJECT"),
        _ if has("items") => Some("ARRAY"),
        _ => fixed_values(keywords)?.iter().all(Value::is_string).then_some("STRING"),
    }
}

/// Writes a union. Nothing may be beside it, so its type moves into each branch, and its description
/// into the first one: a copy in each would let a long text grow with the number of branches.
fn union_of(branches: Vec<Value>, keywords: &mut Keywords) -> Value {
    let mut description = keywords.get_mut("description").map(Value::take);
    let kind = keywords.get("type").filter(|it| it.is_string());
    let branch = |branch: Value| {
        let mut branch = match branch {
            Value::Object(branch) => branch,
            _ => Keywords::new(),
        };
        if let Some(kind) = kind {
            branch.entry("type").or_insert_with(|| kind.clone());
        }
        if let Some(description) = description.take_if(|_| !branch.contains_key("description")) {
            branch.insert("description".to_owned(), description);
        }
        open_api(branch.into())
    };
    json!({ "anyOf": branches.into_iter().map(branch).collect::<Vec<_>>() })
}

/// The subset has no schema for any value, so the simple ones are offered.
fn any_value(keywords: &Keywords) -> Value {
    let simple = |kind: &str| {
        let mut schema = Keywords::from_iter([("type".to_owned(), kind.into())]);
        if let Some(text) = keywords.get("description").filter(|it| it.is_string()) {
            schema.insert("description".to_owned(), text.clone());
        }
        Value::Object(schema)
    };
    let branches = ["STRING", "NUMBER", "BOOLEAN"].map(simple);
    json!({ "anyOf": branches })
}
