//! `wharf doctor` without `--offline`: it connects to the servers.

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
fn servers_are_connected_and_failures_are_reported() {
    let world = world();
    assert_snapshot!(world.run("doctor"), @r#"
    exit 1
    --- stdout
    ok  9 checks are fine (Wharf 4, Files 2, Servers 2, Connections 1); -v lists them

    Notes
      --  theirs: came with this project and is not trusted, so it is not connected
          hint: `wharf trust theirs`

    Problems
      !!  gone: `nowhere` not found
          hint: install `nowhere`, or give its full path in "command"
      !!  box: env "TOKEN" left out: command exited 1
          hint: run the command by hand to see its output
      !!  broken: failed to connect: the server's process ended (exit status: 3); stderr: no licence
          hint: `wharf logs broken` shows all of its output

    3 problems found.
    "#);
    assert_eq!(world.started_programs(), "");
}

#[test]
fn a_named_server_is_the_only_one_connected() {
    let world = world();
    assert_snapshot!(world.run("doctor broken"), @"
    exit 1
    --- stdout
    ok  1 check is fine (Server 1); -v lists them

    Problems
      !!  broken: failed to connect: the server's process ended (exit status: 3); stderr: no licence
          hint: `wharf logs broken` shows all of its output

    1 problem found.
    ");
    assert_snapshot!(world.run("doctor off"), @r#"
    exit 0
    --- stdout
    Notes
      --  off: is disabled: it is switched off by "enabled"
          hint: `wharf enable off`

    No problems found.
    "#);
}
