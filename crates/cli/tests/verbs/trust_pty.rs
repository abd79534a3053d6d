//! The question of `wharf trust` on a real terminal.

use std::process::Stdio;
use std::time::Duration;

use expectrl::{Eof, Expect, Session};
use insta::assert_snapshot;

use crate::world::World;

#[test]
fn the_pty_question_is_asked_for_each_server() {
    let world = World::new().project(
        ".mcp.json",
        r#"{ "mcpServers": { "a": { "command": "npx", "args": ["x"] }, "b": { "command": "uvx" } } }"#,
    );
    let mut command = world.command(&["trust"]);
    command.env("NO_COLOR", "1").stdin(Stdio::inherit());
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    let seen = session.expect("Trust \"a\"? [y/N] ").unwrap();
    let shown = String::from_utf8_lossy(seen.before()).replace('\r', "");
    assert!(shown.contains("command        npx x\n"), "{shown}");
    session.send_line("n").unwrap();
    session.expect("Trust \"b\"? [y/N] ").unwrap();
    session.send_line("y").unwrap();
    session.expect("Trusted \"b\" as written now.").unwrap();
    session.expect(Eof).unwrap();
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE      TRANSPORT  WHAT   SOURCE              FILE
    a     untrusted  stdio      npx x  mcp.json · project  .mcp.json
    b     enabled    stdio      uvx    mcp.json · project  .mcp.json
    ");
}

#[test]
fn on_a_pty_the_table_fits_and_has_colours() {
    let world = World::new().programs(&["npx"]);
    let command = |no_color: bool| {
        let mut command = world.command(&["list"]);
        command.env("COLUMNS", "60");
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command
    };
    let run = |command| {
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(20)));
        let seen = session.expect(Eof).unwrap();
        String::from_utf8_lossy(seen.as_bytes()).replace('\r', "")
    };
    assert!(run(command(false)).contains("\u{1b}[32menabled"));
    assert_snapshot!(run(command(true)), @"
    NAME      STATE    TRANSPORT  WHAT            SOURCE
    context7  enabled  stdio      npx -y @upsta…  Wharf defaults
    github    enabled  stdio      npx -y @model…  Wharf defaults
    thinking  enabled  stdio      wharf mcp thi…  Wharf defaults

    3 servers: 3 enabled.
    Nothing is configured yet, so these are Wharf's defaults. Add a server: wharf add NAME -- COMMAND…
    ");
}
