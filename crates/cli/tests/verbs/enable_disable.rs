//! `wharf enable` and `wharf disable`: Wharf's servers in their entries, others in a list.

use insta::assert_snapshot;

use crate::world::World;

const CURSOR: &str = "{ \"mcpServers\": {\n  \"theirs\": { \"command\": \"npx\" }, // keep\n  \"off\": { \"command\": \"uvx\", \"disabled\": true }\n} }\n";

fn world() -> World {
    World::new().home(".cursor/mcp.json", CURSOR).home(
        ".wharf/mcp.json",
        r#"{
  "mcpServers": {
    "mine": { "command": "npx" }, // mine
    "old": { "command": "npx", "disabled": true }
  }
}
"#,
    )
}

#[test]
fn a_wharf_server_is_switched_in_its_entry() {
    let world = world();
    assert_snapshot!(world.run("disable mine"), @r#"
    exit 0
    --- stdout
    Server "mine" is now disabled (recorded in ~/.wharf/mcp.json)
    "#);
    assert_snapshot!(world.run("disable mine"), @r#"
    exit 0
    --- stdout
    Server "mine" is already disabled
    "#);
    assert_snapshot!(world.run("enable old --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "old",
      "path": "~/.wharf/mcp.json",
      "message": "Server \"old\" is now enabled (recorded in ~/.wharf/mcp.json)"
    }
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE     TRANSPORT  WHAT  SOURCE         FILE
    mine  disabled  stdio      npx   Wharf · user   ~/.wharf/mcp.json
    off   disabled  stdio      uvx   Cursor · user  ~/.cursor/mcp.json
    old   enabled   stdio      npx   Wharf · user   ~/.wharf/mcp.json
    ");
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "mine": { "command": "npx", "enabled": false }, // mine
        "old": { "command": "npx", "disabled": false }
      }
    }
    "#);
    assert_snapshot!(world.run("enable mine"), @r#"
    exit 0
    --- stdout
    Server "mine" is now enabled (recorded in ~/.wharf/mcp.json)
    "#);
    assert_snapshot!(world.run("enable mine --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "mine",
      "message": "Server \"mine\" is already enabled"
    }
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "mine": { "command": "npx", "enabled": true }, // mine
        "old": { "command": "npx", "disabled": false }
      }
    }
    "#);
}

#[test]
fn the_file_of_another_program_is_not_changed() {
    let world = world();
    assert_snapshot!(world.run("disable theirs"), @r#"
    exit 0
    --- stdout
    Server "theirs" is now disabled (recorded in ~/.wharf/mcp.json)
    "#);
    assert_snapshot!(world.run("disable theirs"), @r#"
    exit 0
    --- stdout
    Server "theirs" is already disabled
    "#);
    assert_snapshot!(world.run("enable off"), @r#"
    exit 0
    --- stdout
    Server "off" is now enabled (recorded in ~/.wharf/mcp.json)
    "#);
    assert_snapshot!(world.run("enable off"), @r#"
    exit 0
    --- stdout
    Server "off" is already enabled
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "mine": { "command": "npx" }, // mine
        "old": { "command": "npx", "disabled": true }
      },
      "disabledServers": ["theirs"],
      "enabledServers": ["off"]
    }
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME    STATE     TRANSPORT  WHAT  SOURCE         FILE
    mine    enabled   stdio      npx   Wharf · user   ~/.wharf/mcp.json
    off     enabled   stdio      uvx   Cursor · user  ~/.cursor/mcp.json
    old     disabled  stdio      npx   Wharf · user   ~/.wharf/mcp.json
    theirs  disabled  stdio      npx   Cursor · user  ~/.cursor/mcp.json
    ");
    assert_snapshot!(world.run("enable theirs --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "theirs",
      "path": "~/.wharf/mcp.json",
      "message": "Server \"theirs\" is now enabled (recorded in ~/.wharf/mcp.json)"
    }
    "#);
    assert_snapshot!(world.run("disable off --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "off",
      "path": "~/.wharf/mcp.json",
      "message": "Server \"off\" is now disabled (recorded in ~/.wharf/mcp.json)"
    }
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "mine": { "command": "npx" }, // mine
        "old": { "command": "npx", "disabled": true }
      },
      "disabledServers": ["off"],
      "enabledServers": []
    }
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json"), CURSOR);
}

#[test]
fn a_default_can_be_disabled_and_enabled() {
    let world = World::new().programs(&["npx"]);
    assert_snapshot!(world.run("disable github"), @r#"
    exit 0
    --- stdout
    Server "github" is now disabled (recorded in ~/.wharf/mcp.json)
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "disabledServers": ["github"]
    }
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME      STATE     TRANSPORT  WHAT                                        SOURCE
    context7  enabled   stdio      npx -y @upstash/context7-mcp@latest         Wharf defaults
    github    disabled  stdio      npx -y @modelcontextprotocol/server-github  Wharf defaults
    thinking  enabled   stdio      wharf mcp thinking                          Wharf defaults
    ");
    assert_snapshot!(world.run("disable github --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "github",
      "message": "Server \"github\" is already disabled"
    }
    "#);
    assert_snapshot!(world.run("enable github"), @r#"
    exit 0
    --- stdout
    Server "github" is now enabled (recorded in ~/.wharf/mcp.json)
    "#);
    assert_snapshot!(world.run("enable github"), @r#"
    exit 0
    --- stdout
    Server "github" is already enabled
    "#);
}

#[test]
fn an_undefined_name_is_not_found() {
    let world = world();
    assert_snapshot!(world.run("disable thiers"), @r#"
    exit 1
    --- stderr
    error: Server "thiers" not found
      hint: did you mean "theirs"?
    "#);
    assert_snapshot!(world.run("enable nothing --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "nothing",
      "message": "Server \"nothing\" not found",
      "error": {
        "code": "not-found",
        "message": "Server \"nothing\" not found",
        "server": "nothing"
      }
    }
    --- stderr
    error: Server "nothing" not found
    "#);
    let gone = World::new().home(".wharf/mcp.json", r#"{ "disabledServers": ["gone"] }"#);
    assert_snapshot!(gone.run("enable gone"), @r#"
    exit 0
    --- stdout
    "gone" is no longer switched off, but no file defines it
    "#);
    assert_snapshot!(gone.run("enable gone"), @r#"
    exit 1
    --- stderr
    error: Server "gone" not found
    "#);
}

#[test]
fn enabling_or_disabling_does_not_change_trust() {
    let entry = r#"{ "mcpServers": { "a": { "command": "npx" }, "b": { "command": "uvx" } } }"#;
    let world = World::new().project(".wharf/mcp.json", entry);
    world.run("trust a");
    for line in ["disable a", "enable a", "disable b", "enable b"] {
        assert!(world.output(line).status.success(), "{line}");
    }
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE      TRANSPORT  WHAT  SOURCE           FILE
    a     enabled    stdio      npx   Wharf · project  .wharf/mcp.json
    b     untrusted  stdio      uvx   Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn a_disabled_list_that_is_not_a_list_is_not_changed() {
    let odd = r#"{ "disabledServers": "s3cret" }"#;
    let world = World::new().home(".wharf/mcp.json", odd).home(".cursor/mcp.json", CURSOR);
    assert_snapshot!(world.run("disable theirs"), @"
    exit 1
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: `disabledServers` is a string, not a list (line 1)
      hint: make `disabledServers` a list, or remove it
    ");
    assert_eq!(world.read("home/.wharf/mcp.json"), odd);
}

#[test]
fn adding_a_disabled_server_says_that_it_stays_disabled() {
    let world = World::new().home(".wharf/mcp.json", r#"{ "disabledServers": ["a"] }"#);
    assert_snapshot!(world.run("add a -- npx"), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json; it stays off until `wharf enable a`
    "#);
    assert_snapshot!(world.run("add a --force --json -- npx"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "a",
      "path": "[project]/.wharf/mcp.json",
      "message": "Replaced server \"a\" in [project]/.wharf/mcp.json; it stays off until `wharf enable a`"
    }
    "#);
}
