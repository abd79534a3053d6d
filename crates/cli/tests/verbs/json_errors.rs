//! With `--json` a failing verb prints one JSON document with an error.

use insta::assert_snapshot;
use serde_json::Value;

use crate::world::World;

const SERVERS: &str = r#"{ "mcpServers": {
  "gone": { "command": "gone" }, "off": { "command": "x", "enabled": false }
} }"#;

#[test]
fn every_verb_that_fails_prints_one_document_with_an_error() {
    let world = World::new()
        .home(".wharf/mcp.json", SERVERS)
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "x" } } }"#);
    let lines = [
        "get nobody",
        "get theirs --reveal",
        "explain nobody",
        "doctor nobody",
        "doctor --offline",
        "tools --server gone",
        "tools nobody",
        "tools --server nobody",
        "resources --server gone",
        "read x://y --server gone",
        "prompts --server gone",
        "prompt nobody --server gone",
        "test nobody",
        "test gone",
        "reconnect gone",
        "reconnect nobody",
        "logs nobody",
        "call nobody/x",
        "call gone/x",
        "call theirs/x",
        "add gone --scope user -- x",
        "add-json x {",
        "remove nobody",
        "enable nobody",
        "disable nobody",
        "import nobody",
        "export nobody",
        "import cursor nobody",
        "trust nobody",
        "untrust nobody",
        "config get nobody",
        "config set call.max_ms 0",
        "list --nonsense",
        "nonsense",
        "call",
        "list --project nowhere",
    ];
    for line in lines {
        let output = world.output(&format!("--json {line}"));
        let stdout = String::from_utf8(output.stdout).unwrap();
        let document: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}: {stdout:?}"));
        assert_ne!(output.status.code(), Some(0), "{line}");
        assert_eq!(document["ok"], Value::Bool(false), "{line}: {stdout}");
        // In `test --json` the error is a string.
        let error = &document["error"];
        let message = if line.starts_with("test gone") { error } else { &error["message"] };
        assert!(message.is_string(), "{line}: {stdout}");
        assert!(line.starts_with("test gone") || error["code"].is_string(), "{line}: {stdout}");
    }
}

#[test]
fn a_failure_has_a_code_a_message_and_a_hint() {
    let world = World::new().home(".wharf/mcp.json", SERVERS);
    assert_snapshot!(world.run("get gonne --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "not-found",
        "message": "Server \"gonne\" not found",
        "hint": "did you mean \"gone\"?",
        "server": "gonne"
      }
    }
    --- stderr
    error: Server "gonne" not found
      hint: did you mean "gone"?
    "#);
    assert_snapshot!(world.run("list --jsn --json"), @r#"
    exit 2
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "usage",
        "message": "unexpected argument '--jsn' found",
        "hint": "a similar argument exists: '--json'"
      }
    }
    --- stderr
    error: unexpected argument '--jsn' found

      tip: a similar argument exists: '--json'

    Usage: wharf list --json

    For more information, try '--help'.
    "#);
    assert_snapshot!(world.run("add gone --scope user --json -- x"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "gone",
      "message": "Server \"gone\" already exists in ~/.wharf/mcp.json",
      "error": {
        "code": "already-exists",
        "message": "Server \"gone\" already exists in ~/.wharf/mcp.json",
        "hint": "use --force to replace it",
        "server": "gone",
        "path": "~/.wharf/mcp.json"
      }
    }
    --- stderr
    error: Server "gone" already exists in ~/.wharf/mcp.json
      hint: use --force to replace it
    "#);
    assert_snapshot!(world.run("tools --server gone --json"), @r#"
    exit 3
    --- stdout
    {
      "tools": [],
      "servers": [
        {
          "name": "gone",
          "status": "failed",
          "tools": 0,
          "error": "gone not found"
        }
      ],
      "errors": [
        {
          "path": "mcp:gone",
          "error": "gone not found"
        }
      ],
      "problems": [],
      "ok": false,
      "error": {
        "code": "not-connected",
        "message": "Failed to connect to \"gone\": gone not found",
        "hint": "install gone, or give its full path in \"command\"",
        "server": "gone"
      }
    }
    --- stderr
    error: Failed to connect to "gone": gone not found
      hint: install gone, or give its full path in "command"
    "#);
}

#[test]
fn json_after_a_double_dash_is_not_the_flag() {
    assert_snapshot!(World::new().run("add -- x --json"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <NAME>

    Usage: wharf add --no-probe <NAME> -- <COMMAND>...

    For more information, try '--help'.
    ");
}
