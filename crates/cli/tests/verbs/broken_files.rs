//! Broken config files: each is reported once, and everything else still loads.

use insta::assert_snapshot;

use crate::world::World;

fn broken() -> World {
    World::new()
        .programs(&["npx"])
        .home(".cursor/mcp.json", "{ \"mcpServers\": {\n  \"a\": { \"command\": \"npx\" },,\n")
        .home(".gemini/settings.json", r#"{ "mcpServers": ["a"] }"#)
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": { "good": { "command": "npx", "argz": [] } } }"#,
        )
        .home(".wharf/config.toml", "[discovery]\nproject = 1\n")
        .home(".wharf/trust.json", "{")
}

#[test]
fn each_broken_file_is_reported() {
    assert_snapshot!(broken().run("list"), @r#"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE        FILE
    good  enabled  stdio      npx   Wharf · user  ~/.wharf/mcp.json
    --- stderr
    error: ~/.cursor/mcp.json:2: not valid JSON: a key in double quotes or `}` is missing here (column 29)
      hint: correct the line; until then the file is ignored
    error: ~/.gemini/settings.json:1: "mcpServers" must be an object of servers by name, not a list
      hint: write "mcpServers": { "name": { … } }
    warning: ~/.wharf/config.toml:2: "discovery.project" must be true or false; ignored
      hint: correct the value, or remove it
    warning: ~/.wharf/mcp.json:1: "good": unknown field "argz"
      hint: did you mean "args"?
    error: ~/.wharf/trust.json:1: the trust file is malformed; nothing is trusted
      hint: correct the file, or delete it and trust again
    1 server: 1 enabled.
    "#);
    assert_snapshot!(broken().run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE        FILE
    good  enabled  stdio      npx   Wharf · user  ~/.wharf/mcp.json
    ");
}

#[test]
fn doctor_reports_the_same_problems() {
    assert_snapshot!(broken().run("doctor --offline"), @r#"
    exit 1
    --- stdout
    ok  4 checks are fine (Wharf 2, Files 1, Servers 1); -v lists them

    Notes
      --  ~/.wharf/config.toml:2: "discovery.project" must be true or false; ignored
          hint: correct the value, or remove it
      --  good: unknown field "argz" (~/.wharf/mcp.json:1)
          hint: did you mean "args"?

    Problems
      !!  ~/.wharf/trust.json:1: the trust file is malformed; nothing is trusted
          hint: correct the file, or delete it and trust again
      !!  ~/.gemini/settings.json:1: "mcpServers" must be an object of servers by name, not a list
          hint: write "mcpServers": { "name": { … } }
      !!  ~/.cursor/mcp.json:2: not valid JSON: a key in double quotes or `}` is missing here (column 29)
          hint: correct the line; until then the file is ignored

    3 problems found.
    "#);
}

#[test]
fn a_malformed_trust_file_is_not_overwritten() {
    let world = broken().project(".mcp.json", r#"{ "mcpServers": { "p": { "command": "npx" } } }"#);
    assert_snapshot!(world.run("trust p"), @r#"
    exit 1
    --- stderr
    "p" from [project]/.mcp.json:1 (mcp.json)
      command        npx
      program        [world]/bin/npx
      approval       ask (agents need approval for each call)
    error: ~/.wharf/trust.json: line 1: the trust file is malformed; nothing is trusted
      hint: correct the file, or delete it and trust again
    "#);
}

#[test]
fn without_a_catalog_there_is_one_error() {
    let world = World::new().variable("WHARF_MCP_SERVERS", "{ \"a\": ");
    assert_snapshot!(world.run("list"), @"
    exit 1
    --- stderr
    error: WHARF_MCP_SERVERS is not a JSON object of servers: the file ends inside the object of line 1 (line 1, column 7)
      hint: correct the variable, or unset it to use your files
    ");
    assert_snapshot!(world.run("list --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "discovery-failed",
        "message": "WHARF_MCP_SERVERS is not a JSON object of servers: the file ends inside the object of line 1 (line 1, column 7)",
        "hint": "correct the variable, or unset it to use your files"
      }
    }
    --- stderr
    error: WHARF_MCP_SERVERS is not a JSON object of servers: the file ends inside the object of line 1 (line 1, column 7)
      hint: correct the variable, or unset it to use your files
    "#);
    assert_snapshot!(World::new().run("status --project nowhere"), @"
    exit 1
    --- stderr
    error: no such working folder: [project]/nowhere
      hint: give a folder that exists with --project
    ");
}

#[test]
fn an_unreadable_file_is_mentioned_beside_the_defaults() {
    let world = World::new().programs(&["npx"]).home(".cursor/mcp.json", "{");
    assert_snapshot!(world.run("list"), @"
    exit 0
    --- stdout
    NAME      STATE    TRANSPORT  WHAT                                        SOURCE
    context7  enabled  stdio      npx -y @upstash/context7-mcp@latest         Wharf defaults
    github    enabled  stdio      npx -y @modelcontextprotocol/server-github  Wharf defaults
    thinking  enabled  stdio      wharf mcp thinking                          Wharf defaults
    --- stderr
    error: ~/.cursor/mcp.json:1: not valid JSON: the file ends inside the object of line 1 (column 2)
      hint: correct the line; until then the file is ignored
    3 servers: 3 enabled.
    Some files could not be read (see above) and no other has servers, so these are Wharf's defaults.
    ");
    assert_snapshot!(world.run("doctor --offline"), @"
    exit 1
    --- stdout
    ok  7 checks are fine (Wharf 4, Servers 3); -v lists them

    Notes
      --  defaults: some files could not be read and no other has servers, so these are the defaults

    Problems
      !!  ~/.cursor/mcp.json:1: not valid JSON: the file ends inside the object of line 1 (column 2)
          hint: correct the line; until then the file is ignored

    1 problem found.
    ");
    // `trust.json` has no servers, so it is not a reason for missing servers.
    let world = World::new().home(".wharf/trust.json", "{");
    assert!(world.run("list").contains("Nothing is configured yet"));
}
