//! `wharf remove`: removes servers from the files of Wharf, never from those of other programs.

use insta::assert_snapshot;

use crate::world::World;

const THEIRS: &str = "{ \"mcpServers\": { \"theirs\": { \"command\": \"npx\" } } }";

fn world() -> World {
    World::new()
        .home(".cursor/mcp.json", THEIRS)
        .home(
            ".wharf/mcp.json",
            r#"{
  // mine
  "mcpServers": {
    "fs": { "command": "user-fs" }, // first
    // second
    "web": { "url": "https://w.example" }
  },
  "disabledServers": ["web", "theirs"]
}
"#,
        )
        .project(".wharf/mcp.json", r#"{ "mcpServers": { "fs": { "command": "project-fs" }, "only": { "command": "npx" } } }"#)
}

#[test]
fn a_server_is_removed_from_the_disabled_list_too() {
    let world = world();
    assert_snapshot!(world.run("remove web"), @r#"
    exit 0
    --- stdout
    Removed server "web" from ~/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      // mine
      "mcpServers": {
        "fs": { "command": "user-fs" } // first
        // second
      },
      "disabledServers": ["theirs"]
    }
    "#);
    assert_snapshot!(world.run("rm web --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "web",
      "message": "Server \"web\" not found",
      "error": {
        "code": "not-found",
        "message": "Server \"web\" not found",
        "server": "web"
      }
    }
    --- stderr
    error: Server "web" not found
    "#);
}

#[test]
fn without_a_scope_the_winning_definition_is_removed() {
    let world = world();
    assert_snapshot!(world.run("rm fs"), @r#"
    exit 0
    --- stdout
    Removed server "fs" from [project]/.wharf/mcp.json; the one in ~/.wharf/mcp.json (Wharf) is used now
    "#);
    assert_snapshot!(world.run("rm fs --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "fs",
      "path": "~/.wharf/mcp.json",
      "message": "Removed server \"fs\" from ~/.wharf/mcp.json"
    }
    "#);
    assert_snapshot!(world.run("rm fs"), @r#"
    exit 1
    --- stderr
    error: Server "fs" not found
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"{ "mcpServers": { "only": { "command": "npx" } } }"#);
}

#[test]
fn the_scope_flag_selects_the_definition() {
    let world = world();
    assert_snapshot!(world.run("remove fs --scope user"), @r#"
    exit 0
    --- stdout
    Removed server "fs" from ~/.wharf/mcp.json; the one in [project]/.wharf/mcp.json (Wharf) is used now
    "#);
    assert_snapshot!(world.run("remove fs --scope user"), @r#"
    exit 1
    --- stderr
    error: Server "fs" not found
      hint: it is in the project file: use --scope project
    "#);
    assert_snapshot!(world.run("remove web --scope project"), @r#"
    exit 1
    --- stderr
    error: Server "web" not found
      hint: it is in the user file: use --scope user
    "#);
    assert_snapshot!(world.run("remove only --scope user --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "only",
      "message": "Server \"only\" not found",
      "error": {
        "code": "not-found",
        "message": "Server \"only\" not found",
        "hint": "it is in the project file: use --scope project",
        "server": "only"
      }
    }
    --- stderr
    error: Server "only" not found
      hint: it is in the project file: use --scope project
    "#);
    assert_snapshot!(world.run("remove fs --scope project"), @r#"
    exit 0
    --- stdout
    Removed server "fs" from [project]/.wharf/mcp.json
    "#);
}

#[test]
fn servers_of_other_programs_are_not_removed() {
    let world = world();
    assert_snapshot!(world.run("remove theirs"), @r#"
    exit 1
    --- stderr
    error: Server "theirs" is defined in ~/.cursor/mcp.json (Cursor); use `wharf disable theirs`
    "#);
    assert_snapshot!(world.run("remove theirs --scope user --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "theirs",
      "message": "Server \"theirs\" is defined in ~/.cursor/mcp.json (Cursor); use `wharf disable theirs`",
      "error": {
        "code": "not-ours",
        "message": "Server \"theirs\" is defined in ~/.cursor/mcp.json (Cursor); use `wharf disable theirs`",
        "server": "theirs",
        "path": "~/.cursor/mcp.json"
      }
    }
    --- stderr
    error: Server "theirs" is defined in ~/.cursor/mcp.json (Cursor); use `wharf disable theirs`
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json"), THEIRS);
    assert_snapshot!(World::new().run("remove github"), @r#"
    exit 1
    --- stderr
    error: Server "github" is defined in built-in defaults (Wharf defaults); use `wharf disable github`
    "#);
    let variable = world.variable("WHARF_MCP_SERVERS", r#"{ "v": { "command": "npx" } }"#);
    assert_snapshot!(variable.run("remove v"), @r#"
    exit 1
    --- stderr
    error: Server "v" is defined in WHARF_MCP_SERVERS (WHARF_MCP_SERVERS); use `wharf disable v`
    "#);
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    assert_snapshot!(world().run("remove onl"), @r#"
    exit 1
    --- stderr
    error: Server "onl" not found
      hint: did you mean "only"?
    "#);
    assert_snapshot!(world().run("remove nothing --json"), @r#"
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
    assert_snapshot!(world().run("remove"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <NAME>

    Usage: wharf remove <NAME>

    For more information, try '--help'.
    ");
}

#[test]
fn a_malformed_file_is_reported_and_not_changed() {
    let broken = "{ \"mcpServers\": { \"a\": { \"command\": \"npx\" }, } , \"x\": s3cret }";
    let world = World::new().home(".wharf/mcp.json", broken);
    assert_snapshot!(world.run("remove a"), @"
    exit 1
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 1)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 1, column 55 first; the file was not changed
    ");
    assert_snapshot!(world.run("disable a --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a",
      "message": "could not edit ~/.wharf/mcp.json",
      "error": {
        "code": "file",
        "message": "could not edit ~/.wharf/mcp.json: the file has a syntax error (line 1): a string must be in double quotes; only `true`, `false` and `null` are unquoted",
        "hint": "correct line 1, column 55 first; the file was not changed",
        "path": "~/.wharf/mcp.json"
      }
    }
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 1)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 1, column 55 first; the file was not changed
    "#);
    assert_eq!(world.read("home/.wharf/mcp.json"), broken);
}
