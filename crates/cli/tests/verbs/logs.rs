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

/// Leaves out when something was.
fn without_times(text: &str) -> String {
    let mut shown = text.to_owned();
    for (pattern, name) in [("dddd-dd-dd", "[day]"), ("dd:dd:dd", "[time]")] {
        let is_like = |text: &[u8]| {
            text.iter().zip(pattern.bytes()).all(|(&byte, wanted)| match wanted {
                b'd' => byte.is_ascii_digit(),
                sign => byte == sign,
            })
        };
        while let Some(at) = shown.as_bytes().windows(pattern.len()).position(is_like) {
            shown.replace_range(at..at + pattern.len(), name);
        }
    }
    shown
}

#[test]
fn a_log_of_an_earlier_version_can_still_be_read() {
    let world = talkative().home(".wharf/logs/talk.log", "old one\nold two without an end");
    assert!(world.run("test talk").starts_with("exit 0"));
    assert_snapshot!(without_times(&world.run("logs talk")), @r#"
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
fn what_a_server_wrote_is_kept() {
    let world = talkative();
    assert_snapshot!(world.run("logs talk"), @r#"
    exit 0
    --- stderr
    "talk" has written nothing yet.
    "#);
    assert!(world.run("test talk").starts_with("exit 0"));
    assert_snapshot!(without_times(&world.run("logs talk")), @r#"
    exit 0
    --- stdout
    --- started [day]T[time]Z
    [time] one
    [time] two\u{1b}[2J
    [time] three
    "#);
    assert!(world.run("test talk").starts_with("exit 0"));
    assert_snapshot!(without_times(&world.run("logs talk --lines 4")), @r#"
    exit 0
    --- stdout
    [time] three
    --- started [day]T[time]Z
    [time] one
    [time] two\u{1b}[2J
    [time] three
    "#);
    assert_snapshot!(without_times(&world.run("logs talk --lines 1 --json")), @r#"
    exit 0
    --- stdout
    {
      "server": "talk",
      "path": "~/.wharf/logs/talk.log",
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
    assert_snapshot!(world.run("logs talk -f --json"), @r#"
    exit 2
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "usage",
        "message": "a log that is followed is no single document",
        "hint": "leave out -f or --json"
      }
    }
    --- stderr
    error: a log that is followed is no single document
      hint: leave out -f or --json
    "#);
}

#[test]
fn a_log_can_be_followed() {
    let world = talkative();
    assert!(world.run("test talk").starts_with("exit 0"));
    let mut follower =
        world.command(&["logs", "talk", "-f", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    assert_eq!(without_times(&lines.next().unwrap().unwrap()), "[time] three");
    assert!(world.run("test talk").starts_with("exit 0"));
    assert_eq!(without_times(&lines.next().unwrap().unwrap()), "--- started [day]T[time]Z");
    assert_eq!(without_times(&lines.next().unwrap().unwrap()), "[time] one");
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
