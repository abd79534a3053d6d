//! Quirks of single tools: one odd entry among two good ones.

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Expect, WARNS, WORKS};

/// A list of tools as the result of `tools/list`.
const fn listed(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Result("tools/list", result))
}

/// One odd entry between the two good tools.
macro_rules! one_odd {
    ($name:literal, $sentence:literal, $tool:literal) => {
        one_odd!($name, $sentence, WARNS, $tool)
    };
    ($name:literal, $sentence:literal, $expect:expr, $tool:literal) => {
        listed($name, $sentence, $expect, concat!(r#"{"tools":[$ECHO,"#, $tool, r#",$ADD]}"#))
    };
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    one_odd!("tool-without-schema", "has a tool without an input schema", r#"{"name":"odd"}"#),
    one_odd!(
        "tool-schema-null",
        "has a tool whose input schema is null",
        r#"{"name":"odd","inputSchema":null}"#
    ),
    one_odd!(
        "tool-schema-boolean",
        "has a tool whose input schema is true",
        r#"{"name":"odd","inputSchema":true}"#
    ),
    one_odd!(
        "tool-schema-array",
        "has a tool whose input schema is an array",
        r#"{"name":"odd","inputSchema":[{"type":"object"}]}"#
    ),
    one_odd!(
        "tool-schema-text",
        "has a tool whose input schema is a text with JSON in it",
        r#"{"name":"odd","inputSchema":"{\"type\":\"object\"}"}"#
    ),
    one_odd!(
        "tool-schema-other-type",
        "has a tool whose input schema is of type string",
        r#"{"name":"odd","inputSchema":{"type":"string"}}"#
    ),
    one_odd!(
        "tool-schema-nonsense",
        "has a tool whose input schema has keywords of wrong types",
        WORKS,
        r#"{"name":"odd","inputSchema":{"type":"object","properties":["a"],"required":"a","pattern":"("}}"#
    ),
    listed(
        "tool-schema-empty",
        "has a tool whose input schema is empty",
        WORKS,
        r#"{"tools":[$ECHO,{"name":"odd","inputSchema":{}},$ADD]}"#,
    ),
    listed(
        "tool-schema-references",
        "has a tool whose schema refers to itself and to an address that must not be fetched",
        WORKS,
        r##"{"tools":[$ECHO,{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"http://127.0.0.1:9/schema.json"}}}},$ADD]}"##,
    ),
    one_odd!(
        "tool-odd-annotations",
        "has tools whose annotations are of wrong types",
        r#"{"name":"odd","inputSchema":{"type":"object"},"annotations":"dangerous"},{"name":"odder","inputSchema":{"type":"object"},"annotations":{"title":5,"readOnlyHint":"yes","destructiveHint":null,"idempotentHint":1}}"#
    ),
    one_odd!(
        "tool-odd-extras",
        "has a tool with a title, icons, execution, output schema and `_meta` of wrong types",
        r#"{"name":"odd","inputSchema":{"type":"object"},"title":{},"icons":{"src":1},"execution":"task","outputSchema":[],"_meta":"x"}"#
    ),
    one_odd!(
        "tool-without-name",
        "has a tool without a name",
        r#"{"inputSchema":{"type":"object"},"description":"nameless"}"#
    ),
    one_odd!(
        "tool-name-null",
        "has a tool whose name is null",
        r#"{"name":null,"inputSchema":{"type":"object"}}"#
    ),
    one_odd!(
        "tool-name-number",
        "has a tool whose name is a number",
        r#"{"name":7,"inputSchema":{"type":"object"}}"#
    ),
    one_odd!(
        "tool-name-empty",
        "has a tool whose name is empty",
        r#"{"name":"","inputSchema":{"type":"object"}}"#
    ),
    one_odd!(
        "tool-name-odd",
        "has a tool whose name has blanks, control characters and a lone surrogate",
        WORKS,
        r#"{"name":"my tool\u0007\n\u202e/ü","inputSchema":{"type":"object"}},{"name":"half \ud800","inputSchema":{"type":"object"}}"#
    ),
    one_odd!(
        "tool-name-twice",
        "has two tools of the same name",
        WORKS,
        r#"{"name":"add","description":"another","inputSchema":{"type":"object"}}"#
    ),
    one_odd!(
        "tool-description-number",
        "has a tool whose description is a number",
        r#"{"name":"odd","description":42,"inputSchema":{"type":"object"}}"#
    ),
    one_odd!("tool-null", "has null among its tools", "null"),
    one_odd!("tool-text", "has a text among its tools", r#""odd""#),
    one_odd!("tool-array", "has an array among its tools", r#"[{"name":"odd"}]"#),
    StdioQuirk::new(
        "tool-huge",
        "has a tool whose description has a megabyte (`QUIRK_BYTES`)",
        WORKS,
        Act::Code(tool_huge),
    ),
    StdioQuirk::new(
        "tool-deep-schema",
        "has a tool whose schema is nested 10 000 deep (`QUIRK_COUNT`)",
        WORKS,
        Act::Code(tool_deep),
    ),
    listed(
        "tool-header-odd",
        "has a tool with an `x-mcp-header` that is not allowed; on stdio it may stay",
        WORKS,
        r#"{"tools":[$TOOLS,{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"bad name"}}}}]}"#,
    ),
    listed(
        "tool-extra-fields",
        "adds fields that nobody knows to its tools and its list",
        WORKS,
        r#"{"x-page":{"n":1},"tools":[$TOOLS,{"x-berth":7,"name":"third","inputSchema":{"type":"object","x-order":[3,1,2]},"cost":0.10}],"total":3}"#,
    ),
    listed(
        "tools-all-bad",
        "has no tool that could be used",
        Expect::Works { tools: 0, warnings: true },
        r#"{"tools":[null,7,{"name":null},{"description":"x"}]}"#,
    ),
];

fn tool_huge(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.asks("tools/list") else { return Flow::Usual };
    let description = "very useful ".repeat(settings::bytes(1 << 20) / 12);
    let odd = format!(
        r#"{{"name":"odd","description":"{description}","inputSchema":{{"type":"object"}}}}"#
    );
    server.result(request, &format!(r#"{{"tools":[$ECHO,{odd},$ADD]}}"#));
    Flow::Done
}

fn tool_deep(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.asks("tools/list") else { return Flow::Usual };
    let depth = settings::count(10_000);
    let schema =
        format!("{}{{}}{}", r#"{"type":"array","items":"#.repeat(depth), "}".repeat(depth));
    let odd = format!(
        r#"{{"name":"odd","inputSchema":{{"type":"object","properties":{{"a":{schema}}}}}}}"#
    );
    server.result(request, &format!(r#"{{"tools":[$ECHO,{odd},$ADD]}}"#));
    Flow::Done
}
