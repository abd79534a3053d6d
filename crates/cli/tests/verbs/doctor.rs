//! `wharf doctor --offline`: the checks, their problems and hints.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::list::every_state;
use crate::world::World;

fn world_with_problems() -> World {
    let world = World::new()
        .programs(&["docker", "npx"])
        .variable("DOCKER_HOST", "unix:///x")
        .variable("DISPLAY", ":0")
        .variable("KEY", "k")
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": {
  "box": { "command": "docker", "args": ["run", "x"] },
  "Box!": { "command": "npx", "args": ["@playwright/mcp"], "passEnv": ["DISPLAY"] },
  "lost": { "command": "nowhere", "cwd": "~/none" },
  "open": { "url": "http://example.com/mcp", "headers": { "X-Key": "${KEY}" } },
  "near": { "url": "http://127.0.0.1:1/mcp", "headers": { "X-Key": "${KEY}" } },
  "keyless": { "url": "https://example.com", "auth": { "type": "bearer", "credentialId": "gone" } } } }"#,
        )
        .home(
            ".cursor/mcp.json",
            r#"{ "mcpServers": { "shared": { "command": "npx", "args": ["puppeteer"],
               "env": { "API_TOKEN": "s3cret", "LOG": "debug", "OTHER_TOKEN": "${KEY}" } } } }"#,
        )
        .project(
            ".mcp.json",
            r#"{ "mcpServers": { "theirs": { "command": "npx", "headers": {}, "env": { "PASSWORD": "s3cret" } } } }"#,
        )
        .home(".wharf/credentials.json", r#"{ "version": 1, "credentials": {} }"#);
    for (path, mode) in [
        ("home/.cursor/mcp.json", 0o644),
        ("home/.wharf", 0o755),
        ("home/.wharf/credentials.json", 0o640),
    ] {
        set_permissions(world.path(path), Permissions::from_mode(mode)).unwrap();
    }
    world
}

