//! Tools of servers: name, description, schemas, hints.
//!
//! A tool keeps its name and its JSON text; other members are parsed on demand. Hints are
//! untrusted: they may inform a person but never replace an approval.

use bytestring::ByteString;

use super::fields::entry;
use super::violation::{JsonType, MemberRule, ObjectRules};
use crate::Json;

const TOOL: ObjectRules = &[
    (
        "",
        &[
            MemberRule::required("name", JsonType::String),
            MemberRule::required("inputSchema", JsonType::Object),
            MemberRule::optional("title", JsonType::String),
            MemberRule::optional("description", JsonType::String),
            MemberRule::optional("outputSchema", JsonType::Object),
            MemberRule::optional("annotations", JsonType::Object),
            MemberRule::optional("execution", JsonType::Object),
            MemberRule::optional("icons", JsonType::Array),
            MemberRule::optional("_meta", JsonType::Object),
        ],
    ),
    ("inputSchema", &[MemberRule::required("type", JsonType::String).one_of(&["object"])]),
    (
        "annotations",
        &[
            MemberRule::optional("title", JsonType::String),
            MemberRule::optional("readOnlyHint", JsonType::Boolean),
            MemberRule::optional("destructiveHint", JsonType::Boolean),
            MemberRule::optional("idempotentHint", JsonType::Boolean),
            MemberRule::optional("openWorldHint", JsonType::Boolean),
        ],
    ),
    (
        "execution",
        &[MemberRule::optional("taskSupport", JsonType::String).one_of(&[
            "forbidden",
            "optional",
            "required",
        ])],
    ),
];

entry! {
    /// A tool of a server.
    ToolDefinition, "tools", "name" as name, TOOL, spans: ["inputSchema", "description"]
}

impl ToolDefinition {
    /// Returns the display name; older servers have it in the annotations.
    pub fn title(&self) -> Option<ByteString> {
        let title = |raw: &Json| raw.text_at("title").filter(|title| !title.is_empty());
        title(&self.raw).or_else(|| title(&self.raw.object_at("annotations")?))
    }

    /// Returns the server's description: untrusted text.
    pub fn description(&self) -> Option<ByteString> {
        self.spans.get(&self.raw, 1)?.to_shared_text()
    }

    /// Returns the schema of the arguments; `None` if the value is not a schema.
    ///
    /// If the schema is missing, `null` or `true`, every object is allowed.
    pub fn input_schema(&self) -> Option<Json> {
        usable_schema(self.spans.get(&self.raw, 0))
    }

    /// Returns the schema of the structured content.
    pub fn output_schema(&self) -> Option<Json> {
        self.raw.object_at("outputSchema")
    }

    /// Returns the server's hints; hints of the wrong type are ignored.
    pub fn hints(&self) -> ToolHints {
        let Some(annotations) = self.raw.object_at("annotations") else {
            return ToolHints::default();
        };
        ToolHints {
            read_only: annotations.bool_at("readOnlyHint"),
            destructive: annotations.bool_at("destructiveHint"),
            idempotent: annotations.bool_at("idempotentHint"),
            open_world: annotations.bool_at("openWorldHint"),
        }
    }
}

fn usable_schema(schema: Option<Json>) -> Option<Json> {
    match schema {
        Some(schema) if schema.is_object() => Some(schema),
        Some(schema) if !schema.is_null() && schema.as_str() != "true" => None,
        _ => Some(Json::trusted(r#"{"type":"object"}"#)),
    }
}

/// The hints of a server about the effects of a tool; `None` if not specified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may delete or overwrite data.
    pub destructive: Option<bool>,
    /// Repeated calls have no additional effect.
    pub idempotent: Option<bool>,
    /// It interacts with systems outside of the server.
    pub open_world: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::super::ListEntry;
    use super::*;

    fn tool(rest: &str) -> ToolDefinition {
        ToolDefinition::read(format!(r#"{{"name":"t"{rest}}}"#).parse().unwrap()).unwrap()
    }

    fn check(rest: &str, schema: Option<&str>, violations: &str) {
        let tool = tool(rest);
        assert_eq!(tool.input_schema().as_ref().map(Json::as_str), schema, "{rest}");
        let found: Vec<_> = tool.violations().iter().map(ToString::to_string).collect();
        assert_eq!(found.join("; "), violations, "{rest}");
    }

    #[test]
    fn a_missing_schema_allows_every_object() {
        let any = Some(r#"{"type":"object"}"#);
        check(r#","inputSchema":{"type":"object"}"#, any, "");
        check("", any, r#""t": inputSchema is missing"#);
        check(r#","inputSchema":null"#, any, r#""t": inputSchema is null, not an object"#);
        check(r#","inputSchema":true"#, any, r#""t": inputSchema is a boolean, not an object"#);
        check(r#","inputSchema":{}"#, Some("{}"), r#""t": inputSchema.type is missing"#);
    }

    #[test]
    fn a_value_that_is_not_a_schema_is_rejected() {
        check(r#","inputSchema":false"#, None, r#""t": inputSchema is a boolean, not an object"#);
        check(r#","inputSchema":"x""#, None, r#""t": inputSchema is a string, not an object"#);
        check(r#","inputSchema":[]"#, None, r#""t": inputSchema is an array, not an object"#);
    }

    #[test]
    fn a_hint_of_the_wrong_type_is_ignored() {
        let tool = tool(
            r#","inputSchema":{"type":"object"},"title":null,
            "annotations":{"readOnlyHint":"true","destructiveHint":false,"title":"T"}"#,
        );
        assert_eq!(tool.hints(), ToolHints { destructive: Some(false), ..ToolHints::default() });
        assert_eq!(tool.title().unwrap(), "T");
        let violations: Vec<_> = tool.violations().iter().map(ToString::to_string).collect();
        assert_eq!(
            violations,
            [
                r#""t": title is null, not a string"#,
                r#""t": annotations.readOnlyHint is a string, not a boolean"#
            ]
        );
    }
}
