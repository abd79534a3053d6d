//! Tests the tools that models get.

use proptest::prelude::*;

use super::super::{GeminiSchema, OpenAiApi, ToolSlice};
use super::any_schema::any_schema;
use super::*;

const FILES: &str = r#"[
    {"name":"write","description":"Writes a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"integer","enum":[1,2]}},"required":["path"]}},
    {"name":"list"}
]"#;
const SEARCH: &str = r#"[{"name":"find","title":"Find","inputSchema":{"type":"object","properties":{"q":{"anyOf":[{"type":"string"},{"type":"null"}]}},"$schema":"x"}}]"#;

#[test]
fn tools_are_written_for_every_provider() {
    let tools = tools(&[("fs", FILES)]);
    insta::assert_snapshot!(tools.to_openai(OpenAiApi::ChatCompletions).as_str(), @r#"[{"type":"function","function":{"name":"mcp_fs_list","parameters":{"type":"object","properties":{}},"strict":false}},{"type":"function","function":{"name":"mcp_fs_write","description":"Writes a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"integer","enum":[1,2]}},"required":["path"]},"strict":false}}]"#);
    insta::assert_snapshot!(tools.to_openai(OpenAiApi::Responses).as_str(), @r#"[{"type":"function","name":"mcp_fs_list","parameters":{"type":"object","properties":{}},"strict":false},{"type":"function","name":"mcp_fs_write","description":"Writes a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"integer","enum":[1,2]}},"required":["path"]},"strict":false}]"#);
    insta::assert_snapshot!(tools.to_strict_openai(OpenAiApi::Responses).json.as_str(), @r#"[{"type":"function","name":"mcp_fs_list","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true},{"type":"function","name":"mcp_fs_write","description":"Writes a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":["integer","null"],"enum":[1,2,null]}},"required":["path","mode"],"additionalProperties":false},"strict":true}]"#);
    insta::assert_snapshot!(tools.to_anthropic().as_str(), @r#"[{"name":"mcp_fs_list","input_schema":{"type":"object","properties":{}}},{"name":"mcp_fs_write","description":"Writes a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"integer","enum":[1,2]}},"required":["path"]}}]"#);
    insta::assert_snapshot!(tools.to_gemini(GeminiSchema::JsonSchema).as_str(), @r#"[{"functionDeclarations":[{"name":"mcp_fs_list","description":"list"},{"name":"mcp_fs_write","description":"Writes a file.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"},"mode":{"type":"integer","enum":[1,2]}},"required":["path"]}}]}]"#);
    insta::assert_snapshot!(tools.to_gemini(GeminiSchema::OpenApi).as_str(), @r#"[{"functionDeclarations":[{"name":"mcp_fs_list","description":"list"},{"name":"mcp_fs_write","description":"Writes a file.","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING"},"mode":{"type":"INTEGER"}},"required":["path"]}}]}]"#);
}

#[test]
fn the_order_of_the_servers_does_not_change_the_bytes() {
    let mut ahead = tools(&[("fs", FILES), ("web", SEARCH)]);
    let behind = tools(&[("web", SEARCH), ("fs", FILES)]);
    ahead.reverse();
    let bytes = |tools: &[Arc<Tool>]| {
        [
            tools.to_openai(OpenAiApi::ChatCompletions),
            tools.to_strict_openai(OpenAiApi::Responses).json,
            tools.to_anthropic(),
            tools.to_gemini(GeminiSchema::JsonSchema),
        ]
    };
    assert_eq!(bytes(&ahead), bytes(&behind));
}

#[test]
fn every_name_is_valid_for_every_provider() {
    let long = "x".repeat(300);
    let list = format!(
        r#"[{{"name":"日本 / 語"}},{{"name":"{long}"}},{{"name":"9-a.b:c"}},{{"name":""}}]"#
    );
    for server in ["9", "a b", &long, "ünïcode"] {
        accept_all(&tools(&[(server, &list)]));
    }
}

#[test]
fn a_long_description_is_cut_for_chat_completions_only() {
    let list = format!(r#"[{{"name":"a","description":"{}"}}]"#, "é".repeat(2000));
    let tools = tools(&[("s", &list)]);
    accept_all(&tools);
    let chat = tools.to_openai(OpenAiApi::ChatCompletions);
    assert!(chat.as_str().contains(&format!("{}…\"", "é".repeat(1023))));
    assert!(tools.to_openai(OpenAiApi::Responses).as_str().contains(&"é".repeat(2000)));
}

#[test]
fn an_argument_whose_name_anthropic_refuses_is_left_out() {
    let tool = tool(r#"{"type":"object","properties":{"a b":{},"c":{}},"required":["a b","c"]}"#);
    insta::assert_snapshot!(tool.to_anthropic().as_str(), @r#"{"name":"mcp_fs_run","description":"Runs.","input_schema":{"type":"object","properties":{"c":{}},"required":["c"]}}"#);
}

/// A tool of a few kB must not fill the prompt, nor take seconds to write.
#[test]
fn a_hostile_schema_stays_small_for_every_provider() {
    let mut definitions: Vec<String> = (0..40)
        .map(|n| {
            let next = format!(r##"{{"$ref":"#/$defs/D{}"}}"##, n + 1);
            format!(r#""D{n}":{{"type":"object","properties":{{"a":{next},"b":{next}}}}}"#)
        })
        .collect();
    definitions.push(r#""D40":{"type":"string"}"#.to_owned());
    let doubling = format!(
        r##"{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/D0"}}}},"$defs":{{{}}}}}"##,
        definitions.join(",")
    );
    let long = "d".repeat(2000);
    let branches = vec!["{}"; 2000].join(",");
    let repeated = format!(
        r#"{{"type":"object","properties":{{"x":{{"description":"{long}","anyOf":[{branches}]}}}}}}"#
    );
    let itself = format!(r#"{{"anyOf":[{}]}}"#, vec![r##"{"$ref":"#"}"##; 200].join(","));
    for schema in [doubling, repeated, itself] {
        let tools = [tool(&schema)];
        accept_all(&tools);
        for form in [GeminiSchema::JsonSchema, GeminiSchema::OpenApi] {
            let length = tools.to_gemini(form).as_str().len();
            assert!(length < 512 << 10, "{length} bytes from {}", schema.len());
        }
    }
}

#[test]
fn estimates_grow_with_the_definition() {
    let tools = tools(&[("fs", FILES), ("web", SEARCH)]);
    let sum: usize = tools.iter().map(|tool| tool.estimated_tokens()).sum();
    assert_eq!(tools.estimated_tokens(), sum);
    let longer = tool(r#"{"type":"object","properties":{"a":{"description":"日本語"}}}"#);
    let shorter = tool(r#"{"type":"object","properties":{"a":{"description":""}}}"#);
    assert_eq!(longer.estimated_tokens(), shorter.estimated_tokens() + 3);
}

#[track_caller]
fn accept_all(tools: &[Arc<Tool>]) {
    CHAT_TOOLS.accepts(&tools.to_openai(OpenAiApi::ChatCompletions));
    CHAT_TOOLS.accepts(&tools.to_strict_openai(OpenAiApi::ChatCompletions).json);
    RESPONSES_TOOLS.accepts(&tools.to_openai(OpenAiApi::Responses));
    RESPONSES_TOOLS.accepts(&tools.to_strict_openai(OpenAiApi::Responses).json);
    ANTHROPIC_TOOLS.accepts(&tools.to_anthropic());
    GEMINI_TOOLS.accepts(&tools.to_gemini(GeminiSchema::JsonSchema));
    GEMINI_TOOLS.accepts(&tools.to_gemini(GeminiSchema::OpenApi));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_schema_is_accepted_by_every_provider(schema in any_schema()) {
        let tools = [tool(&schema.to_string())];
        accept_all(&tools);
    }
}