#[test]
fn an_empty_machine_has_no_problems() {
    assert_snapshot!(World::new().run("doctor --offline"), @"
    exit 0
    --- stdout
    ok  5 checks are fine (Wharf 4, Servers 1); -v lists them

    Notes
      --  context7: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  github: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  defaults: nothing is configured yet, so these are the defaults
          hint: `wharf add NAME -- COMMAND…`

    No problems found.
    ");
}

#[test]
fn every_problem_has_a_hint() {
    assert_snapshot!(world_with_problems().run("doctor --offline --trust-project"), @r#"
    exit 1
    --- stdout
    ok  12 checks are fine (Wharf 2, Files 3, Servers 7); -v lists them

    Notes
      --  box: DOCKER_HOST is set here, but this server will not see it
          hint: if the server needs it, add "passEnv": ["DOCKER_HOST"]
      --  shared: DISPLAY is set here, but this server will not see it
          hint: if the server needs it, copy it into Wharf's own file and add "passEnv": ["DISPLAY"] there: `wharf import cursor shared`
      --  tool names: the tool names of "box" and "Box!" share the prefix mcp_box_
          hint: give one of them a "prefix"

    Problems
      !!  home: other users can read ~/.wharf
          hint: chmod 700 ~/.wharf
      !!  credentials: others can read ~/.wharf/credentials.json
          hint: chmod 600 ~/.wharf/credentials.json
      !!  keyless: the stored credential that its entry refers to is missing
          hint: store it again: `wharf add keyless --token -`
      !!  lost: `nowhere` not found
          hint: install `nowhere`, or give its full path in "command"
      !!  lost: the folder in "cwd" does not exist: ~/none
          hint: create it, or correct "cwd"
      !!  open: sends headers or a credential over plain http, where others can read them
          hint: use an https:// address
      !!  shared: its file contains a literal secret (env.API_TOKEN), and other users of this machine can read it
          hint: chmod 600 ~/.cursor/mcp.json
      !!  theirs: its file contains a literal secret (env.PASSWORD), and everybody with access to the project can read it
          hint: write ${NAME} there and set the variable

    8 problems found.
    "#);
}

#[test]
fn one_server_can_be_checked() {
    assert_snapshot!(world_with_problems().run("doctor --offline lost"), @r#"
    exit 1
    --- stdout
    Problems
      !!  lost: `nowhere` not found
          hint: install `nowhere`, or give its full path in "command"
      !!  lost: the folder in "cwd" does not exist: ~/none
          hint: create it, or correct "cwd"

    2 problems found.
    "#);
    assert_snapshot!(world_with_problems().run("doctor --offline near"), @"
    exit 0
    --- stdout
    ok  1 check is fine (Server 1); -v lists them

    No problems found.
    ");
    assert_snapshot!(world_with_problems().run("doctor --offline nobody"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
}

#[test]
fn an_untrusted_server_is_not_checked() {
    assert_snapshot!(world_with_problems().run("doctor --offline theirs"), @r#"
    exit 6
    --- stderr
    error: Server "theirs" came with this project and is not trusted
      hint: `wharf trust theirs`
    "#);
    assert_snapshot!(world_with_problems().run("doctor --offline theirs --json"), @r#"
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
fn a_changed_project_server_is_not_reported_as_new() {
    let entry = |argument: &str| {
        format!(
            r#"{{ "mcpServers": {{ "theirs": {{ "command": "npx", "args": ["{argument}"] }} }} }}"#
        )
    };
    let world = World::new().programs(&["npx"]).project(".mcp.json", &entry("one"));
    assert!(world.run("trust theirs").starts_with("exit 0"));
    let rendered = world.project(".mcp.json", &entry("two")).run("doctor --offline");
    let lines: Vec<&str> = rendered.lines().filter(|line| line.contains("theirs")).collect();
    assert_snapshot!(lines.join("\n"), @"
    --  theirs: has changed since you trusted it, so it is not connected
        hint: `wharf explain theirs` shows what changed; `wharf trust theirs` accepts it
    ");
}

#[test]
fn every_server_state_has_a_check() {
    let world = every_state();
    assert_snapshot!(world.run("doctor --offline"), @r#"
    exit 1
    --- stdout
    ok  10 checks are fine (Wharf 4, Files 3, Servers 3); -v lists them

    Notes
      --  same: is the same server as "fs", which is used
          hint: to use both: `wharf config set discovery.duplicates keep`
      --  theirs: came with this project and is not trusted, so it is not connected
          hint: `wharf trust theirs`
      --  theirs: hides your "theirs" from ~/.cursor/mcp.json ([project]/.cursor/mcp.json:1)
          hint: trust it to use it here, or rename yours
      --  shadowed: 2 definitions are shadowed
          hint: `wharf list --all`

    Problems
      !!  half: stdio server requires "command" (~/.cursor/mcp.json:6)
          hint: add "command" (the program to start), or "url" for a remote server
      !!  needs: variable "UNSET" is not set; "args[0]" keeps its placeholder (~/.cursor/mcp.json:8)
          hint: set UNSET

    2 problems found.
    "#);
    assert_snapshot!(world.run("doctor --offline off"), @r#"
    exit 0
    --- stdout
    Notes
      --  off: is disabled: it is switched off by "disabled"
          hint: `wharf enable off`

    No problems found.
    "#);
}

#[test]
fn json_has_the_documented_fields() {
    let world =
        World::new().home(".wharf/mcp.json", r#"{ "mcpServers": { "a": { "command": "${X}" } } }"#);
    assert_snapshot!(world.run("doctor --offline --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "checks": [
        {
          "name": "home",
          "ok": true,
          "message": "~/.wharf is private"
        },
        {
          "name": "settings",
          "ok": true,
          "message": "there is no settings file, so the defaults apply"
        },
        {
          "name": "trust",
          "ok": true,
          "message": "no project servers are trusted yet"
        },
        {
          "name": "credentials",
          "ok": true,
          "message": "none are stored"
        },
        {
          "name": "~/.wharf/mcp.json",
          "ok": true,
          "message": "read for Wharf"
        },
        {
          "name": "a",
          "ok": false,
          "message": "`${X}` not found",
          "hint": "install `${X}`, or give its full path in \"command\""
        },
        {
          "name": "a",
          "ok": false,
          "message": "variable \"X\" is not set; \"command\" keeps its placeholder (~/.wharf/mcp.json:1)",
          "hint": "set X, or write a default: ${X:-…}"
        }
      ],
      "problems": [
        {
          "severity": "warning",
          "code": "unset-variable",
          "server": "a",
          "field": "command",
          "path": "~/.wharf/mcp.json",
          "line": 1,
          "message": "variable \"X\" is not set; \"command\" keeps its placeholder",
          "hint": "set X, or write a default: ${X:-…}"
        }
      ],
      "error": {
        "code": "checks-failed",
        "message": "2 problems found"
      }
    }
    "#);
}

#[test]
fn a_missing_home_folder_is_a_problem() {
    let world = World::new();
    let output = world.command(&["doctor", "--offline"]).env_remove("HOME").output().unwrap();
    assert_snapshot!(world.render(&output), @"
    exit 1
    --- stdout
    ok  1 check is fine (Servers 1); -v lists them

    Notes
      --  context7: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  github: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  defaults: nothing is configured yet, so these are the defaults
          hint: `wharf add NAME -- COMMAND…`

    Problems
      !!  home: there is no home folder for Wharf's files: settings, trust and tokens cannot be stored
          hint: set HOME, or WHARF_HOME to a folder of yours

    1 problem found.
    ");
}

#[test]
fn a_settings_file_of_another_program_is_not_a_wharf_setting() {
    let world = World::new().home(".codex/config.toml/x", "");
    assert_snapshot!(world.run("doctor --offline -q"), @r#"
    exit 1
    --- stdout
    ok  5 checks are fine (Wharf 4, Servers 1); -v lists them

    Notes
      --  context7: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  github: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  defaults: some files could not be read and no other has servers, so these are the defaults

    Problems
      !!  ~/.codex/config.toml: "config.toml" is a folder, not a file
          hint: move it away, or put a file in its place

    1 problem found.
    "#);
}

#[test]
fn an_unwritable_home_folder_is_a_problem() {
    let world = World::new().home(".wharf/mcp.json", "{}");
    let set_mode = |mode| {
        set_permissions(world.path("home/.wharf"), Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o500);
    let rendered = world.run("doctor --offline");
    set_mode(0o700);
    let lines: Vec<&str> =
        rendered.lines().skip_while(|line| !line.contains("!!")).take(2).collect();
    assert_snapshot!(lines.join("\n"), @"
    !!  home: ~/.wharf is not writable by its owner
        hint: chmod 700 ~/.wharf
    ");
}

#[test]
fn a_secret_in_an_argument_is_found() {
    let world = World::new().programs(&["npx"]).variable("KEY", "k").project(
        ".mcp.json",
        r#"{ "mcpServers": {
  "a": { "command": "npx", "args": ["pkg", "--token", "s3cret", "--api-key=s3cret"] },
  "b": { "command": "npx", "args": ["pkg", "--token", "${KEY}", "--api-key=${KEY}", "--password"] },
  "c": { "command": "npx", "args": ["--always-auth", "pkg", "--token-file", "x", "--max-tokens=5"] } } }"#,
    );
    assert_snapshot!(world.run("doctor --offline --trust-project"), @"
    exit 1
    --- stdout
    ok  8 checks are fine (Wharf 4, Files 1, Servers 3); -v lists them

    Problems
      !!  a: its file contains a literal secret (args[2], args[3]), and everybody with access to the project can read it
          hint: write ${NAME} there and set the variable

    1 problem found.
    ");
}

#[test]
fn passed_checks_are_summarized_unless_verbose() {
    let world = World::new()
        .programs(&["npx"])
        .own_servers(&[("fs", r#""command": "npx""#), ("gone", r#""command": "nowhere""#)]);
    assert_snapshot!(world.run("doctor --offline"), @r#"
    exit 1
    --- stdout
    ok  6 checks are fine (Wharf 4, Files 1, Servers 1); -v lists them

    Problems
      !!  gone: `nowhere` not found
          hint: install `nowhere`, or give its full path in "command"

    1 problem found.
    "#);
    assert_snapshot!(world.run("doctor --offline -v"), @r#"
    exit 1
    --- stdout
    Wharf
      ok  home: ~/.wharf is private
      ok  settings: there is no settings file, so the defaults apply
      ok  trust: no project servers are trusted yet
      ok  credentials: none are stored

    Files
      ok  ~/.wharf/mcp.json: read for Wharf

    Servers
      ok  fs: found `npx`

    Problems
      !!  gone: `nowhere` not found
          hint: install `nowhere`, or give its full path in "command"

    1 problem found.
    --- stderr
    read: ~/.wharf/mcp.json (Wharf · user)
    "#);
}

#[test]
fn a_malformed_credential_store_is_reported_once_and_not_per_server() {
    let world = World::new()
        .own_servers(&[(
            "keyed",
            r#""url": "https://example.com", "auth": { "type": "bearer", "credentialId": "one" }"#,
        )])
        .home(".wharf/credentials.json", "{ damaged");
    set_permissions(world.path("home/.wharf/credentials.json"), Permissions::from_mode(0o600))
        .unwrap();
    assert_snapshot!(world.run("doctor --offline"), @"
    exit 1
    --- stdout
    ok  5 checks are fine (Wharf 3, Files 1, Servers 1); -v lists them

    Problems
      !!  credentials: ~/.wharf/credentials.json is malformed (line 1)
          hint: correct the file, or delete it and add the tokens again

    1 problem found.
    ");
    assert_snapshot!(world.run("doctor --offline keyed"), @"
    exit 1
    --- stdout
    ok  1 check is fine (Server 1); -v lists them

    Problems
      !!  credentials: ~/.wharf/credentials.json is malformed (line 1)
          hint: correct the file, or delete it and add the tokens again

    1 problem found.
    ");
}

#[test]
fn an_unreadable_home_folder_is_a_problem() {
    let world = World::new().home("a-file", "");
    let home = world.path("home/a-file/wharf").display().to_string();
    let world = world.variable("WHARF_HOME", &home);
    assert_snapshot!(world.run("doctor --offline"), @"
    exit 1
    --- stdout
    ok  4 checks are fine (Wharf 3, Servers 1); -v lists them

    Notes
      --  context7: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  github: `npx` not found, so this default is not available
          hint: install `npx`, or add servers of your own: `wharf add`
      --  defaults: nothing is configured yet, so these are the defaults
          hint: `wharf add NAME -- COMMAND…`

    Problems
      !!  home: could not check ~/a-file/wharf: Not a directory (os error 20)
          hint: check the folders above it, or set WHARF_HOME to a folder of yours

    1 problem found.
    ");
}

#[test]
fn a_path_with_a_space_is_quoted_in_a_suggested_command() {
    let world = World::new().home("my wharf/mcp.json", "{}");
    let home = world.path("home/my wharf").display().to_string();
    set_permissions(&home, Permissions::from_mode(0o755)).unwrap();
    let rendered = world.variable("WHARF_HOME", &home).run("doctor --offline");
    let lines: Vec<&str> =
        rendered.lines().skip_while(|line| !line.contains("!!")).take(2).collect();
    assert_snapshot!(lines.join("\n"), @"
    !!  home: other users can read ~/my wharf
        hint: chmod 700 ~/'my wharf'
    ");
}

#[test]
fn a_note_is_marked_in_json() {
    let world = World::new()
        .programs(&["docker"])
        .variable("DOCKER_HOST", "unix:///x")
        .own_servers(&[("box", r#""command": "docker""#)]);
    assert_snapshot!(world.run("doctor --offline box --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "checks": [
        {
          "name": "box",
          "ok": true,
          "message": "found `docker`"
        },
        {
          "name": "box",
          "ok": true,
          "message": "DOCKER_HOST is set here, but this server will not see it",
          "hint": "if the server needs it, add \"passEnv\": [\"DOCKER_HOST\"]",
          "note": true
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn an_offline_check_reports_the_last_failed_attempt() {
    let world = World::new()
        .script("broken", "echo 'no licence' >&2; exit 3\n")
        .own_servers(&[("broken", r#""command": "broken""#)]);
    assert!(world.run("test broken").starts_with("exit 3"));
    assert_snapshot!(world.run("doctor --offline"), @r#"
    exit 0
    --- stdout
    ok  6 checks are fine (Wharf 4, Files 1, Servers 1); -v lists them

    Notes
      --  broken: its last attempt failed just now: the server's process ended (exit status: 3); stderr: no licence
          hint: `wharf test broken`

    No problems found; the last attempt of "broken" failed.
    "#);
}
