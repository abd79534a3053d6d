//! Tools with unusable schemas are omitted and reported; the other tools work.

use insta::assert_snapshot;

use crate::test_servers::legacy_server_script;
use crate::world::World;

const TOOLS: &str = r#"{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":7},{"name":"worse\u001b[2J","inputSchema":{"type":"string"}}"#;

fn world() -> World {
    let server = legacy_server_script("", r#"{"tools":{}}"#, TOOLS, "");
    World::new().script("half", &server).own_servers(&[("half", r#""command": "half""#)])
}

#[test]
fn the_tools_verb_reports_omitted_tools() {
    let world = world();
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME           SERVER
    mcp_half_good  half
    --- stderr
    warning: "half": 2 tools were omitted: "bad" (its inputSchema is not a schema), "worse\u{1b}[2J" (its inputSchema does not allow an object)
      hint: its other tools work; report this to the author of the server
    1 tool from 1 server.
    "#);
    assert_snapshot!(world.run("tools half -q"), @"
    exit 0
    --- stdout
    NAME           SERVER
    mcp_half_good  half
    ");
    let json = world.run("tools --json");
    assert_snapshot!(json.split("\"problems\"").nth(1).unwrap(), @r#"
    : [
        {
          "severity": "warning",
          "code": "omitted-tools",
          "server": "half",
          "message": "2 tools were omitted: \"bad\" (its inputSchema is not a schema), \"worse\\u{1b}[2J\" (its inputSchema does not allow an object)",
          "hint": "its other tools work; report this to the author of the server"
        }
      ]
    }
    --- stderr
    warning: "half": 2 tools were omitted: "bad" (its inputSchema is not a schema), "worse\u{1b}[2J" (its inputSchema does not allow an object)
      hint: its other tools work; report this to the author of the server
    "#);
}

#[test]
fn the_test_verb_reports_omitted_tools() {
    let output = world().run("test half");
    assert_snapshot!(output.split("--- stderr\n").nth(1).unwrap(), @r#"
    warning: "half": 2 tools were omitted: "bad" (its inputSchema is not a schema), "worse\u{1b}[2J" (its inputSchema does not allow an object)
      hint: its other tools work; report this to the author of the server
    warning: "bad": inputSchema is a number, not an object
    warning: "worse\u{1b}[2J": inputSchema.type has an unknown value
    "#);
    let json = world().run("test half --json");
    assert!(json.contains("\"code\": \"omitted-tools\""), "{json}");
}
