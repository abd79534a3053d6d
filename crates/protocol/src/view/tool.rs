//! Tools as servers describe them.
//!
//! A tool is its name and its text; everything else is read when it is asked for. Hints are a
//! server's own claims: they may inform a person but never replace an approval.

use bytestring::ByteString;

use super::decor::Icon;
use super::fields::{Fields, entry};
use super::odd::{Kind, Rule, Rules};
use crate::Json;

const TOOL: Rules = &[
    (
        "",
        &[
            Rule::needed("name", Kind::String),
            Rule::needed("inputSchema", Kind::Object),
            Rule::optional("title", Kind::String),
            Rule::optional("description", Kind::String),
            Rule::optional("outputSchema", Kind::Object),
            Rule::optional("annotations", Kind::Object),
            Rule::optional("execution", Kind::Object),
            Rule::optional("icons", Kind::Array),
            Rule::optional("_meta", Kind::Object),
        ],
    ),
    ("inputSchema", &[Rule::needed("type", Kind::String).one_of(&["object"])]),
    (
        "annotations",
        &[
            Rule::optional("title", Kind::String),
            Rule::optional("readOnlyHint", Kind::Boolean),
            Rule::optional("destructiveHint", Kind::Boolean),
            Rule::optional("idempotentHint", Kind::Boolean),
            Rule::optional("openWorldHint", Kind::Boolean),
        ],
    ),
    (
        "execution",
        &[Rule::optional("taskSupport", Kind::String).one_of(&[
            "forbidden",
            "optional",
            "required",
        ])],
    ),
];

entry! {
    /// Something that a server can do.
    Tool, "tools", "name" as name, TOOL, parts: ["inputSchema", "description"]
}

impl Tool {
    /// Returns the name for people; older servers put it among the annotations.
    pub fn title(&self) -> Option<ByteString> {
        let title = |raw: &Json| raw.text_at("title").filter(|title| !title.is_empty());
        title(&self.raw).or_else(|| title(&self.raw.object_at("annotations")?))
    }

    /// Returns what it does, in the server's words.
    pub fn description(&self) -> Option<ByteString> {
        self.parts.get(&self.raw, 1)?.as_text()
    }

    /// Returns the schema of its arguments; `None` if what stands there is no schema at all.
    ///
    /// A schema that is missing, `null` or `true` allows every object, which is what such servers
    /// mean.
    pub fn input_schema(&self) -> Option<Json> {
        meant(self.parts.get(&self.raw, 0))
    }

    /// Returns the schema of its structured content.
    pub fn output_schema(&self) -> Option<Json> {
        self.raw.object_at("outputSchema")
    }

    /// Returns the server's hints; those of the wrong type count as not given.
    pub fn hints(&self) -> ToolHints {
        let Some(annotations) = self.raw.object_at("annotations") else {
            return ToolHints::default();
        };
        ToolHints {
            read_only: annotations.flag_at("readOnlyHint"),
            destructive: annotations.flag_at("destructiveHint"),
            idempotent: annotations.flag_at("idempotentHint"),
            open_world: annotations.flag_at("openWorldHint"),
        }
    }

    /// Returns its pictures.
    pub fn icons(&self) -> Vec<Icon> {
        Icon::of(&self.raw)
    }
}

fn meant(schema: Option<Json>) -> Option<Json> {
    match schema {
        Some(schema) if schema.is_object() => Some(schema),
        Some(schema) if !schema.is_null() && schema.as_str() != "true" => None,
        _ => Some(Json::trusted(r#"{"type":"object"}"#)),
    }
}

/// What a server says about the effects of a tool; `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Doing it twice is the same as doing it once.
    pub idempotent: Option<bool>,
    /// It reaches beyond the server.
    pub open_world: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::*;

    fn tool(rest: &str) -> Tool {
        Tool::read(format!(r#"{{"name":"t"{rest}}}"#).parse().unwrap()).unwrap()
    }

    fn check(rest: &str, schema: Option<&str>, oddities: &str) {
        let tool = tool(rest);
        assert_eq!(tool.input_schema().as_ref().map(Json::as_str), schema, "{rest}");
        let found: Vec<_> = tool.oddities().iter().map(ToString::to_string).collect();
        assert_eq!(found.join("; "), oddities, "{rest}");
    }

    #[test]
    fn a_tool_without_a_usual_schema_can_still_be_called() {
        let any = Some(r#"{"type":"object"}"#);
        check(r#","inputSchema":{"type":"object"}"#, any, "");
        check("", any, r#""t": inputSchema is missing"#);
        check(r#","inputSchema":null"#, any, r#""t": inputSchema is null, not an object"#);
        check(r#","inputSchema":true"#, any, r#""t": inputSchema is a boolean, not an object"#);
        check(r#","inputSchema":{}"#, Some("{}"), r#""t": inputSchema.type is missing"#);
    }

    #[test]
    fn what_is_no_schema_is_not_taken_for_one() {
        check(r#","inputSchema":false"#, None, r#""t": inputSchema is a boolean, not an object"#);
        check(r#","inputSchema":"x""#, None, r#""t": inputSchema is a string, not an object"#);
        check(r#","inputSchema":[]"#, None, r#""t": inputSchema is an array, not an object"#);
    }

    #[test]
    fn a_hint_of_the_wrong_type_is_no_hint() {
        let tool = tool(
            r#","inputSchema":{"type":"object"},"title":null,
            "annotations":{"readOnlyHint":"true","destructiveHint":false,"title":"T"}"#,
        );
        assert_eq!(tool.hints(), ToolHints { destructive: Some(false), ..ToolHints::default() });
        assert_eq!(tool.title().unwrap(), "T");
        let oddities: Vec<_> = tool.oddities().iter().map(ToString::to_string).collect();
        assert_eq!(
            oddities,
            [
                r#""t": title is null, not a string"#,
                r#""t": annotations.readOnlyHint is a string, not a boolean"#
            ]
        );
    }
}
