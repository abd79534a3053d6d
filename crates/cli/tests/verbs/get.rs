//! `wharf get`: one entry, with redacted secrets or with `--reveal`.

use insta::assert_snapshot;

use crate::list::every_state;
use crate::world::World;

fn with_values() -> World {
    World::new().variable("TOKEN", "t0ken").variable("REGION", "eu").home(
        ".wharf/mcp.json",
        r#"{ "mcpServers": {
  "local": { "command": "npx", "args": ["--api-key", "${TOKEN}", "x"], "cwd": "~/x",
             "env": { "TOKEN": "${TOKEN}", "HELP": "!pass show x", "R": "REGION" },
             "callTimeout": "2m", "passEnv": ["DISPLAY"], "excludeTools": ["rm*"] },
  "remote": { "url": "https://u:${TOKEN}@example.com/${REGION}?k=${TOKEN}", "type": "sse",
              "headers": { "Authorization": "Bearer ${TOKEN}" } } } }"#,
    )
}

#[test]
fn an_entry_is_shown_as_written_without_secrets() {
    assert_snapshot!(with_values().run("get local"), @"
    exit 0
    --- stdout
    local
      state          enabled
      source         Wharf · user  ~/.wharf/mcp.json:2
      transport      stdio
      command        npx --api-key ••• x
      cwd            ~/x
      env            TOKEN=•••
                     HELP=•••
                     R=•••
      timeout        30 s
      calls          2 min
      approval       ask (agents need approval for each call)
      without tools  rm*
      passes on      DISPLAY
    ");
    assert_snapshot!(with_values().run("get remote"), @"
    exit 0
    --- stdout
    remote
      state          enabled
      source         Wharf · user  ~/.wharf/mcp.json:5
      transport      sse
      url            https://•••${TOKEN}@example.com/${REGION}?k=${TOKEN}
      headers        Authorization: •••
      timeout        30 s
      approval       ask (agents need approval for each call)
    ");
}

#[test]
fn reveal_shows_the_values() {
    assert_snapshot!(with_values().run("get local --reveal"), @"
    exit 0
    --- stdout
    local
      state          enabled
      source         Wharf · user  ~/.wharf/mcp.json:2
      transport      stdio
      command        npx --api-key t0ken x
      cwd            ~/x
      env            TOKEN=t0ken
                     HELP=•••
                     R=eu
      timeout        30 s
      calls          2 min
      approval       ask (agents need approval for each call)
      without tools  rm*
      passes on      DISPLAY
    ");
    assert_snapshot!(with_values().run("get remote --reveal"), @"
    exit 0
    --- stdout
    remote
      state          enabled
      source         Wharf · user  ~/.wharf/mcp.json:5
      transport      sse
      url            https://u:t0ken@example.com/eu?k=t0ken
      headers        Authorization: Bearer t0ken
      timeout        30 s
      approval       ask (agents need approval for each call)
    ");
}

#[test]
fn json_is_one_server() {
    assert_snapshot!(with_values().run("get remote --json"), @r#"
    exit 0
    --- stdout
    {
      "server": {
        "name": "remote",
        "state": "enabled",
        "transport": "sse",
        "url": "https://•••${TOKEN}@example.com/${REGION}?k=${TOKEN}",
        "headers": {
          "Authorization": "•••"
        },
        "timeoutMs": 30000,
        "approval": "ask",
        "source": {
          "provider": "wharf",
          "providerName": "Wharf",
          "level": "user",
          "path": "~/.wharf/mcp.json"
        },
        "line": 5,
        "problems": []
      }
    }
    "#);
    assert_snapshot!(with_values().run("get remote --json --reveal"), @r#"
    exit 0
    --- stdout
    {
      "server": {
        "name": "remote",
        "state": "enabled",
        "transport": "sse",
        "url": "https://u:t0ken@example.com/eu?k=t0ken",
        "headers": {
          "Authorization": "Bearer t0ken"
        },
        "timeoutMs": 30000,
        "approval": "ask",
        "source": {
          "provider": "wharf",
          "providerName": "Wharf",
          "level": "user",
          "path": "~/.wharf/mcp.json"
        },
        "line": 5,
        "problems": []
      }
    }
    "#);
}

#[test]
fn the_state_is_shown_with_its_reason() {
    let world = every_state();
    assert_snapshot!(world.run("get off"), @r#"
    exit 0
    --- stdout
    off
      state          disabled (switched off by "disabled")
      source         Cursor · user  ~/.cursor/mcp.json:5
      transport      stdio
      command        npx
      timeout        30 s
      approval       ask (agents need approval for each call)
    "#);
    assert_snapshot!(world.run("get same"), @r#"
    exit 0
    --- stdout
    same
      state          duplicate (of "fs")
      source         Cursor · user  ~/.cursor/mcp.json:4
      transport      stdio
      command        npx -y server-fs 'a b'
      env            A=•••
      timeout        30 s
      approval       ask (agents need approval for each call)
    "#);
    assert_snapshot!(world.run("get half"), @r#"
    exit 0
    --- stdout
    half
      state          invalid
      source         Cursor · user  ~/.cursor/mcp.json:6
      transport      unknown
      timeout        30 s
      approval       ask (agents need approval for each call)
    --- stderr
    error: ~/.cursor/mcp.json:6: "half": stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    "#);
}

#[test]
fn an_untrusted_entry_is_shown_but_not_revealed() {
    let world = every_state();
    assert_snapshot!(world.run("get theirs"), @r#"
    exit 0
    --- stdout
    theirs
      state          untrusted (it came with this project, and you have not trusted it yet)
      source         Cursor · project  [project]/.cursor/mcp.json:1
      transport      stdio
      command        uvx
      timeout        30 s
      approval       ask (agents need approval for each call)
    --- stderr
    warning: [project]/.cursor/mcp.json:1: "theirs": hides your "theirs" from ~/.cursor/mcp.json
      hint: trust it to use it here, or rename yours
    "#);
    assert_snapshot!(world.run("get theirs --reveal"), @r#"
    exit 6
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
    assert_snapshot!(world.run("get theirs --reveal --json"), @r#"
    exit 6
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "untrusted",
        "message": "Server \"theirs\" came with this project and is not trusted",
        "hint": "`wharf trust theirs`",
        "server": "theirs"
      }
    }
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
}

#[test]
fn an_unknown_name_is_not_found() {
    let world = every_state();
    assert_snapshot!(world.run("get remot"), @r#"
    exit 1
    --- stderr
    error: Server "remot" not found
      hint: did you mean "remote"?
    "#);
    assert_snapshot!(world.run("get nothing-like-it --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "not-found",
        "message": "Server \"nothing-like-it\" not found",
        "server": "nothing-like-it"
      }
    }
    --- stderr
    error: Server "nothing-like-it" not found
    "#);
}
