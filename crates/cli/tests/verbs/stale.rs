//! What a list from the cache may not do: hide tools that its server has by now.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::world::World;

/// A server that lists the tools of a file, after what `before` says.
fn server_with_tools_of_a_file(before: &str) -> World {
    let list = format!(r#"{before}; result '{{"tools":['"$(/bin/cat "$0.tools")"']}}'"#);
    let world =
        World::new().scripted_list("box", &list).own_servers(&[("box", r#""command": "box""#)]);
    set_tools(&world, &["old"]);
    world
}

#[expect(clippy::disallowed_methods, reason = "a test's own folder needs no atomic writes")]
fn set_tools(world: &World, tools: &[&str]) {
    let tools: Vec<String> = tools
        .iter()
        .map(|tool| {
            format!(r#"{{"name":"{tool}","description":"Goes","inputSchema":{{"type":"object"}}}}"#)
        })
        .collect();
    std::fs::write(world.path("bin/box.tools"), tools.join(",")).unwrap();
}

#[test]
fn a_tool_that_the_cache_does_not_have_is_looked_for_in_the_live_list() {
    for line in ["call box/new", "call mcp_box_new", "call new", "call box.new", "tools box/new"] {
        let world = server_with_tools_of_a_file(":");
        assert!(world.run("tools").contains("mcp_box_old"));
        set_tools(&world, &["old", "new"]);
        let shown = world.run(line);
        assert!(shown.starts_with("exit 0"), "{line} {shown}");
    }
}

#[test]
fn a_tool_that_is_gone_is_not_found_whatever_the_cache_says() {
    let world = server_with_tools_of_a_file(":");
    assert!(world.run("call box/old").starts_with("exit 0"));
    set_tools(&world, &["new"]);
    assert_snapshot!(world.run("call box/old"), @r#"
    exit 1
    --- stderr
    MCP error: there is no tool "mcp_box_old" (server "box", tool "old", phase send)
    Correct the call before trying again.
    warning: "box": tool "new" is new
    "#);
    assert_snapshot!(world.run("call box/nwe"), @r#"
    exit 1
    --- stderr
    error: Tool "box/nwe" not found
      hint: did you mean "mcp_box_new"?
    "#);
}

#[test]
fn a_list_that_arrives_after_the_output_is_kept_for_the_next_run() {
    // With no gate at all, nothing that is printed waits for the server.
    let world = server_with_tools_of_a_file(":").variable("WHARF_STARTUP_TIMEOUT_MS", "0");
    assert!(world.run("tools").contains("mcp_box_old"));
    set_tools(&world, &["new"]);
    let began = Instant::now();
    while !world.run("tools").contains("mcp_box_new") {
        assert!(began.elapsed() < Duration::from_secs(30), "the new list was never kept");
    }
}
