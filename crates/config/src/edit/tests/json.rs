//! Tests of edits to JSON.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::edit::EditError;

fn json(text: &str, change: &Change) -> String {
    edited(text, Notation::Json, change)
}

fn server() -> Change {
    let value = r#"{"command": "npx", "args": ["-y", "pkg"], "env": {"A": "1"}}"#;
    let value: JsonValue = value.parse().unwrap();
    set("mcpServers/fs", value)
}

const MIXED_LAYOUT: &str = r#"{
  // head
  "a": 1, // about a
  // about b
  "b": {"x": 1, "y": 2}, "c": 3,
  "d": [1, 2 /* two */],
  /* e */ "e": 5
  // end
}
"#;

#[test]
fn an_empty_file_becomes_an_object() {
    assert_snapshot!(json("", &server()), @r#"
    {
      "mcpServers": {
        "fs": {
          "command": "npx",
          "args": ["-y", "pkg"],
          "env": {
            "A": "1"
          }
        }
      }
    }
    "#);
    assert!(json("", &server()).ends_with("}\n"));
    assert_eq!(json(" \n\n", &server()), json("", &server()));
    assert_eq!(json("null\n", &server()), json("", &server()));
}

#[test]
fn comments_of_an_otherwise_empty_file_stay_on_top() {
    assert_snapshot!(json("// ours\n\n", &set("a", json!(1))), @r#"
    // ours
    {
      "a": 1
    }
    "#);
}

#[test]
fn a_one_line_file_without_values_is_reformatted() {
    assert_snapshot!(json(r#"{"mcpServers":{}}"#, &server()), @r#"
    {
      "mcpServers": {
        "fs": {
          "command": "npx",
          "args": ["-y", "pkg"],
          "env": {
            "A": "1"
          }
        }
      }
    }
    "#);
}

#[test]
fn a_line_with_values_stays_one_line() {
    assert_snapshot!(json(r#"{"n":1,"mcpServers":{}}"#, &server()), @r#"{"n":1,"mcpServers":{"fs":{"command":"npx","args":["-y","pkg"],"env":{"A":"1"}}}}"#);
    assert_snapshot!(json(r#"{ "mcpServers": { "a": {} }, "n": 1 }"#, &server()), @r#"{ "mcpServers": { "a": {}, "fs": {"command": "npx", "args": ["-y", "pkg"], "env": {"A": "1"}} }, "n": 1 }"#);
}

#[test]
fn a_new_member_comes_last_and_the_comment_of_the_last_one_stays_with_it() {
    let text = r#"{
    "mcpServers": {
        "a": {"command": "x"} // about a
        // "old": {}
    }
}
"#;
    assert_snapshot!(json(text, &server()), @r#"
    {
        "mcpServers": {
            "a": {"command": "x"}, // about a
            "fs": {
                "command": "npx",
                "args": ["-y", "pkg"],
                "env": {
                    "A": "1"
                }
            }
            // "old": {}
        }
    }
    "#);
    assert_eq!(json(&json(text, &server()), &remove("mcpServers/fs")), text);
}

#[test]
fn a_trailing_comma_is_kept_and_given_to_the_new_member() {
    let text = "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // about a\n\t},\n}";
    assert_snapshot!(json(text, &set("mcpServers/b", json!({"x": [1, {"y": null}]}))), @r#"
    {
    	"mcpServers": {
    		"a": {}, // about a
    		"b": {
    			"x": [
    				1,
    				{
    					"y": null
    				}
    			]
    		},
    	},
    }
    "#);
}

#[test]
fn a_comment_in_an_empty_object_stays() {
    assert_snapshot!(json("{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n", &server()), @r#"
    {
      "mcpServers": {
        // none yet
        "fs": {
          "command": "npx",
          "args": ["-y", "pkg"],
          "env": {
            "A": "1"
          }
        }
      }
    }
    "#);
    assert_snapshot!(json("{\n  \"a\": { /* none */ }\n}\n", &set("a/b", json!(true))), @r#"
    {
      "a": { /* none */
        "b": true
      }
    }
    "#);
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    let text = "\u{feff}{\r\n  \"a\": {}\r\n}\r\n";
    let expected =
        "\u{feff}{\r\n  \"a\": {\r\n    \"b\": {\r\n      \"c\": 1\r\n    }\r\n  }\r\n}\r\n";
    assert_eq!(json(text, &set("a/b", json!({"c": 1}))), expected);
    assert_eq!(json("\u{feff}", &set("a", json!(1))), "\u{feff}{\n  \"a\": 1\n}\n");
}

#[test]
fn a_replaced_value_keeps_its_place_and_its_layout() {
    assert_snapshot!(json(MIXED_LAYOUT, &set("a", json!({"x": "y"}))), @r#"
    {
      // head
      "a": {
        "x": "y"
      }, // about a
      // about b
      "b": {"x": 1, "y": 2}, "c": 3,
      "d": [1, 2 /* two */],
      /* e */ "e": 5
      // end
    }
    "#);
    assert_snapshot!(json(MIXED_LAYOUT, &set("b", json!({"z": {"q": []}}))), @r#"
    {
      // head
      "a": 1, // about a
      // about b
      "b": {"z": {"q": []}}, "c": 3,
      "d": [1, 2 /* two */],
      /* e */ "e": 5
      // end
    }
    "#);
}

#[test]
fn setting_an_equal_value_keeps_the_text() {
    let text = "{ \"a\" :{\"x\":[ 1,\n2 ]} }";
    assert_eq!(json(text, &set("a", json!({"x": [1, 2]}))), text);
}

#[test]
fn removing_a_member_removes_its_line_and_no_other_comment() {
    for key in ["a", "b/x", "b/y"] {
        assert!(json(MIXED_LAYOUT, &remove(key)).contains("// about b"));
    }
    assert_snapshot!(json(MIXED_LAYOUT, &remove("a")), @r#"
    {
      // head
      // about b
      "b": {"x": 1, "y": 2}, "c": 3,
      "d": [1, 2 /* two */],
      /* e */ "e": 5
      // end
    }
    "#);
    assert_snapshot!(json(MIXED_LAYOUT, &remove("b")), @r#"
    {
      // head
      "a": 1, // about a
      // about b
      "c": 3,
      "d": [1, 2 /* two */],
      /* e */ "e": 5
      // end
    }
    "#);
    assert_snapshot!(json(MIXED_LAYOUT, &remove("e")), @r#"
    {
      // head
      "a": 1, // about a
      // about b
      "b": {"x": 1, "y": 2}, "c": 3,
      "d": [1, 2 /* two */]
      /* e */
      // end
    }
    "#);
    assert_eq!(json("{\n  \"a\": 1\n}", &remove("a")), "{}");
    assert_eq!(json("{\n  \"a\": {\"b\": 1}\n}", &remove("a/b")), "{\n  \"a\": {}\n}");
    assert_eq!(json(MIXED_LAYOUT, &remove("zz/y")), MIXED_LAYOUT);
    assert_eq!(json(MIXED_LAYOUT, &remove("a/y")), MIXED_LAYOUT);
}

#[test]
fn of_a_duplicate_key_the_last_is_changed_and_both_are_removed() {
    let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"a\": 3\n}\n";
    assert_eq!(json(text, &set("a", json!(4))), text.replace('3', "4"));
    assert_eq!(json(text, &remove("a")), "{\n  \"b\": 2\n}\n");
}

#[test]
fn adding_and_removing_items_keeps_the_layout_of_the_list() {
    let lines = "{\n  \"off\": [\n    \"a\", // why\n    \"b\" // also\n  ]\n}\n";
    assert_snapshot!(json(lines, &include("off", "c")), @r#"
    {
      "off": [
        "a", // why
        "b", // also
        "c"
      ]
    }
    "#);
    assert_snapshot!(json(lines, &exclude("off", "b")), @r#"
    {
      "off": [
        "a" // why
      ]
    }
    "#);
    let line = r#"{"off": ["a", "b", "a"], "x": 1}"#;
    assert_eq!(json(line, &include("off", "a")), line);
    assert_eq!(json(line, &exclude("off", "a")), r#"{"off": ["b"], "x": 1}"#);
    assert_eq!(json(r#"{"x": 1}"#, &include("off", "a")), r#"{"x": 1, "off": ["a"]}"#);
    assert_eq!(json(r#"{"off": [ ], "x": 1}"#, &include("off", "a")), r#"{"off": ["a"], "x": 1}"#);
    assert_eq!(json(r#"{"off": null, "x": 1}"#, &include("off", "a")), r#"{"off": ["a"], "x": 1}"#);
    assert_eq!(json("{}", &exclude("off", "a")), "{}");
}

#[test]
fn an_item_is_not_added_inside_a_comment_that_ends_with_a_lone_return() {
    let text = "{\"off\": [\"a\" // one\r]}";
    assert_eq!(json(text, &include("off", "b")), "{\"off\": [\"a\", // one\n  \"b\"\r]}");
    assert_eq!(json(text, &exclude("off", "a")), "{\"off\": [ // one\r]}");
    let empty = "{\"off\": [ // one\r]}";
    assert_eq!(json(empty, &include("off", "b")), "{\"off\": [ // one\n  \"b\"\n]}");
}

#[test]
fn unicode_white_space_stays_in_its_comment() {
    let text = "// one\u{a0}";
    assert_eq!(json(text, &set("a", json!(1))), "// one\u{a0}\n{\n  \"a\": 1\n}\n");
}

#[test]
fn keys_of_any_kind_are_quoted() {
    let text = apply(
        "{}",
        Notation::Json,
        &[Change::Set { path: vec!["a.b \"c\"\\\n\u{1}é•".to_owned()], value: json!(1).into() }],
    );
    assert_eq!(text.unwrap(), "{\n  \"a.b \\\"c\\\"\\\\\\n\\u0001é•\": 1\n}");
}

#[test]
fn long_lists_get_one_line_per_item() {
    let long = "x".repeat(60);
    let text = json("", &set("args", json!([long, long])));
    assert_eq!(text.lines().count(), 6);
}

#[test]
fn a_file_of_another_shape_is_refused() {
    let refused = [
        refusal("{\n  \"a\": [1 2]\n}", Notation::Json, server()),
        refusal("[]", Notation::Json, server()),
        refusal("{\n  \"mcpServers\": \"x\"\n}", Notation::Json, server()),
        refusal("{\"off\": {}}", Notation::Json, include("off", "a")),
        refusal("{\"off\": 1}", Notation::Json, exclude("off", "a")),
        refusal("a: 1", Notation::Yaml, server()),
        refusal("{}", Notation::Json, Change::Remove { path: Vec::new() }),
    ];
    assert_snapshot!(refused.join("\n"), @"
    the file has a syntax error (line 2) | correct line 2, column 10 first; the file was not changed
    the file is a list, not an object (line 1) | the file must hold one object with keys
    `mcpServers` is a string, not an object (line 2) | make `mcpServers` an object, or remove it
    `off` is an object, not a list (line 1) | make `off` a list, or remove it
    `off` is a number, not a list (line 1) | make `off` a list, or remove it
    YAML files can be read, but not changed | change the file by hand
    a change needs at least one key | name the key to change
    ");
}

#[test]
fn a_value_nested_too_deep_to_be_read_again_is_refused() {
    let levels = 126;
    let text = format!("{}1{}", "{\"a\": ".repeat(levels), "}".repeat(levels));
    let path = vec!["a".to_owned(); levels];
    let set = |value: serde_json::Value| Change::Set { path: path.clone(), value: value.into() };
    assert!(apply(&text, Notation::Json, &[set(json!({"b": [1]}))]).is_ok());
    let error = apply(&text, Notation::Json, &[set(json!({"b": [[1]]}))]).unwrap_err();
    assert!(error.to_string().ends_with("would make the file unreadable"), "{error}");
    assert!(matches!(error, EditError::WouldBreak { .. }));
}
