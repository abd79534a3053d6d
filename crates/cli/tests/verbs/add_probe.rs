//! `wharf add` connects to the new server (the probe), reports shadowing, and stores tokens.

use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::recording_server::RecordingServer;
use crate::world::World;

#[test]
fn a_new_server_is_connected_and_its_tools_are_counted() {
    let world = World::new().tool_server("box").with_probe();
    assert_snapshot!(world.run("add box -- box"), @r#"
    exit 0
    --- stdout
    Added server "box" in [project]/.wharf/mcp.json
    Connected: script 1.2, 5 tools
    "#);
    assert_snapshot!(world.run("add again --scope user --json -- box --flag"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "again",
      "path": "~/.wharf/mcp.json",
      "message": "Added server \"again\" in ~/.wharf/mcp.json",
      "probe": {
        "ok": true,
        "tools": 5,
        "server": "script 1.2"
      }
    }
    "#);
    // The tools are cached, so `list` shows their number without connecting.
    assert_snapshot!(world.run("list"), @"
    exit 0
    --- stdout
    NAME   STATE    TRANSPORT  TOOLS  WHAT        SOURCE           FILE
    again  enabled  stdio      5      box --flag  Wharf · user     ~/.wharf/mcp.json
    box    enabled  stdio      5      box         Wharf · project  .wharf/mcp.json
    --- stderr
    2 servers: 2 enabled.
    ");
    assert_snapshot!(world.run_words(&["add-json", "third", r#"{"command":"box","args":["x"]}"#]), @r#"
    exit 0
    --- stdout
    Added server "third" in [project]/.wharf/mcp.json
    Connected: script 1.2, 5 tools
    "#);
}

#[test]
fn a_server_that_does_not_work_is_saved_with_a_warning() {
    let world = World::new()
        .script("broken", "echo 'Error: no licence' >&2\nread -r line\nexit 3\n")
        .with_probe();
    assert_snapshot!(world.run("add fs -- npx -y some-server"), @r#"
    exit 0
    --- stdout
    Added server "fs" in [project]/.wharf/mcp.json
    --- stderr
    warning: the entry was saved, but connecting failed: npx not found
      hint: install npx, or give its full path in "command"
    "#);
    assert_snapshot!(world.run("add broken -- broken"), @r#"
    exit 0
    --- stdout
    Added server "broken" in [project]/.wharf/mcp.json
    --- stderr
    warning: the entry was saved, but connecting failed: the server's process ended (exit status: 3)
      stderr: Error: no licence
      hint: `wharf logs broken` shows all of its output
    "#);
    assert_snapshot!(world.run("add other --json -- nowhere"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "other",
      "path": "[project]/.wharf/mcp.json",
      "message": "Added server \"other\" in [project]/.wharf/mcp.json",
      "probe": {
        "ok": false,
        "error": "nowhere not found",
        "hint": "install nowhere, or give its full path in \"command\""
      }
    }
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "fs": {
          "command": "npx",
          "args": ["-y", "some-server"]
        },
        "broken": {
          "command": "broken"
        },
        "other": {
          "command": "nowhere"
        }
      }
    }
    "#);
}

#[test]
fn a_server_that_answers_401_needs_sign_in() {
    let server = RecordingServer::with_status("401 Unauthorized");
    let world = World::new().with_probe();
    let url = format!("http://{}/mcp", server.address());
    assert_snapshot!(world.run(&format!("add api --url {url}")), @r#"
    exit 0
    --- stdout
    Added server "api" in [project]/.wharf/mcp.json
    --- stderr
    warning: the entry was saved, but connecting failed: needs sign-in: the server answered 401 Unauthorized
      hint: `wharf login api`, or store a token with `wharf add api --token -`, or check its headers (`wharf get api`)
    "#);
}

#[test]
fn the_probe_times_out_after_five_seconds() {
    let world = World::new().script("mute", "read -r a\nread -r b\nread -r c\n").with_probe();
    assert_snapshot!(world.run("add mute -- mute"), @r#"
    exit 0
    --- stdout
    Added server "mute" in [project]/.wharf/mcp.json
    --- stderr
    warning: the entry was saved, but connecting failed: no answer within 5s
      hint: it may need longer the first time (`wharf test mute`)
    "#);
}

#[test]
fn nothing_is_started_without_a_probe() {
    let world = World::new().programs(&["npx"]);
    assert_snapshot!(world.run("add fs -- npx"), @r#"
    exit 0
    --- stdout
    Added server "fs" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.run_words(&["add-json", "off", r#"{"command":"npx","enabled":false}"#]), @r#"
    exit 0
    --- stdout
    Added server "off" in [project]/.wharf/mcp.json; it stays off until `wharf enable off`
    "#);
    assert_eq!(world.started_programs(), "");
    let world = World::new().programs(&["npx"]).with_probe();
    assert_snapshot!(world.run_words(&["add-json", "off", r#"{"command":"npx","enabled":false}"#]), @r#"
    exit 0
    --- stdout
    Added server "off" in [project]/.wharf/mcp.json; it stays off until `wharf enable off`
    "#);
    assert_eq!(world.started_programs(), "");
}

#[test]
fn shadowed_definitions_are_reported() {
    let world = World::new()
        .tool_server("box")
        .home(".cursor/mcp.json", r#"{ "mcpServers": { "box": { "command": "other" } } }"#)
        .with_probe();
    assert_snapshot!(world.run("add box --scope project -- box"), @r#"
    exit 0
    --- stdout
    Added server "box" in [project]/.wharf/mcp.json
    Connected: script 1.2, 5 tools
    --- stderr
    It is used instead of "box" in ~/.cursor/mcp.json (Cursor · user).
    "#);
    assert_snapshot!(world.run("add box --scope user -- box --mine"), @r#"
    exit 0
    --- stdout
    Added server "box" in ~/.wharf/mcp.json
    --- stderr
    warning: "box" is not used: the one in [project]/.wharf/mcp.json (Wharf · project) has the same name and comes first
    hint: `wharf explain box`
    "#);
    assert_snapshot!(world.run("add twin --scope user -- box"), @r#"
    exit 0
    --- stdout
    Added server "twin" in ~/.wharf/mcp.json
    --- stderr
    warning: "twin" is not used: it is the same server as "box"
    "#);
}

#[test]
fn a_missing_separator_is_explained() {
    let world = World::new().with_probe();
    assert_snapshot!(world.run("add npx-thing npx -y foo"), @"
    exit 2
    --- stderr
    error: the command of a server comes after `--`

      tip: wharf add npx-thing -- npx -y foo

    Usage: wharf add [OPTIONS] <NAME> [-- <COMMAND>...]

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run_words(&["add", "fs", "--env", "A=b c", "uvx", "x"]), @"
    exit 2
    --- stderr
    error: the command of a server comes after `--`

      tip: wharf add fs --env 'A=b c' -- uvx x

    Usage: wharf add [OPTIONS] <NAME> [-- <COMMAND>...]

    For more information, try '--help'.
    ");
    assert!(!world.path("project/.wharf").exists());
}

#[test]
fn a_token_without_a_url_updates_the_existing_entry() {
    let world = World::new().tool_server("box");
    world.run("add api --url https://a.example/mcp --token first");
    let before = world.read("project/.wharf/mcp.json");
    let rendered = world.run_with_input(&["add", "api", "--token", "-"], "second\n");
    assert_snapshot!(rendered, @r#"
    exit 0
    --- stdout
    Replaced the token of server "api"
    "#);
    assert_eq!(world.read("project/.wharf/mcp.json"), before);
    assert_snapshot!(world.read("home/.wharf/credentials.json"), @r#"
    {
      "version": 1,
      "credentials": {
        "[id]": {
          "type": "bearer",
          "resource": "https://a.example/mcp",
          "token": "second"
        }
      }
    }
    "#);
    // The token is added to an entry without one; the rest of the entry does not change.
    world.run("add plain --url https://b.example/mcp --header X-Team=a");
    assert_snapshot!(world.run("add plain --token third"), @r#"
    exit 0
    --- stdout
    Stored the token of server "plain"
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME   STATE    TRANSPORT  WHAT                   SOURCE           FILE
    api    enabled  http       https://a.example/mcp  Wharf · project  .wharf/mcp.json
    plain  enabled  http       https://b.example/mcp  Wharf · project  .wharf/mcp.json
    ");
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "api": {
          "type": "http",
          "url": "https://a.example/mcp",
          "auth": {
            "type": "bearer",
            "credentialId": "[id]"
          }
        },
        "plain": {
          "type": "http",
          "url": "https://b.example/mcp",
          "headers": {
            "X-Team": "a"
          },
          "auth": {
            "type": "bearer",
            "credentialId": "[id]"
          }
        }
      }
    }
    "#);
}

#[test]
fn a_token_of_a_local_server_is_bound_to_its_command() {
    let note = "echo \"token: $OAUTH_ACCESS_TOKEN.\" >> \"$0.seen\"";
    let world = World::new().server_with_startup("box", note);
    world.run("add box --scope user -- box one");
    assert_snapshot!(world.run("add box --token s3cret"), @r#"
    exit 0
    --- stdout
    Stored the token of server "box"
    "#);
    world.run("test box");
    let path = world.path("home/.wharf/mcp.json");
    let own = std::fs::read_to_string(&path).unwrap().replace("\"one\"", "\"two\"");
    std::fs::File::create(&path).unwrap().write_all(own.as_bytes()).unwrap();
    let rendered = world.run("test box");
    assert_snapshot!(world.read("bin/box.seen"), @"
    token: s3cret.
    token: .
    ");
    let warning = rendered.lines().find(|line| line.contains("credential")).unwrap_or_default();
    assert_snapshot!(warning, @r#"warning: ~/.wharf/mcp.json:3: "box": stored credential left out: it is bound to another command, or to an earlier version of the entry"#);
}

#[test]
fn a_token_is_stored_only_for_trusted_entries_in_wharf_files() {
    let world = World::new()
        .home(".cursor/mcp.json", r#"{ "mcpServers": { "cur": { "url": "https://a.example" } } }"#)
        .project(
            ".wharf/mcp.json",
            r#"{ "mcpServers": { "pro": { "url": "https://b.example" } } }"#,
        );
    assert_snapshot!(world.run("add cur --token x"), @r#"
    exit 1
    --- stderr
    error: Server "cur" is defined in ~/.cursor/mcp.json (Cursor), which cannot refer to a stored token
      hint: copy it into Wharf's own file first: `wharf import cursor cur`
    "#);
    assert_snapshot!(world.run("add pro --token x"), @r#"
    exit 6
    --- stderr
    error: Server "pro" came with this project and is not trusted
      hint: `wharf trust pro`
    "#);
    assert_snapshot!(world.run("add none --token x"), @r#"
    exit 2
    --- stderr
    error: Server "none" not found; to add it, --token requires --url (HTTP/SSE transport).
      hint: give the server's address with --url
    "#);
    assert!(!world.path("home/.wharf/credentials.json").exists());
    let world = World::new().tool_server("box");
    world.run("add box -- box");
    assert_snapshot!(world.run("add box --token x"), @r#"
    exit 1
    --- stderr
    error: Server "box" is a local program of a project, which cannot use stored tokens
      hint: define the server in your own file, or name a variable in "env"
    "#);
}

#[test]
fn the_entry_is_saved_before_the_probe() {
    let world = World::new().script("mute", "read -r a\nread -r b\nread -r c\n").with_probe();
    let mut command = world.command(&["add", "mute", "--", "mute"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !world.path("project/.wharf/mcp.json").exists() {
        assert!(std::time::Instant::now() < deadline, "no server was added");
        std::thread::yield_now();
    }
    drop(child.kill());
    drop(child.wait());
    assert!(world.read("project/.wharf/mcp.json").contains("mute"));
}
