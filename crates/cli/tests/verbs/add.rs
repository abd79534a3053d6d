//! `wharf add`: the file that a server is added to, and its entry.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn a_local_server_is_added_to_the_project_file_and_trusted() {
    let world = World::new().programs(&["npx"]);
    assert_snapshot!(world.run("add fs --env ROOT=/tmp --env A=b=c -- npx -y server --flag"), @r#"
    exit 0
    --- stdout
    Added server "fs" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "fs": {
          "command": "npx",
          "args": ["-y", "server", "--flag"],
          "env": {
            "ROOT": "/tmp",
            "A": "b=c"
          }
        }
      }
    }
    "#);
    assert_eq!(
        (world.mode("project/.wharf"), world.mode("project/.wharf/mcp.json")),
        (0o700, 0o600)
    );
    assert_snapshot!(world.run("list"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT                  SOURCE           FILE
    fs    enabled  stdio      npx -y server --flag  Wharf · project  .wharf/mcp.json
    --- stderr
    1 server: 1 enabled.
    ");
    assert_eq!(world.started_programs(), "");
}

#[test]
fn remote_servers_use_http_by_default() {
    let world = World::new();
    assert_snapshot!(world.run("add a --url https://a.example/mcp --header X-Team=${TEAM}"), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run("add b --url https://b.example/mcp --transport http"), @r#"
    exit 0
    --- stdout
    Added server "b" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run("add c --url https://c.example/sse --transport sse"), @r#"
    exit 0
    --- stdout
    Added server "c" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "type": "http",
          "url": "https://a.example/mcp",
          "headers": {
            "X-Team": "${TEAM}"
          }
        },
        "b": {
          "type": "http",
          "url": "https://b.example/mcp"
        },
        "c": {
          "type": "sse",
          "url": "https://c.example/sse"
        }
      }
    }
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT                   SOURCE           FILE
    a     enabled  http       https://a.example/mcp  Wharf · project  .wharf/mcp.json
    b     enabled  http       https://b.example/mcp  Wharf · project  .wharf/mcp.json
    c     enabled  sse        https://c.example/sse  Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn a_header_can_be_given_in_http_syntax() {
    let world = World::new();
    world.run_words(&["add", "a", "--url", "https://a.example", "--header", "Cookie: a=b; c=d"]);
    world.run_words(&[
        "add",
        "b",
        "--url",
        "https://b.example",
        "--header",
        "X-Where=http://h/?a=b",
    ]);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "type": "http",
          "url": "https://a.example",
          "headers": {
            "Cookie": "a=b; c=d"
          }
        },
        "b": {
          "type": "http",
          "url": "https://b.example",
          "headers": {
            "X-Where": "http://h/?a=b"
          }
        }
      }
    }
    "#);
}

