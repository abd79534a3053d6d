//! How long later commands wait for a server that could not be connected before.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::bridge::{Part, Setting, install};
use crate::world::World;

/// How long the server is waited for the first time.
const LIMIT: Duration = Duration::from_secs(5);

/// One server that works and one that never answers.
fn with_a_server_that_hangs() -> World {
    World::new()
        .tool_server("box")
        .note_server("notes")
        .script("stuck", "exec /bin/sleep 60\n")
        .own_servers(&[
            ("box", r#""command": "box", "includeTools": ["fail"]"#),
            ("stuck", r#""command": "stuck", "timeout": 5000"#),
        ])
}

fn timed(world: &World, line: &str) -> (String, Duration) {
    let began = Instant::now();
    let shown = world.run(line);
    (shown, began.elapsed())
}

#[test]
fn nobody_waits_twice_for_the_same_trouble() {
    let world = with_a_server_that_hangs();
    let (shown, took) = timed(&world, "tools");
    assert!(took >= LIMIT, "{took:?}");
    assert!(shown.contains(r#"Failed to connect to "stuck""#), "{shown}");
    let (shown, took) = timed(&world, "tools");
    assert!(took < LIMIT, "{took:?}");
    assert_snapshot!(shown, @r#"
    exit 0
    --- stdout
    NAME          SERVER  DESCRIPTION
    mcp_box_fail  box     Says no
    --- stderr
    warning: "stuck" was not waited for: its last attempt failed just now: the server did not answer within 5s (wharf test stuck)
    1 tool from 1 server.
    "#);
    let (shown, took) = timed(&world, "tools --json");
    assert!(took < LIMIT, "{took:?}");
    let json: serde_json::Value = serde_json::from_str(
        shown.split_once("--- stdout\n").unwrap().1.split("--- stderr").next().unwrap(),
    )
    .unwrap();
    assert_snapshot!(json["errors"].to_string(), @r#"[{"path":"mcp:stuck","error":"not waited for: its last attempt failed: the server did not answer within 5s"}]"#);
    let (shown, took) = timed(&world, "prompts");
    assert!(took < LIMIT && shown.contains("was not waited for"), "{took:?} {shown}");
    // Whoever names a server has no trouble with others, and waits for it in full.
    let (shown, took) = timed(&world, "call box/fail");
    assert!(took < LIMIT && !shown.contains("stuck"), "{took:?} {shown}");
    let (shown, took) = timed(&world, "call nowhere");
    assert!(took < LIMIT && shown.contains("not found"), "{took:?} {shown}");
    let (shown, took) = timed(&world, "test stuck");
    assert!(took >= LIMIT && shown.starts_with("exit 5"), "{took:?} {shown}");
}

#[test]
fn nobody_waits_twice_for_a_list_that_never_comes_whatever_the_server_speaks() {
    let mut world = World::new().tool_server("box");
    let mut entries = vec![("box", r#""command": "box""#.to_owned())];
    let mut webs = Vec::new();
    let names = ["stuck-a", "stuck-b", "stuck-c", "stuck-d"];
    for (name, setting) in names.into_iter().zip(Setting::ALL) {
        let part = Part { list: ":", ..Part::PLAIN };
        let (with_server, entry, web) = install(world, setting, name, part);
        (world, webs) = (with_server, webs.into_iter().chain(web).collect());
        entries.push((name, format!(r#"{entry}, "timeout": 5000"#)));
    }
    let entries: Vec<(&str, &str)> =
        entries.iter().map(|(name, entry)| (*name, entry.as_str())).collect();
    let world = world.own_servers(&entries);
    let (shown, took) = timed(&world, "tools");
    assert!(took >= LIMIT, "{took:?} {shown}");
    for name in names {
        assert!(shown.contains(&format!("Failed to connect to \"{name}\"")), "{name} {shown}");
    }
    let (shown, took) = timed(&world, "tools");
    assert!(took < LIMIT, "{took:?} {shown}");
    assert!(shown.contains("mcp_box_echo"), "{shown}");
    for name in names {
        assert!(shown.contains(&format!("\"{name}\" was not waited for")), "{name} {shown}");
    }
    drop::<Vec<crate::web::Web>>(webs);
}

#[test]
fn a_server_that_works_again_is_listed_again() {
    for setting in Setting::ALL {
        let part = Part { before: r#"[ -e "$0.up" ] || exit 1"#, ..Part::PLAIN };
        let (world, entry, _web) = install(World::new(), setting, "slow", part);
        let world = world.own_servers(&[("slow", &entry)]);
        let shown = world.run("tools");
        assert!(shown.contains(r#"Failed to connect to "slow""#), "{setting:?} {shown}");
        std::fs::File::create(world.path("bin/slow.up")).unwrap();
        let shown = world.run("tools");
        assert!(shown.contains("mcp_slow_go"), "{setting:?} {shown}");
    }
}
