//! Quirks of single tools: one unusual entry between two valid ones.

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, WARNS, WORKS};

/// Responds to `tools/list` with this result.
const fn tools_list_result(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Result("tools/list", result))
}

/// Lists one unusual entry between the two valid tools.
macro_rules! with_entry {
    ($name:literal, $description:literal, $tool:literal) => {
        with_entry!($name, $description, WARNS, $tool)
    };
    ($name:literal, $description:literal, $expect:expr, $tool:literal) => {
        tools_list_result(
            $name,
            $description,
            $expect,
            concat!(r#"{"tools":[$ECHO,"#, $tool, r#",$ADD]}"#),
        )
    };
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    with_entry!("tool-without-schema", "has a tool without an input schema", r#"{"name":"odd"}"#).with_tools(3),
    with_entry!(
        "tool-schema-null",
        "has a tool whose input schema is null",
        r#"{"name":"odd","inputSchema":null}"#
    ).with_tools(3),
    with_entry!(
        "tool-schema-boolean",
        "has a tool whose input schema is true",
        r#"{"name":"odd","inputSchema":true}"#
    ).with_tools(3),
    with_entry!(
        "tool-schema-array",
        "has a tool whose input schema is an array",
        r#"{"name":"odd","inputSchema":[{"type":"object"}]}"#
    ).with_tools(3),
    with_entry!(
        "tool-schema-text",
        "has a tool whose input schema is JSON in a string",
        r#"{"name":"odd","inputSchema":"{\"type\":\"object\"}"}"#
    ).with_tools(3),
    with_entry!(
        "tool-schema-other-type",
        "has a tool whose input schema is of type string",
        r#"{"name":"odd","inputSchema":{"type":"string"}}"#
    ).with_tools(3),
    with_entry!(
        "tool-schema-nonsense",
        "has a tool whose input schema has keywords of wrong types",
        WORKS,
        r#"{"name":"odd","inputSchema":{"type":"object","properties":["a"],"required":"a","pattern":"("}}"#
    ).with_tools(3),
    tools_list_result(
        "tool-schema-empty",
        "has a tool whose input schema is empty",
        WORKS,
        r#"{"tools":[$ECHO,{"name":"odd","inputSchema":{}},$ADD]}"#,
    ).with_tools(3),
    tools_list_result(
        "tool-schema-references",
        "has a tool whose schema refers to itself and to a URL that must not be fetched",
        WORKS,
        r##"{"tools":[$ECHO,{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"http://127.0.0.1:9/schema.json"}}}},$ADD]}"##,
    ).with_tools(3),
    with_entry!(
        "tool-invalid-annotations",
        "has tools whose annotations have wrong types",
        r#"{"name":"odd","inputSchema":{"type":"object"},"annotations":"dangerous"},{"name":"odder","inputSchema":{"type":"object"},"annotations":{"title":5,"readOnlyHint":"yes","destructiveHint":null,"idempotentHint":1}}"#
    ).with_tools(4),
    with_entry!(
        "tool-invalid-extras",
        "has a tool with a title, icons, execution, output schema and `_meta` of wrong types",
        r#"{"name":"odd","inputSchema":{"type":"object"},"title":{},"icons":{"src":1},"execution":"task","outputSchema":[],"_meta":"x"}"#
    ).with_tools(3),
    with_entry!(
        "tool-without-name",
        "has a tool without a name",
        r#"{"inputSchema":{"type":"object"},"description":"nameless"}"#
    ),
    with_entry!(
        "tool-name-null",
        "has a tool whose name is null",
        r#"{"name":null,"inputSchema":{"type":"object"}}"#
    ),
    with_entry!(
        "tool-name-number",
        "has a tool whose name is a number",
        r#"{"name":7,"inputSchema":{"type":"object"}}"#
    ),
    with_entry!(
        "tool-name-empty",
        "has a tool whose name is empty",
        r#"{"name":"","inputSchema":{"type":"object"}}"#
    ),
    with_entry!(
        "tool-name-unusual",
        "has tools whose names have spaces, control characters and a lone surrogate",
        WORKS,
        r#"{"name":"my tool\u0007\n\u202e/ü","inputSchema":{"type":"object"}},{"name":"half \ud800","inputSchema":{"type":"object"}}"#
    ).with_tools(4),
    with_entry!(
        "tool-name-twice",
        "has two tools with the same name",
        WORKS,
        r#"{"name":"add","description":"another","inputSchema":{"type":"object"}}"#
    ).with_tools(3),
    with_entry!(
        "tool-description-number",
        "has a tool whose description is a number",
        r#"{"name":"odd","description":42,"inputSchema":{"type":"object"}}"#
    ).with_tools(3),
    with_entry!("tool-null", "has null among its tools", "null"),
    with_entry!("tool-text", "has a string among its tools", r#""odd""#),
    with_entry!("tool-array", "has an array among its tools", r#"[{"name":"odd"}]"#),
    StdioQuirk::new(
        "tool-huge",
        "has a tool whose description has a megabyte (`QUIRK_BYTES`)",
        WORKS,
        StdioBehavior::Handler(huge_description),
    ).with_tools(3),
    StdioQuirk::new(
        "tool-deep-schema",
        "has a tool whose schema is nested 10 000 deep (`QUIRK_COUNT`)",
        WORKS,
        StdioBehavior::Handler(deep_schema),
    ).with_tools(3),
    tools_list_result(
        "tool-header-invalid",
        "has a tool with an invalid `x-mcp-header`, which is ignored on stdio",
        WORKS,
        r#"{"tools":[$TOOLS,{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"bad name"}}}}]}"#,
    ).with_tools(3),
    tools_list_result(
        "tool-extra-fields",
        "adds unknown members to its tools and its list",
        WORKS,
        r#"{"x-page":{"n":1},"tools":[$TOOLS,{"x-berth":7,"name":"third","inputSchema":{"type":"object","x-order":[3,1,2]},"cost":0.10}],"total":3}"#,
    ).with_tools(3),
    tools_list_result(
        "tools-all-bad",
        "has only invalid tools",
        ExpectedOutcome::Works { tools: 0, warnings: true },
        r#"{"tools":[null,7,{"name":null},{"description":"x"}]}"#,
    ),
];

fn huge_description(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.request("tools/list") else { return NextStep::Default };
    let description = "very useful ".repeat(environment::bytes(1 << 20) / 12);
    let tool = format!(
        r#"{{"name":"odd","description":"{description}","inputSchema":{{"type":"object"}}}}"#
    );
    server.send_result(request, &format!(r#"{{"tools":[$ECHO,{tool},$ADD]}}"#));
    NextStep::Done
}

fn deep_schema(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.request("tools/list") else { return NextStep::Default };
    let depth = environment::count(10_000);
    let schema =
        format!("{}{{}}{}", r#"{"type":"array","items":"#.repeat(depth), "}".repeat(depth));
    let tool = format!(
        r#"{{"name":"odd","inputSchema":{{"type":"object","properties":{{"a":{schema}}}}}}}"#
    );
    server.send_result(request, &format!(r#"{{"tools":[$ECHO,{tool},$ADD]}}"#));
    NextStep::Done
}
