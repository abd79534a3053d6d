//! Tests strict schemas, and the arguments that models give for them.

use proptest::prelude::*;

use super::super::strict_schema::strict;
use super::super::{NotStrict, OpenAiApi};
use super::any_schema::any_schema;
use super::*;

/// Checks the strict form of a property that is optional.
#[track_caller]
fn check(schema: &str, expected: &str) {
    let root = format!(
        r#"{{"type":"object","properties":{{"x":{schema}}},"$defs":{{"A":{{"type":"string"}}}}}}"#
    );
    let found = match strict(&serde_json::from_str(&root).unwrap()) {
        Ok(strict) => strict["properties"]["x"].to_string(),
        Err(why) => why.to_string(),
    };
    assert_eq!(found, expected, "{schema}");
}

#[test]
fn an_optional_argument_becomes_nullable() {
    check(r#"{"type":"string"}"#, r#"{"type":["string","null"]}"#);
    check(r#"{"enum":["a"]}"#, r#"{"type":["string","null"],"enum":["a",null]}"#);
    check(r#"{"const":1}"#, r#"{"type":["integer","null"],"enum":[1,null]}"#);
    check(r#"{"type":["string","null"],"default":null}"#, r#"{"type":["string","null"]}"#);
    check(r##"{"$ref":"#/$defs/A"}"##, r##"{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}"##);
    check(
        r##"{"$ref":"#/$defs/A","description":"d"}"##,
        r##"{"description":"d","anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}"##,
    );
    check(
        r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
    );
}

#[test]
fn objects_are_closed_and_all_their_members_required() {
    check(
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}},"required":["b"]}"#,
        r#"{"type":["object","null"],"properties":{"a":{"type":["string","null"]},"b":{"type":"boolean"}},"required":["a","b"],"additionalProperties":false}"#,
    );
    check(
        r#"{"type":["array","string"],"items":{"type":"number","minimum":0,"not":{}}}"#,
        r#"{"anyOf":[{"type":"array","items":{"type":"number","minimum":0}},{"type":"string"},{"type":"null"}]}"#,
    );
}

#[test]
fn a_schema_that_would_lose_values_is_refused() {
    check(r#"{"type":"object"}"#, "an object may have any members at `x`");
    check(
        r#"{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":true}"#,
        "an object may have any members at `x`",
    );
    check("true", "any value is allowed at `x`");
    check("{}", "any value is allowed at `x`");
    check(r#"{"type":"array"}"#, "any value is allowed at `x/items`");
    check(r#"{"allOf":[{},{}]}"#, "`allOf` is not supported at `x`");
    check(r#"{"type":"array","prefixItems":[]}"#, "`prefixItems` is not supported at `x`");
    check(r##"{"$ref":"#/properties/x"}"##, "a reference is not to a definition at `x`");
    check(
        r#"{"type":"object","properties":{"a":{"type":"null"}},"required":["b"]}"#,
        "a required name is not a property at `x`",
    );
}

#[test]
fn a_schema_above_the_limits_is_refused() {
    let mut deep = r#"{"type":"string"}"#.to_owned();
    for _ in 0..10 {
        deep = format!(r#"{{"type":"object","properties":{{"a":{deep}}}}}"#);
    }
    check(&deep, "the schema is too large at ``");
    let many: Vec<String> = (0..1001).map(|it| format!("\"{it}\"")).collect();
    check(&format!(r#"{{"enum":[{}]}}"#, many.join(",")), "the schema is too large at ``");
}

#[test]
fn a_recursive_definition_stays_recursive() {
    let schema = r##"{"type":"object","properties":{"tree":{"$ref":"#/definitions/Tree"}},"required":["tree"],
        "definitions":{"Tree":{"type":"object","properties":{"next":{"$ref":"#/definitions/Tree"}}}}}"##;
    let strict = tool(schema).to_strict_openai(OpenAiApi::Responses);
    assert_eq!(strict.not_strict, None);
    insta::assert_snapshot!(strict.json.as_str(), @r##"{"type":"function","name":"mcp_fs_run","description":"Runs.","parameters":{"type":"object","properties":{"tree":{"$ref":"#/$defs/Tree"}},"required":["tree"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["next"],"additionalProperties":false}}},"strict":true}"##);
}

#[test]
fn a_tool_without_a_strict_form_is_given_as_it_is() {
    let tool = tool(r#"{"type":"object","properties":{"a":{"type":"object"}}}"#);
    let strict = tool.to_strict_openai(OpenAiApi::ChatCompletions);
    assert_eq!(strict.json, tool.to_openai(OpenAiApi::ChatCompletions));
    let why: NotStrict = strict.not_strict.unwrap();
    assert_eq!(why.at, "a");
}

#[test]
fn added_nulls_are_removed_before_the_call() {
    let tool = tool(
        r##"{"type":"object","required":["need"],"properties":{
        "a":{"type":"string"},"b":{"type":["string","null"]},"need":{"type":"string"},
        "list":{"type":"array","items":{"$ref":"#/$defs/A"}}},
        "$defs":{"A":{"type":"object","properties":{"c":{"enum":[1]},"d":{}}}}}"##,
    );
    let check = |arguments: &str, expected: &str| {
        let found = tool.without_added_nulls(&arguments.parse().unwrap());
        assert_eq!(found.as_str(), expected);
    };
    check(r#"{"a":null,"b":null,"need":null}"#, r#"{"b":null,"need":null}"#);
    check(r#"{"list":[{"c":null,"d":null}, {"c":1}]}"#, r#"{"list":[{"d":null},{"c":1}]}"#);
    check(r#"{"a": "null","n":1e400}"#, r#"{"a": "null","n":1e400}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arguments_of_a_strict_tool_are_valid_for_its_server(schema in any_schema()) {
        let schema = serde_json::json!({
            "type": "object", "properties": schema["properties"], "$defs": schema.get("$defs"),
        });
        let tool = tool(&schema.to_string());
        if let (Ok(strict), Some(example)) = (strict(&schema), tool.example()) {
            let mut arguments: Value = example.decode().unwrap();
            for name in strict["properties"].as_object().unwrap().keys() {
                let members = arguments.as_object_mut().unwrap();
                members.entry(name).or_insert(Value::Null);
            }
            let arguments = tool.without_added_nulls(&Json::encode(&arguments).unwrap());
            prop_assert!(tool.check(&arguments).is_ok(), "{} for {schema}", arguments.as_str());
        }
    }
}
