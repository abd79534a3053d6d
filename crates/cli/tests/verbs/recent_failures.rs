//! Later commands do not wait again for a server whose last attempt failed.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::server_variants::{ServerScript, ServerVariant, install};
use crate::world::World;

/// The timeout of the first attempt.
const LIMIT: Duration = Duration::from_secs(5);

/// One server that works and one that never answers.
fn world_with_hanging_server() -> World {
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
    let output = world.run(line);
    (output, began.elapsed())
}

#[test]
fn a_listing_does_not_wait_again_for_a_server_that_timed_out() {
    let world = world_with_hanging_server();
    let (output, took) = timed(&world, "tools");
    assert!(took >= LIMIT, "{took:?}");
    assert!(output.contains(r#"Failed to connect to "stuck""#), "{output}");
    let (output, took) = timed(&world, "tools");
    assert!(took < LIMIT, "{took:?}");
    assert_snapshot!(output, @r#"
    exit 0
    --- stdout
    NAME          SERVER  DESCRIPTION
    mcp_box_fail  box     Says no
    --- stderr
    warning: "stuck" was not waited for: its last attempt failed just now: the server did not answer within 5s (`wharf test stuck`)
    1 tool from 1 server.
    "#);
    let (output, took) = timed(&world, "tools --json");
    assert!(took < LIMIT, "{took:?}");
    let json: serde_json::Value = serde_json::from_str(
        output.split_once("--- stdout\n").unwrap().1.split("--- stderr").next().unwrap(),
    )
    .unwrap();
    assert_snapshot!(json["errors"].to_string(), @r#"[{"path":"mcp:stuck","error":"not waited for: its last attempt failed: the server did not answer within 5s"}]"#);
    let (output, took) = timed(&world, "prompts");
    assert!(took < LIMIT && output.contains("was not waited for"), "{took:?} {output}");
    // A command that names a server is not affected by others, and waits for the full timeout.
    let (output, took) = timed(&world, "call box/fail");
    assert!(took < LIMIT && !output.contains("stuck"), "{took:?} {output}");
    let (output, took) = timed(&world, "call nowhere");
    assert!(took < LIMIT && output.contains("not found"), "{took:?} {output}");
    let (output, took) = timed(&world, "test stuck");
    assert!(took >= LIMIT && output.starts_with("exit 5"), "{took:?} {output}");
}

#[test]
fn a_listing_does_not_wait_again_for_any_transport_or_era() {
    let mut world = World::new().tool_server("box");
    let mut entries = vec![("box", r#""command": "box""#.to_owned())];
    let mut webs = Vec::new();
    let names = ["stuck-a", "stuck-b", "stuck-c", "stuck-d"];
    for (name, variant) in names.into_iter().zip(ServerVariant::ALL) {
        let server_script = ServerScript { list: ":", ..ServerScript::PLAIN };
        let (with_server, entry, web) = install(world, variant, name, server_script);
        (world, webs) = (with_server, webs.into_iter().chain(web).collect());
        entries.push((name, format!(r#"{entry}, "timeout": 5000"#)));
    }
    let entries: Vec<(&str, &str)> =
        entries.iter().map(|(name, entry)| (*name, entry.as_str())).collect();
    let world = world.own_servers(&entries);
    let (output, took) = timed(&world, "tools");
    assert!(took >= LIMIT, "{took:?} {output}");
    for name in names {
        assert!(output.contains(&format!("Failed to connect to \"{name}\"")), "{name} {output}");
    }
    let (output, took) = timed(&world, "tools");
    assert!(took < LIMIT, "{took:?} {output}");
    assert!(output.contains("mcp_box_echo"), "{output}");
    for name in names {
        assert!(output.contains(&format!("\"{name}\" was not waited for")), "{name} {output}");
    }
    drop::<Vec<crate::http_server::HttpServer>>(webs);
}

#[test]
fn a_server_that_works_again_is_listed_again() {
    for variant in ServerVariant::ALL {
        let server_script =
            ServerScript { before: r#"[ -e "$0.up" ] || exit 1"#, ..ServerScript::PLAIN };
        let (world, entry, _web) = install(World::new(), variant, "slow", server_script);
        let world = world.own_servers(&[("slow", &entry)]);
        let output = world.run("tools");
        assert!(output.contains(r#"Failed to connect to "slow""#), "{variant:?} {output}");
        std::fs::File::create(world.path("bin/slow.up")).unwrap();
        let output = world.run("tools");
        assert!(output.contains("mcp_slow_go"), "{variant:?} {output}");
    }
}
