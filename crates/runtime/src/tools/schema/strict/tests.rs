//! Tests the strict rules for schemas.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn check(schema: &str, expected: &str) {
    let schema: Json = schema.parse().unwrap();
    assert_eq!(strict(&schema).as_str(), expected, "{}", schema.as_str());
}

/// Checks the schema of the property `x`.
fn check_property(schema: &str, expected: &str) {
    let whole = |schema: &str| format!(r#"{{"type":"object","properties":{{"x":{schema}}}}}"#);
    check(&whole(schema), &whole(expected));
}

#[test]
fn a_plain_schema_stays_unchanged() {
    for schema in [
        r#"{"type":"string","x-unknown":{"type":["a","null"]},"maximum":12345678901234567890123}"#,
        r#"{"default":null,"enum":["a",null]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"number"}]}"#,
        r#"{"$ref":"https://example.com/schema"}"#,
        "true",
    ] {
        check_property(schema, schema);
    }
}

#[test]
fn null_is_removed_from_a_list_of_types() {
    check_property(r#"{"type":["null","string"],"default":null}"#, r#"{"type":"string"}"#);
    check_property(r#"{"type":["integer","string"]}"#, r#"{"type":"integer"}"#);
    check_property(
        r#"{"type":["string","null"],"enum":["a",null,"b"]}"#,
        r#"{"type":"string","enum":["a","b"]}"#,
    );
    check_property(r#"{"type":["null"]}"#, r#"{"type":"null"}"#);
}

#[test]
fn null_is_removed_from_a_union() {
    check_property(
        r#"{"title":"T","anyOf":[{"type":"string","title":"inner"},{"type":"null"}],"default":null}"#,
        r#"{"title":"T","type":"string"}"#,
    );
    check_property(
        r#"{"oneOf":[{"type":"string"},{"const":null},{"type":"number"}]}"#,
        r#"{"oneOf":[{"type":"string"},{"type":"number"}]}"#,
    );
    check_property(
        r#"{"anyOf":[{"anyOf":[{"type":"null"},{"type":["null","boolean"]}]},{"type":"null"}]}"#,
        r#"{"type":"boolean"}"#,
    );
    check_property(r#"{"anyOf":[{"type":"null"}]}"#, r#"{"anyOf":[{"type":"null"}]}"#);
}

#[test]
fn local_references_are_resolved() {
    check(
        r##"{"type":"object","properties":{
            "a":{"$ref":"#/$defs/A","description":"mine"},"b":{"items":{"$ref":"#/$defs/B%3CC%3E"}},
            "c":{"$ref":"#/$defs/gone"},"d":{"$ref":"#/properties/e/anyOf/0"},"e":{"anyOf":[{"type":"string"},true]}},
            "$defs":{"A":{"$ref":"#/$defs/a~1b","description":"theirs"},"a/b":{"type":"string"},
            "B<C>":{"type":"number"}}}"##,
        r#"{"type":"object","properties":{"a":{"type":"string","description":"mine"},"b":{"items":{"type":"number"}},"c":{},"d":{"type":"string"},"e":{"anyOf":[{"type":"string"},true]}}}"#,
    );
}

#[test]
fn a_recursive_reference_ends() {
    check(
        r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/Node"},"self":{"$ref":"#"}},
            "$defs":{"Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"}}},
            "Loop":{"$ref":"#/$defs/Loop"}}}"##,
        r#"{"type":"object","properties":{"tree":{"type":"object","properties":{"next":{"type":"object","properties":{}}}},"self":{"type":"object","properties":{}}}}"#,
    );
    check_property(r##"{"$ref":"#/properties/x"}"##, "{}");
}

