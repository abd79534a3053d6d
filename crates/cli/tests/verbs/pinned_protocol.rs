//! `protocolVersion` in an entry pins the only revision that is offered to the server.

use insta::assert_snapshot;

use crate::server_script::{Era, ServerScript};
use crate::world::{World, without_durations};

/// A server that records every line it receives, and accepts any revision.
const NOTES: ServerScript<'static> = ServerScript {
    each: "note seen",
    list: r#"result '{"tools":[]}'"#,
    cases: r#"
    *'"method":"initialize"'*)
      version=${line#*'"protocolVersion":"'}; version=${version%%'"'*}
      result '{"protocolVersion":"'"$version"'","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}';;
    *'"method":"server/discover"'*) refuse -32601 no;;
"#,
    ..ServerScript::PLAIN
};

fn pinned(version: &str) -> World {
    let entry = format!(r#""command": "notes", "protocolVersion": {version}"#);
    World::new().script("notes", &NOTES.for_era(Era::Legacy)).own_servers(&[("notes", &entry)])
}

#[test]
fn only_the_pinned_revision_is_offered() {
    let world = pinned(r#""2025-06-18""#);
    assert_snapshot!(without_durations(&world.run("test notes")), @r#"
    exit 0
    --- stdout
    Connected to "notes"
      server         notes 1
      transport      stdio
      protocol       2025-06-18 (legacy)
      tools          0
      connecting     [time] ms
      listing        [time] ms
    "#);
    let seen = std::fs::read_to_string(world.path("bin/notes.seen")).unwrap();
    assert!(!seen.contains("server/discover"), "{seen}");
    assert!(seen.contains(r#""protocolVersion":"2025-06-18""#), "{seen}");
}

#[test]
fn no_other_revision_is_tried_when_one_is_pinned() {
    let world = pinned(r#""2026-07-28""#);
    assert_snapshot!(world.run("test notes"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "notes": the server answered: no (code -32601)
      hint: its entry pins `protocolVersion` to 2026-07-28; without that, another revision is tried (`wharf get notes`)
    "#);
    let seen = std::fs::read_to_string(world.path("bin/notes.seen")).unwrap();
    assert!(!seen.contains("initialize"), "{seen}");
}

#[test]
fn the_pin_is_shown() {
    let world = pinned(r#""2025-06-18""#);
    assert!(world.run("get notes").contains("protocol       2025-06-18 (pinned)"));
    assert!(world.run("get notes --json").contains(r#""protocolVersion": "2025-06-18""#));
    assert_snapshot!(world.run("explain notes"), @r#"
    exit 0
    --- stdout
    "notes" runs from your Wharf file ~/.wharf/mcp.json (line 1).
    It is defined nowhere else.
    Its entry pins the protocol to 2025-06-18.
    "#);
}

#[test]
fn an_unknown_revision_causes_a_warning_and_is_ignored() {
    for value in [r#""2025-01-01""#, "20250618", "true"] {
        let output = pinned(value).run("list");
        assert!(
            output.contains("\"protocolVersion\" is not a known protocol revision; ignored"),
            "{output}"
        );
        assert!(output.contains("use one of 2024-11-05, 2025-03-26"), "{output}");
    }
}
