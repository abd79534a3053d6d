//! `wharf doctor` with connections.

use insta::assert_snapshot;

use crate::world::World;

fn world() -> World {
    World::new()
        .tool_server("box")
        .programs(&["npx"])
        .script("broken", "echo 'no licence' >&2; exit 3\n")
        .own_servers(&[
            ("box", r#""command": "box", "env": { "TOKEN": "!exit 1" }"#),
            ("broken", r#""command": "broken", "timeout": 5000"#),
            ("gone", r#""command": "nowhere""#),
            ("off", r#""command": "npx", "enabled": false"#),
        ])
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "npx" } } }"#)
}

#[test]
fn servers_are_connected_and_what_is_wrong_is_told() {
    let world = world();
    assert_snapshot!(world.run("doctor"), @r#"
    exit 1
    --- stdout
    Wharf
      ok  home: ~/.wharf is yours alone
      ok  settings: none of your own, so the defaults count
      ok  trust: nothing of a project is trusted yet
      ok  credentials: none are stored

    Files
      ok  ~/.wharf/mcp.json: read for Wharf
      ok  [project]/.mcp.json: read for mcp.json

    Servers
      ok  box: `box` is there
      ok  broken: `broken` is there
      !!  gone: `nowhere` not found
          hint: install `nowhere`, or give its full path in "command"
      --  theirs: came with this project and is not trusted, so nothing in it was checked
          hint: wharf trust theirs

    Connections
      ok  box: connects (script 1.2, 2025-11-25), 5 tools
      !!  box: env "TOKEN" left out: command exited 1
          hint: run the command by hand to see what it says
      !!  broken: failed to connect: the session ended: the server's process ended (exit status: 3); stderr: no licence
          hint: run its command by hand to see what it says (wharf logs broken)

    3 things to put right.
    "#);
    assert_eq!(world.started(), "");
}

#[test]
fn one_server_is_connected_alone() {
    let world = world();
    assert_snapshot!(world.run("doctor broken"), @"
    exit 1
    --- stdout
    Server
      ok  broken: `broken` is there

    Connection
      !!  broken: failed to connect: the session ended: the server's process ended (exit status: 3); stderr: no licence
          hint: run its command by hand to see what it says (wharf logs broken)

    1 thing to put right.
    ");
    assert_snapshot!(world.run("doctor off"), @r#"
    exit 0
    --- stdout
    Server
      --  off: is off: it is switched off by "enabled"

    Nothing to put right.
    "#);
}
