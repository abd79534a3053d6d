//! `wharf logs`: the stderr output of servers; and `wharf cache clear`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::world::World;

fn world_with_stderr() -> World {
    World::new()
        .server_with_startup("chatty", "echo one >&2; printf 'two\\033[2J\\n' >&2; echo three >&2")
        .own_servers(&[("chatty", r#""command": "chatty""#)])
}

/// Replaces dates and times.
fn without_timestamps(text: &str) -> String {
    let mut output = text.to_owned();
    for (pattern, name) in [("dddd-dd-dd", "[day]"), ("dd:dd:dd", "[time]")] {
        let is_like = |text: &[u8]| {
            text.iter().zip(pattern.bytes()).all(|(&byte, wanted)| match wanted {
                b'd' => byte.is_ascii_digit(),
                sign => byte == sign,
            })
        };
        while let Some(at) = output.as_bytes().windows(pattern.len()).position(is_like) {
            output.replace_range(at..at + pattern.len(), name);
        }
    }
    output
}

#[test]
fn a_log_of_an_earlier_version_can_still_be_read() {
    let world =
        world_with_stderr().home(".wharf/logs/chatty.log", "old one\nold two without an end");
    assert!(world.run("test chatty").starts_with("exit 0"));
    assert_snapshot!(without_timestamps(&world.run("logs chatty")), @r#"
    exit 0
    --- stdout
    old one
    old two without an end
    --- started [day]T[time]Z
    [time] one
    [time] two\u{1b}[2J
    [time] three
    "#);
}

#[test]
fn the_stderr_of_a_server_is_kept() {
    let world = world_with_stderr();
    assert_snapshot!(world.run("logs chatty"), @r#"
    exit 0
    --- stderr
    "chatty" has written nothing yet.
    "#);
    assert!(world.run("test chatty").starts_with("exit 0"));
    assert_snapshot!(without_timestamps(&world.run("logs chatty")), @r#"
    exit 0
    --- stdout
    --- started [day]T[time]Z
    [time] one
    [time] two\u{1b}[2J
    [time] three
    "#);
    assert!(world.run("test chatty").starts_with("exit 0"));
    assert_snapshot!(without_timestamps(&world.run("logs chatty --lines 4")), @r#"
    exit 0
    --- stdout
    [time] three
    --- started [day]T[time]Z
    [time] one
    [time] two\u{1b}[2J
    [time] three
    "#);
    assert_snapshot!(without_timestamps(&world.run("logs chatty --lines 1 --json")), @r#"
    exit 0
    --- stdout
    {
      "server": "chatty",
      "path": "~/.wharf/logs/chatty.log",
      "lines": [
        "three"
      ],
      "entries": [
        {
          "at": "[day]T[time]Z",
          "line": "three"
        }
      ]
    }
    "#);
    assert_snapshot!(world.run("logs nobody"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
    assert_snapshot!(world.run("logs chatty -f --json"), @r#"
    exit 2
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "usage",
        "message": "-f cannot be combined with --json",
        "hint": "leave out -f or --json"
      }
    }
    --- stderr
    error: -f cannot be combined with --json
      hint: leave out -f or --json
    "#);
}

#[test]
fn a_log_can_be_followed() {
    let world = world_with_stderr();
    assert!(world.run("test chatty").starts_with("exit 0"));
    let mut follower =
        world.command(&["logs", "chatty", "-f", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert_eq!(without_timestamps(&lines.next().unwrap().unwrap()), "[time] three");
    assert!(world.run("test chatty").starts_with("exit 0"));
    assert_eq!(without_timestamps(&lines.next().unwrap().unwrap()), "--- started [day]T[time]Z");
    assert_eq!(without_timestamps(&lines.next().unwrap().unwrap()), "[time] one");
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn the_tool_cache_can_be_cleared() {
    let world = world_with_stderr();
    assert_snapshot!(world.run("cache clear"), @"
    exit 0
    --- stdout
    There were no records.
    ");
    assert!(world.run("tools").starts_with("exit 0"));
    assert_snapshot!(world.run("cache clear"), @"
    exit 0
    --- stdout
    Removed the records of 1 server configuration.
    ");
    assert_snapshot!(world.run("cache clear --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "removed": 0,
      "message": "There were no records."
    }
    "#);
}
