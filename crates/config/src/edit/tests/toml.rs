//! Tests of edits to TOML.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn toml(text: &str, change: &Change) -> String {
    edited(text, Notation::Toml, change)
}

fn server(name: &str) -> Change {
    let value = r#"{
        "command": "npx", "args": ["-y", "pkg"], "env": {"A": "1"}, "cwd": null, "timeout": 5
    }"#;
    let value: JsonValue = value.parse().unwrap();
    set(&format!("mcp_servers/{name}"), value)
}

const TABLES: &str = r#"# ours
model = "m" # the model

[mcp_servers.a] # first
command = "x" # start
# args = []

# about env
[mcp_servers.a.env]
K = "v"
# end

# about z
[z]
q = [
    1, # one
]
"#;

const DOTTED: &str = r#"mcp_servers.a.command = "x"
z = 1 # between
mcp_servers.a.env.K = "v"
"#;

#[test]
fn a_new_server_is_a_table_with_a_blank_line_before_it() {
    assert_snapshot!(toml("", &server("fs")), @r#"
    [mcp_servers.fs]
    command = "npx"
    args = ["-y", "pkg"]
    timeout = 5

    [mcp_servers.fs.env]
    A = "1"
    "#);
    assert_snapshot!(toml(TABLES, &server("fs")), @r#"
    # ours
    model = "m" # the model

    [mcp_servers.a] # first
    command = "x" # start
    # args = []

    # about env
    [mcp_servers.a.env]
    K = "v"
    # end

    [mcp_servers.fs]
    command = "npx"
    args = ["-y", "pkg"]
    timeout = 5

    [mcp_servers.fs.env]
    A = "1"

    # about z
    [z]
    q = [
        1, # one
    ]
    "#);
    assert_eq!(toml(&toml(TABLES, &server("fs")), &remove("mcp_servers/fs")), TABLES);
    assert_eq!(toml("x = 1", &set("t", json!({"y": 2}))), "x = 1\n\n[t]\ny = 2");
}

#[test]
fn a_replaced_server_keeps_its_place_and_the_comments_around_it() {
    assert_snapshot!(toml(TABLES, &server("a")), @r#"
    # ours
    model = "m" # the model

    [mcp_servers.a]
    command = "npx"
    args = ["-y", "pkg"]
    timeout = 5

    [mcp_servers.a.env]
    A = "1"
    # args = []

    # about env
    # end

    # about z
    [z]
    q = [
        1, # one
    ]
    "#);
}

#[test]
fn removing_a_server_removes_its_tables() {
    assert_snapshot!(toml(TABLES, &remove("mcp_servers/a")), @r#"
    # ours
    model = "m" # the model
    # args = []

    # about env
    # end

    # about z
    [z]
    q = [
        1, # one
    ]
    "#);
    assert_eq!(toml("[a]\nx = 1\n\n[b]\ny = 2\n", &remove("a")), "[b]\ny = 2\n");
    assert_eq!(toml("[a]\nx = 1\n\n[b]\ny = 2", &remove("b")), "[a]\nx = 1");
}

#[test]
fn changing_a_field_changes_only_its_line() {
    let text = toml(TABLES, &set("mcp_servers/a/command", json!("C:\\new \"one\"")));
    assert_eq!(text, TABLES.replace("\"x\"", r#""C:\\new \"one\"""#));
    let text = toml(TABLES, &set("mcp_servers/a/enabled", json!(false)));
    assert_eq!(text, TABLES.replace("# start\n", "# start\nenabled = false\n"));
    assert_eq!(toml(&text, &remove("mcp_servers/a/enabled")), TABLES);
    let text = toml(TABLES, &set("model", json!(null)));
    assert_eq!(text, TABLES.replace("model = \"m\" # the model\n", ""));
}

#[test]
fn a_new_root_key_is_added_above_the_first_table() {
    assert_snapshot!(toml("# about a\n[a]\nx = 1\n", &set("top", json!([1, 2.5]))), @"
    top = [1, 2.5]

    # about a
    [a]
    x = 1
    ");
    assert_eq!(toml("# only this\n", &set("a", json!(true))), "# only this\na = true\n");
    assert_eq!(toml("a = 1\r\n", &set("b", json!("\u{7f}\n"))), "a = 1\r\nb = \"\\u007F\\n\"\r\n");
}

#[test]
fn dotted_keys_are_extended_with_dotted_keys_in_order() {
    assert_snapshot!(toml(DOTTED, &server("fs")), @r#"
    mcp_servers.a.command = "x"
    z = 1 # between
    mcp_servers.a.env.K = "v"
    mcp_servers.fs = { command = "npx", args = ["-y", "pkg"], env = { A = "1" }, timeout = 5 }
    "#);
    assert_snapshot!(toml(DOTTED, &set("mcp_servers/a/env/L", json!("w"))), @r#"
    mcp_servers.a.command = "x"
    z = 1 # between
    mcp_servers.a.env.K = "v"
    mcp_servers.a.env.L = "w"
    "#);
    assert_snapshot!(toml(DOTTED, &server("a")), @r#"
    mcp_servers.a = { command = "npx", args = ["-y", "pkg"], env = { A = "1" }, timeout = 5 }
    z = 1 # between
    "#);
    assert_eq!(toml(DOTTED, &remove("mcp_servers/a")), "z = 1 # between\n");
}

#[test]
fn inline_tables_are_changed_in_place() {
    let text = "mcp_servers = { a = { command = \"x\", env.K = \"v\" } }\n";
    assert_snapshot!(toml(text, &set("mcp_servers/b", json!({"url": "u"}))), @r#"mcp_servers = { a = { command = "x", env.K = "v" }, b = { url = "u" } }"#);
    assert_snapshot!(toml(text, &set("mcp_servers/a/env/L", json!("w"))), @r#"mcp_servers = { a = { command = "x", env.K = "v", env.L = "w" } }"#);
    assert_snapshot!(toml(text, &set("mcp_servers/a/env", json!({"M": "w"}))), @r#"mcp_servers = { a = { command = "x", env = { M = "w" } } }"#);
    assert_snapshot!(toml(text, &set("mcp_servers/a/command", json!("y"))), @r#"mcp_servers = { a = { command = "y", env.K = "v" } }"#);
    assert_eq!(toml(text, &remove("mcp_servers/a")), "mcp_servers = {}\n");
    assert_eq!(toml("[s]\na = {}\n", &set("s/a/b", json!(1))), "[s]\na = { b = 1 }\n");
}

#[test]
fn a_table_can_become_a_value_and_a_value_a_table() {
    assert_eq!(toml("[a]\nx = 1\n", &set("a", json!(2))), "a = 2\n");
    assert_eq!(toml("a = 2 # two\n", &set("a", json!({"x": 1}))), "a = { x = 1 } # two\n");
    assert_eq!(toml("[[a]]\nx = 1\n[[a]]\nx = 2\n", &set("a", json!({"y": 1}))), "[a]\ny = 1\n");
}

#[test]
fn adding_and_removing_items_keeps_the_layout_of_the_list() {
    let lines = "off = [\n    \"a\", # why\n    \"b\" # also\n]\n";
    assert_snapshot!(toml(lines, &include("off", "c")), @r#"
    off = [
        "a", # why
        "b", # also
        "c"
    ]
    "#);
    assert_snapshot!(toml(lines, &exclude("off", "b")), @r#"
    off = [
        "a" # why
    ]
    "#);
    assert_eq!(
        toml("off = [\"a\", \"b\",]\n", &include("off", "c")),
        "off = [\"a\", \"b\", \"c\",]\n"
    );
    assert_eq!(toml("off = [\"a\", 'a']\n", &exclude("off", "a")), "off = []\n");
    assert_eq!(toml("", &include("discovery/disabled", "x")), "[discovery]\ndisabled = [\"x\"]\n");
}

#[test]
fn keys_that_need_quotes_get_them() {
    let change = Change::Set {
        path: vec!["s".to_owned(), "my server.v1".to_owned()],
        value: json!({"": {"é": 1}}).into(),
    };
    assert_eq!(toml("", &change), "[s.\"my server.v1\".\"\"]\n\"é\" = 1\n");
}

#[test]
fn unicode_white_space_stays_in_its_comment() {
    let comment = "# one\u{a0}";
    assert_eq!(toml(comment, &set("a", json!(1))), "# one\u{a0}\na = 1");
    assert_eq!(toml(&format!("{comment}\n[b]\nc = 1\n"), &remove("b")), "# one\u{a0}\n");
}

#[test]
fn a_file_of_another_shape_is_refused() {
    let refused = [
        refusal("a = \n", Notation::Toml, server("a")),
        refusal("x = 1\n[[mcp_servers]]\n", Notation::Toml, server("a")),
        refusal("mcp_servers = 4\n", Notation::Toml, server("a")),
        refusal("s = { a = 1 }\n", Notation::Toml, set("s/a/b", json!(1))),
        refusal("\n[off]\n", Notation::Toml, include("off", "a")),
    ];
    assert_snapshot!(refused.join("\n"), @"
    the file has a syntax error (line 1) | correct line 1, column 5 first; the file was not changed
    `mcp_servers` is a list, not an object (line 2) | make `mcp_servers` an object, or remove it
    `mcp_servers` is a number, not an object (line 1) | make `mcp_servers` an object, or remove it
    `s.a` is a number, not an object (line 1) | make `s.a` an object, or remove it
    `off` is a table, not a list (line 2) | make `off` a list, or remove it
    ");
}
