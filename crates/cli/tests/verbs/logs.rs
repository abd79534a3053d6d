//! `wharf logs` and `wharf cache`: what is kept of servers.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::world::World;

fn talkative() -> World {
    World::new()
        .server_after("talk", "echo one >&2; printf 'two\\033[2J\\n' >&2; echo three >&2")
        .own_servers(&[("talk", r#""command": "talk""#)])
}

#[test]
fn what_a_server_wrote_is_kept() {
    let world = talkative();
    assert_snapshot!(world.run("logs talk"), @r#"
    exit 0
    --- stderr
    "talk" has written nothing yet.
    "#);
    assert!(world.run("test talk").starts_with("exit 0"));
    assert_snapshot!(world.run("logs talk"), @r"
    exit 0
    --- stdout
    one
    two\u{1b}[2J
    three
    ");
    assert_snapshot!(world.run("logs talk --lines 1 --json"), @r#"
    exit 0
    --- stdout
    {
      "server": "talk",
      "path": "~/.wharf/logs/talk.log",
      "lines": [
        "three"
      ]
    }
    "#);
    assert_snapshot!(world.run("logs nobody"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
    assert_snapshot!(world.run("logs talk -f --json"), @"
    exit 2
    --- stderr
    error: a log that is followed is no single document
      hint: leave out -f or --json
    ");
}

#[test]
fn a_log_can_be_followed() {
    let world = talkative();
    assert!(world.run("test talk").starts_with("exit 0"));
    let mut follower =
        world.command(&["logs", "talk", "-f", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "three");
    assert!(world.run("test talk").starts_with("exit 0"));
    assert_eq!(lines.next().unwrap().unwrap(), "one");
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn the_tools_that_are_kept_can_be_forgotten() {
    let world = talkative();
    assert_snapshot!(world.run("cache clear"), @"
    exit 0
    --- stdout
    Nothing was kept.
    ");
    assert!(world.run("tools").starts_with("exit 0"));
    assert_snapshot!(world.run("cache clear"), @"
    exit 0
    --- stdout
    Forgot what was known of 1 server.
    ");
    assert_snapshot!(world.run("cache clear --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "removed": 0,
      "message": "Nothing was kept."
    }
    "#);
}
