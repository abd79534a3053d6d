//! `wharf add-json`: adds an entry that is given as JSON, in an argument or on stdin.

use insta::assert_snapshot;

use crate::world::World;

/// Adds an entry that must be refused, and returns the output.
#[track_caller]
fn refused(entry: &str) -> String {
    let world = World::new();
    let output = world.run_words(&["add-json", "a", entry]);
    assert!(!world.path("project/.wharf").exists(), "{output}");
    output
}

#[test]
fn an_entry_is_added_unchanged() {
    let world = World::new();
    let entry = r#"{ "command": "npx", "args": ["-y", "x"], "timeout": 5000, "approval": "writes", "custom": { "a": [1, null, 2.5] } }"#;
    assert_snapshot!(world.run_words(&["add-json", "a", entry]), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "command": "npx",
          "args": ["-y", "x"],
          "timeout": 5000,
          "approval": "writes",
          "custom": {
            "a": [1, null, 2.5]
          }
        }
      }
    }
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT      SOURCE           FILE
    a     enabled  stdio      npx -y x  Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn comments_and_trailing_commas_are_accepted() {
    let world = World::new();
    let entry = "{\n  // where it is\n  \"url\": \"https://a.example/mcp\", /* and */\n  \"type\": \"sse\",\n}\n";
    assert_snapshot!(world.run_with_input(&["add-json", "a", "-", "--scope", "user", "--json"], entry), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "a",
      "path": "~/.wharf/mcp.json",
      "message": "Added server \"a\" in ~/.wharf/mcp.json"
    }
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "url": "https://a.example/mcp",
          "type": "sse"
        }
      }
    }
    "#);
    assert_snapshot!(world.run_words(&["add-json", "a", entry, "--scope", "user"]), @r#"
    exit 1
    --- stderr
    error: Server "a" already exists in ~/.wharf/mcp.json
      hint: use --force to replace it
    "#);
    assert_snapshot!(world.run_words(&["add-json", "a", r#"{"command":"npx"}"#, "--scope", "user", "--force"]), @r#"
    exit 0
    --- stdout
    Replaced server "a" in ~/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "command": "npx"
        }
      }
    }
    "#);
}

