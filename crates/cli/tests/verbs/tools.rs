//! `wharf tools`: lists all tools, or shows one tool.

use insta::assert_snapshot;

use crate::test_servers::world_with_box;
use crate::world::World;

#[test]
fn an_empty_machine_has_the_thinking_tool() {
    assert_snapshot!(World::new().run("tools"), @r#"
    exit 0
    --- stdout
    NAME                             SERVER    DESCRIPTION
    mcp_thinking_sequentialthinking  thinking  Works through a hard problem one thought at a time. Call it once per thought.
    --- stderr
    note: the default "context7" is not available: npx not found
    note: the default "github" is not available: npx not found
    1 tool from 1 server.
    Nothing is configured yet, so these are Wharf's defaults. Add a server: wharf add NAME -- COMMAND…
    "context7" and "github" download a package from the npm registry when started (npx).
    hint: to turn one off: `wharf disable context7`; all of them: `wharf config set discovery.disabled defaults`
    "#);
}

#[test]
fn all_tools_are_listed() {
    assert_snapshot!(world_with_box().run("tools"), @"
    exit 0
    --- stdout
    NAME             SERVER  DESCRIPTION
    mcp_box_die      box
    mcp_box_echo     box     Says it again.
    mcp_box_fail     box     Says no
    mcp_box_hang     box
    mcp_box_picture  box
    --- stderr
    5 tools from 1 server.
    ");
}

#[test]
fn one_tool_is_shown_in_full() {
    let world = world_with_box();
    assert_snapshot!(world.run("tools mcp_box_echo"), @r#"
    exit 0
    --- stdout
    mcp_box_echo
      server         box  mcp:box via Wharf
      tool           echo
      approval       ask (agents need approval for each call)
      annotations    read-only

    Says it again.
    In full.

    Usage
      wharf call box/echo text=<string> [times=<integer>]

    Arguments
      text   string, required
      times  integer

    Example
      wharf call box/echo text=text

    Schema
    {
      "type": "object",
      "properties": {
        "text": {
          "type": "string"
        },
        "times": {
          "type": "integer"
        }
      },
      "required": [
        "text"
      ]
    }
    "#);
    for alias in ["box/echo", "box.echo", "mcp__box__echo"] {
        assert_eq!(
            world.run(&format!("tools {alias}")),
            world.run("tools mcp_box_echo"),
            "{alias}"
        );
    }
}

#[test]
fn an_unknown_tool_gets_a_suggestion() {
    let world = world_with_box();
    assert_snapshot!(world.run("tools mcp_box_ecko"), @r#"
    exit 1
    --- stderr
    error: Tool "mcp_box_ecko" not found
      hint: did you mean "mcp_box_echo"?
    "#);
    assert_snapshot!(world.run("tools nothing"), @r#"
    exit 1
    --- stderr
    error: Tool "nothing" not found
    "#);
}

#[test]
fn json_has_the_documented_fields() {
    assert_snapshot!(world_with_box().run("tools box/echo --json"), @r#"
    exit 0
    --- stdout
    {
      "tools": [
        {
          "name": "mcp_box_echo",
          "server": "box",
          "tool": "echo",
          "description": "Says it again.\nIn full.",
          "inputSchema": {
            "type": "object",
            "properties": {
              "text": {
                "type": "string"
              },
              "times": {
                "type": "integer"
              }
            },
            "required": [
              "text"
            ]
          },
          "annotations": {
            "readOnlyHint": true
          },
          "freshness": "live",
          "approval": "ask",
          "usage": "wharf call box/echo text=<string> [times=<integer>]",
          "example": "wharf call box/echo text=text"
        }
      ],
      "servers": [
        {
          "name": "box",
          "status": "connected",
          "tools": 5
        }
      ],
      "errors": [],
      "problems": []
    }
    "#);
}

#[test]
fn failing_servers_do_not_affect_others() {
    let world = World::new()
        .tool_server("box")
        .script("broken", "echo 'no licence' >&2; exit 3\n")
        .script("chatty", "echo hello; echo world; read line\n")
        .own_servers(&[
            ("box", r#""command": "box""#),
            ("broken", r#""command": "broken", "timeout": 5000"#),
            ("gone", r#""command": "nowhere""#),
            ("off", r#""command": "box", "args": ["2"], "enabled": false"#),
            ("half", r#""type": "stdio""#),
        ]);
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME             SERVER  DESCRIPTION
    mcp_box_die      box
    mcp_box_echo     box     Says it again.
    mcp_box_fail     box     Says no
    mcp_box_hang     box
    mcp_box_picture  box
    --- stderr
    warning: Failed to connect to "broken": the server's process ended (exit status: 3)
      stderr: no licence
      hint: `wharf logs broken` shows all of its output
    warning: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    warning: Failed to connect to "half": stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    5 tools from 1 server.
    "#);
    assert_snapshot!(world.run("tools --json -q").split("\"servers\"").nth(1).unwrap(), @r#"
    : [
        {
          "name": "box",
          "status": "connected",
          "tools": 5
        },
        {
          "name": "broken",
          "status": "failed",
          "tools": 0,
          "error": "the server's process ended (exit status: 3); stderr: no licence"
        },
        {
          "name": "gone",
          "status": "failed",
          "tools": 0,
          "error": "nowhere not found"
        },
        {
          "name": "half",
          "status": "failed",
          "tools": 0,
          "error": "stdio server requires \"command\""
        },
        {
          "name": "off",
          "status": "disabled",
          "tools": 0
        }
      ],
      "errors": [
        {
          "path": "mcp:broken",
          "error": "the server's process ended (exit status: 3); stderr: no licence"
        },
        {
          "path": "mcp:gone",
          "error": "nowhere not found"
        },
        {
          "path": "mcp:half",
          "error": "stdio server requires \"command\""
        }
      ],
      "problems": [
        {
          "severity": "error",
          "code": "invalid",
          "server": "half",
          "field": "command",
          "path": "~/.wharf/mcp.json",
          "line": 5,
          "message": "stdio server requires \"command\"",
          "hint": "add \"command\" (the program to start), or \"url\" for a remote server"
        }
      ]
    }
    "#);
}

#[test]
fn the_failure_of_a_named_server_sets_the_exit_code() {
    let world = World::new()
        .script("broken", "echo 'no licence' >&2; exit 3\n")
        .server_with_startup("slow", "read line; read line; read line; read line")
        .own_servers(&[
            ("broken", r#""command": "broken", "timeout": 5000"#),
            ("slow", r#""command": "slow", "timeout": 300"#),
            ("gone", r#""command": "nowhere""#),
            ("off", r#""command": "box", "enabled": false"#),
            ("half", r#""type": "stdio""#),
        ]);
    assert_snapshot!(world.run("tools --server broken"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        no licence
    "#);
    assert_snapshot!(world.run("tools --server slow"), @r#"
    exit 5
    --- stderr
    error: Failed to connect to "slow": the server did not answer within 300ms
      hint: raise `timeout` in its entry if it needs longer to start (`wharf get slow`)
    "#);
    assert_snapshot!(world.run("tools --server gone"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    "#);
    assert_snapshot!(world.run("tools --server off"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("tools --server half"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "half": stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    "#);
    assert_snapshot!(world.run("tools --server nobody"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
}

#[test]
fn the_failure_of_a_required_server_sets_the_exit_code() {
    let world = World::new().tool_server("box").own_servers(&[
        ("box", r#""command": "box""#),
        ("gone", r#""command": "nowhere", "required": true"#),
    ]);
    let rendered = world.run("tools");
    assert!(rendered.starts_with("exit 3\n--- stdout\nNAME"), "{rendered}");
    assert!(rendered.contains("error: Failed to connect to \"gone\""), "{rendered}");
}

#[test]
fn a_slow_server_with_cached_tools_delays_nothing() {
    let world = World::new()
        .server_with_startup("slow", r#"[ -e "$0.slow" ] && read line && read line && read line"#)
        .own_servers(&[("slow", r#""command": "slow""#)]);
    let live = world.run("tools --json");
    assert!(live.contains("\"freshness\": \"live\""), "{live}");
    std::fs::File::create(world.path("bin/slow.slow")).unwrap();
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME         SERVER  DESCRIPTION
    mcp_slow_go  slow    Goes
    --- stderr
    1 tool from 1 server. "slow" is still connecting, so these tools come from the cache.
    "#);
    let cached = world.run("tools --json");
    assert!(cached.contains("\"freshness\": \"cached\""), "{cached}");
}

#[test]
fn a_lazy_server_is_started_only_when_needed() {
    let world = World::new()
        .server_with_startup("lazy", r#"echo started >> "$0.seen""#)
        .own_servers(&[("lazy", r#""command": "lazy", "lazy": true"#)]);
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    0 tools from 0 servers. Connected only when needed: "lazy" (`wharf tools --fresh`).
    "#);
    assert!(!world.path("bin/lazy.seen").exists());
    assert_snapshot!(world.run("tools --server lazy"), @"
    exit 0
    --- stdout
    NAME         SERVER  DESCRIPTION
    mcp_lazy_go  lazy    Goes
    --- stderr
    1 tool from 1 server.
    ");
    assert_snapshot!(world.run("tools"), @"
    exit 0
    --- stdout
    NAME         SERVER  DESCRIPTION
    mcp_lazy_go  lazy    Goes
    --- stderr
    1 tool from 1 server.
    ");
    assert_eq!(world.read("bin/lazy.seen"), "started\n");
}

#[test]
fn an_invalid_wharf_mcp_servers_is_an_error() {
    let world = World::new().variable("WHARF_MCP_SERVERS", "no JSON");
    assert_snapshot!(world.run("tools"), @"
    exit 1
    --- stderr
    error: WHARF_MCP_SERVERS is not a JSON object of servers: a string must be in double quotes; only `true`, `false` and `null` are unquoted (line 1, column 1)
      hint: correct the variable, or unset it to use your files
    ");
}

#[test]
fn a_notice_names_the_defaults_that_download_a_package() {
    let world = World::new();
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME                             SERVER    DESCRIPTION
    mcp_thinking_sequentialthinking  thinking  Works through a hard problem one thought at a time. Call it once per thought.
    --- stderr
    note: the default "context7" is not available: npx not found
    note: the default "github" is not available: npx not found
    1 tool from 1 server.
    Nothing is configured yet, so these are Wharf's defaults. Add a server: wharf add NAME -- COMMAND…
    "context7" and "github" download a package from the npm registry when started (npx).
    hint: to turn one off: `wharf disable context7`; all of them: `wharf config set discovery.disabled defaults`
    "#);
    // The commands in the hint have the described effect.
    assert!(world.run("disable context7").starts_with("exit 0"));
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME                             SERVER    DESCRIPTION
    mcp_thinking_sequentialthinking  thinking  Works through a hard problem one thought at a time. Call it once per thought.
    --- stderr
    note: the default "github" is not available: npx not found
    1 tool from 1 server.
    Nothing is configured yet, so these are Wharf's defaults. Add a server: wharf add NAME -- COMMAND…
    "github" downloads a package from the npm registry when started (npx).
    hint: to turn one off: `wharf disable github`; all of them: `wharf config set discovery.disabled defaults`
    "#);
    assert!(world.run("config set discovery.disabled defaults").starts_with("exit 0"));
    assert_snapshot!(world.run("tools"), @"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    0 tools from 0 servers.
    ");
}