#[test]
fn references_that_grow_exponentially_stay_bounded() {
    let mut definitions: Vec<String> = (0..40)
        .map(|n| {
            let next = format!(r##"{{"$ref":"#/$defs/D{}"}}"##, n + 1);
            format!(r#""D{n}":{{"type":"object","properties":{{"a":{next},"b":{next}}}}}"#)
        })
        .collect();
    definitions.push(r#""D40":{"type":"string"}"#.to_owned());
    let schema = format!(
        r##"{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/D0"}}}},"$defs":{{{}}}}}"##,
        definitions.join(",")
    );
    let strict = strict(&schema.parse().unwrap());
    assert!(strict.as_str().len() < 4 * 1024 * 1024 && !strict.as_str().contains("$ref"));
}

/// Each reference costs what it adds to the result, not what it points to: parsing 20 kB for each of
/// 20 000 references would take minutes here.
#[test]
fn many_references_cost_no_more_than_what_they_add() {
    let members: Vec<String> = (0..1000).map(|n| format!(r#""p{n}":{{"type":"null"}}"#)).collect();
    let big = format!(r#"{{"type":"object","properties":{{{}}}}}"#, members.join(","));
    let references = |target: &dyn Fn(usize) -> String| {
        let all: Vec<_> = (0..20_000).map(|n| format!(r#"{{"$ref":"{}"}}"#, target(n))).collect();
        format!(r#"{{"anyOf":[{}],"$defs":{{"B":{big}}}}}"#, all.join(","))
    };
    for schema in [
        references(&|_| "#/$defs/B".to_owned()),
        references(&|n| format!("#/$defs/B/properties/p{}", n % 1000)),
        references(&|n| format!("#/$defs/B/properties/none{n}")),
        references(&|n| format!("#/anyOf/{n}")),
    ] {
        let written = written(&schema);
        assert!(written.len() < 2 * schema.len() && !written.contains("$ref"));
    }
}

#[test]
fn deep_nesting_is_cut() {
    let schema = format!("{}{}{}", r#"{"items":"#.repeat(5000), "{}", "}".repeat(5000));
    assert!(strict(&schema.parse().unwrap()).as_str().len() < 2000);
}

#[test]
fn only_properties_can_be_required() {
    check(
        r#"{"type":"object","properties":{"a":{},"required":{"type":["string","null"]}},"required":["a","a","b",1]}"#,
        r#"{"type":"object","properties":{"a":{},"required":{"type":"string"}},"required":["a"]}"#,
    );
    check(
        r#"{"type":"object","properties":{},"required":["b"]}"#,
        r#"{"type":"object","properties":{}}"#,
    );
    check_property(r#"{"type":"string","required":true}"#, r#"{"type":"string"}"#);
}

#[test]
fn an_object_schema_has_its_type_and_its_properties() {
    check(r#"{"properties":{}}"#, r#"{"properties":{},"type":"object"}"#);
    check_property(r#"{"type":["object","null"]}"#, r#"{"type":"object","properties":{}}"#);
    check_property(
        r#"{"type":"object","additionalProperties":{"type":["string","null"]}}"#,
        r#"{"type":"object","additionalProperties":{"type":"string"},"properties":{}}"#,
    );
}

/// Returns values made of keywords, valid schemas or not.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Bool(true)),
        Just(Value::from(7)),
        prop::sample::select(vec![
            "object",
            "string",
            "null",
            "a",
            "#",
            "#/$defs/a",
            "#/properties/a",
            "#/anyOf/0",
            "#x",
            "#/%zz",
        ])
        .prop_map(Value::from),
    ];
    let keys = vec![
        "type",
        "properties",
        "required",
        "anyOf",
        "oneOf",
        "allOf",
        "items",
        "$ref",
        "$defs",
        "enum",
        "default",
        "const",
        "additionalProperties",
        "a",
        "\"odd\\",
    ];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((prop::sample::select(keys.clone()), inner), 0..5).prop_map(
                |members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_result_is_always_valid_json(schema in any_schema()) {
        let text = schema.to_string();
        let strict = written(&text);
        prop_assert!(serde_json::from_str::<Value>(&strict).is_ok(), "{text} became {strict}");
    }
}