#[test]
fn a_json_error_names_the_position_and_never_quotes_the_text() {
    assert_snapshot!(refused("{\n  \"command\": \"s3cret\"\n  \"env\": { \"A\": \"s3cret\" }\n}"), @r#"
    exit 1
    --- stderr
    error: Invalid server config: a comma is missing here (line 2, column 22)
      hint: give a JSON object such as {"command": "npx", "args": ["…"]}
    "#);
    assert_snapshot!(refused("{ \"command\": s3cret }"), @r#"
    exit 1
    --- stderr
    error: Invalid server config: a string must be in double quotes; only `true`, `false` and `null` are unquoted (line 1, column 14)
      hint: give a JSON object such as {"command": "npx", "args": ["…"]}
    "#);
    assert_snapshot!(refused("{ \"env\": { \"A\": \"s3cret"), @r#"
    exit 1
    --- stderr
    error: Invalid server config: the closing quote of this string is missing (line 1, column 17)
      hint: give a JSON object such as {"command": "npx", "args": ["…"]}
    "#);
    assert_snapshot!(refused("{ \"command\": \"npx\" } s3cret"), @r#"
    exit 1
    --- stderr
    error: Invalid server config: unexpected text after the value (line 1, column 22)
      hint: give a JSON object such as {"command": "npx", "args": ["…"]}
    "#);
}

#[test]
fn an_entry_must_be_an_object() {
    assert_snapshot!(refused("[\"s3cret\"]"), @"
    exit 1
    --- stderr
    error: Invalid server config: the entry must be a JSON object
    ");
    assert_snapshot!(refused("\"s3cret\""), @"
    exit 1
    --- stderr
    error: Invalid server config: the entry must be a JSON object
    ");
    assert_snapshot!(refused("null"), @"
    exit 1
    --- stderr
    error: Invalid server config: the entry must be a JSON object
    ");
    assert_snapshot!(refused(""), @"
    exit 1
    --- stderr
    error: Invalid server config: the entry must be a JSON object
    ");
    assert_snapshot!(World::new().run_with_input(&["add-json", "a", "-"], ""), @"
    exit 1
    --- stderr
    error: Invalid server config: the entry must be a JSON object
    ");
}

#[test]
fn an_invalid_entry_is_refused() {
    assert_snapshot!(refused("{}"), @r#"
    exit 1
    --- stderr
    error: Invalid server config: stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    "#);
    assert_snapshot!(refused(r#"{ "command": "x", "url": "https://h" }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: both "command" and "url" are set
      hint: keep "command" for a local server or "url" for a remote one
    "#);
    assert_snapshot!(refused(r#"{ "type": "http" }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: http server requires "url"
      hint: add "url" with the server's address
    "#);
    assert_snapshot!(refused(r#"{ "type": "sse", "command": "x" }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: sse server requires "url"
      hint: add "url" with the server's address
    "#);
    assert_snapshot!(refused(r#"{ "type": "smoke", "command": "x" }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: unknown server type "smoke"
      hint: use stdio, http or sse
    "#);
    assert_snapshot!(refused(r#"{ "type": "ws", "url": "wss://h" }"#), @"
    exit 1
    --- stderr
    error: Invalid server config: WebSocket is not supported
      hint: ask the server's author for its Streamable HTTP address
    ");
    assert_snapshot!(refused(r#"{ "mcpServers": { "a": { "command": "x" } } }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    "#);
}

#[test]
fn a_disabled_entry_must_be_valid() {
    assert_snapshot!(refused(r#"{ "enabled": false, "command": "x", "url": "https://h" }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: both "command" and "url" are set
      hint: keep "command" for a local server or "url" for a remote one
    "#);
    assert_snapshot!(refused(r#"{ "enabled": false, "url": "h" }"#), @r#"
    exit 1
    --- stderr
    error: Invalid server config: "url" must start with http://, https:// or unix://
      hint: write the whole address, such as https://example.com/mcp
    "#);
    let world = World::new();
    assert_snapshot!(world.run_words(&["add-json", "a", r#"{ "enabled": false, "command": "x" }"#]), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json; it stays off until `wharf enable a`
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE     TRANSPORT  WHAT  SOURCE           FILE
    a     disabled  stdio      x     Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn names_and_arguments_are_validated() {
    let world = World::new();
    assert_snapshot!(world.run_words(&["add-json", "a b", r#"{"command":"x"}"#, "--json"]), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a b",
      "message": "Server name can only contain letters, numbers, dash, underscore and dot",
      "error": {
        "code": "invalid",
        "message": "Server name can only contain letters, numbers, dash, underscore and dot"
      }
    }
    --- stderr
    error: Server name can only contain letters, numbers, dash, underscore and dot
    "#);
    assert_snapshot!(World::new().with_probe().run("add-json a"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <JSON>

    Usage: wharf add-json <NAME> <JSON>

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run_words(&["add-json", "a", "{", "--json"]), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a",
      "message": "Invalid server config: the file ends inside the object of line 1 (line 1, column 2)",
      "error": {
        "code": "invalid",
        "message": "Invalid server config: the file ends inside the object of line 1 (line 1, column 2)",
        "hint": "give a JSON object such as {\"command\": \"npx\", \"args\": [\"…\"]}"
      }
    }
    --- stderr
    error: Invalid server config: the file ends inside the object of line 1 (line 1, column 2)
      hint: give a JSON object such as {"command": "npx", "args": ["…"]}
    "#);
}

#[test]
fn a_secret_stored_in_plain_text_causes_a_hint() {
    let world = World::new();
    let entry =
        r#"{ "url": "https://a.example", "headers": { "Authorization": "Bearer s3cret" } }"#;
    assert_snapshot!(world.run_words(&["add-json", "a", entry]), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    --- stderr
    hint: "Authorization" is stored in plain text; write '${AUTHORIZATION}' to read it from the environment
    "#);
}