#[test]
fn a_secret_stored_in_plain_text_causes_a_hint() {
    let world = World::new().variable("SET", "x");
    assert_snapshot!(world.run("add a --env API_TOKEN=abc --env B_TOKEN=${B} --env C_TOKEN=SET -- npx"), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    --- stderr
    hint: "API_TOKEN" is stored in plain text; write '${API_TOKEN}' to read it from the environment
    "#);
    assert_snapshot!(world.run_words(
        &["add", "b", "--url", "https://b.example", "--header", "X-Api-Key: abc", "--header", "Authorization=Basic abc"]
    ), @r#"
    exit 0
    --- stdout
    Added server "b" in [project]/.wharf/mcp.json
    --- stderr
    hint: "X-Api-Key" is stored in plain text; write '${X_API_KEY}' to read it from the environment
    hint: "Authorization" is stored in plain text; write '${AUTHORIZATION}' to read it from the environment
    "#);
    assert_snapshot!(world.run("add a --env API_TOKEN=abc -- npx"), @r#"
    exit 1
    --- stderr
    error: Server "a" already exists in [project]/.wharf/mcp.json
      hint: use --force to replace it
    "#);
}

#[test]
fn the_scope_flag_selects_the_file() {
    let world = World::new();
    assert_snapshot!(world.run("add a --scope user -- npx"), @r#"
    exit 0
    --- stdout
    Added server "a" in ~/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run("add a --scope project -- npx"), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    --- stderr
    It is used instead of "a" in ~/.wharf/mcp.json (Wharf · user).
    "#);
    assert_snapshot!(world.run("add a --scope both -- npx"), @"
    exit 2
    --- stderr
    error: invalid value 'both' for '--scope <SCOPE>'
      [possible values: project, user]

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run("list --all -q"), @"
    exit 0
    --- stdout
    NAME  STATE                        TRANSPORT  WHAT  SOURCE           FILE
    a     enabled                      stdio      npx   Wharf · project  .wharf/mcp.json
    a     shadowed by Wharf · project  stdio      npx   Wharf · user     ~/.wharf/mcp.json
    ");
}

#[test]
fn the_default_scope_depends_on_the_folder() {
    let world = World::new();
    assert_snapshot!(world.run_in("project/deep/er", "add deep -- npx"), @r#"
    exit 0
    --- stdout
    Added server "deep" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run_in("outside/deep", "add out -- npx"), @r#"
    exit 0
    --- stdout
    Added server "out" in [world]/outside/deep/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run_in("home", "add mine -- npx"), @r#"
    exit 0
    --- stdout
    Added server "mine" in ~/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run_in("home", "add mine --scope project -- npx"), @"
    exit 1
    --- stderr
    error: the home folder is not a project
      hint: use --scope user, or go to the project's folder
    ");
    assert_snapshot!(world.run_in("outside", "add there --project ../project/deep -- npx"), @r#"
    exit 0
    --- stdout
    Added server "there" in [project]/.wharf/mcp.json
    --- stderr
    warning: "there" is not used: it is the same server as "deep"
    "#);
    assert_snapshot!(world.run_in("outside", "add nowhere --project ../nothing -- npx"), @"
    exit 1
    --- stderr
    error: no such working folder: [world]/outside/../nothing
      hint: give a folder that exists with --project
    ");
    assert_snapshot!(world.run_in("project/deep", "list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE           FILE
    deep  enabled  stdio      npx   Wharf · project  [project]/.wharf/mcp.json
    ");
    assert_snapshot!(world.run_in("outside/deep", "list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE           FILE
    out   enabled  stdio      npx   Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn an_entry_is_replaced_only_with_force() {
    let world = World::new().home(
        ".wharf/mcp.json",
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"old\" }, // first\n\t\t\"b\": { \"command\": \"b\" },\n\t},\n}\n",
    );
    assert_snapshot!(world.run("add a --scope user -- new"), @r#"
    exit 1
    --- stderr
    error: Server "a" already exists in ~/.wharf/mcp.json
      hint: use --force to replace it
    "#);
    assert_snapshot!(world.run("add a --scope user --json -- new"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a",
      "message": "Server \"a\" already exists in ~/.wharf/mcp.json",
      "error": {
        "code": "already-exists",
        "message": "Server \"a\" already exists in ~/.wharf/mcp.json",
        "hint": "use --force to replace it",
        "server": "a",
        "path": "~/.wharf/mcp.json"
      }
    }
    --- stderr
    error: Server "a" already exists in ~/.wharf/mcp.json
      hint: use --force to replace it
    "#);
    assert_snapshot!(world.run("add a --scope user --force -- new x"), @r#"
    exit 0
    --- stdout
    Replaced server "a" in ~/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json").replace('\t', "  "), @r#"
    {
      // mine
      "mcpServers": {
        "a": {"command": "new", "args": ["x"]}, // first
        "b": { "command": "b" },
      },
    }
    "#);
}

#[test]
fn json_output_reports_the_result() {
    let world = World::new();
    assert_snapshot!(world.run("add a --json -- npx"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "a",
      "path": "[project]/.wharf/mcp.json",
      "message": "Added server \"a\" in [project]/.wharf/mcp.json"
    }
    "#);
    assert_snapshot!(world.run("add a --json -- npx"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a",
      "message": "Server \"a\" already exists in [project]/.wharf/mcp.json",
      "error": {
        "code": "already-exists",
        "message": "Server \"a\" already exists in [project]/.wharf/mcp.json",
        "hint": "use --force to replace it",
        "server": "a",
        "path": "[project]/.wharf/mcp.json"
      }
    }
    --- stderr
    error: Server "a" already exists in [project]/.wharf/mcp.json
      hint: use --force to replace it
    "#);
    assert_snapshot!(world.run("add a --json --force -- uvx"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "a",
      "path": "[project]/.wharf/mcp.json",
      "message": "Replaced server \"a\" in [project]/.wharf/mcp.json"
    }
    "#);
    assert_snapshot!(world.run_words(&["add", "a b", "--json", "--", "npx"]), @r#"
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
    assert_snapshot!(world.run("add b --json --url b.example"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "b",
      "message": "Invalid server config: \"url\" must start with http://, https:// or unix://",
      "error": {
        "code": "invalid",
        "message": "Invalid server config: \"url\" must start with http://, https:// or unix://",
        "hint": "write the whole address, such as https://example.com/mcp"
      }
    }
    --- stderr
    error: Invalid server config: "url" must start with http://, https:// or unix://
      hint: write the whole address, such as https://example.com/mcp
    "#);
}

#[test]
fn a_server_added_while_wharf_mcp_servers_is_set_is_trusted() {
    let world = World::new();
    let mut command = world.command(&["add", "a", "--", "npx"]);
    command.env("WHARF_MCP_SERVERS", r#"{ "b": { "command": "npx" } }"#);
    assert_snapshot!(world.render(&command.output().unwrap()), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    --- stderr
    It is not used in this folder: --no-project, a setting or WHARF_MCP_SERVERS excludes its file.
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE           FILE
    a     enabled  stdio      npx   Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn adding_a_disabled_server_keeps_it_disabled() {
    let world = World::new().home(".wharf/mcp.json", r#"{ "disabledServers": ["a"] }"#);
    assert_snapshot!(world.run("add a -- npx"), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json; it stays off until `wharf enable a`
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE     TRANSPORT  WHAT  SOURCE           FILE
    a     disabled  stdio      npx   Wharf · project  .wharf/mcp.json
    ");
}
