//! What a list from the cache may not do: hide tools that its server has by now.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::bridge::{Era, Part, Setting, install};
use crate::web::Web;
use crate::world::World;

/// A server that lists the tools of a file.
fn server_with_tools_of_a_file(setting: Setting) -> (World, Option<Web>) {
    let list = r#"result '{"tools":['"$(/bin/cat "$0.tools")"']}'"#;
    let part = Part { list, ..Part::PLAIN };
    let (world, entry, web) = install(World::new(), setting, "box", part);
    let world = world.own_servers(&[("box", &entry)]);
    set_tools(&world, &["old"]);
    (world, web)
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
    let check = |setting: Setting, line: &str| {
        let (world, _web) = server_with_tools_of_a_file(setting);
        assert!(world.run("tools").contains("mcp_box_old"));
        set_tools(&world, &["old", "new"]);
        let shown = world.run(line);
        assert!(shown.starts_with("exit 0"), "{setting:?} {line} {shown}");
    };
    for setting in Setting::ALL {
        for line in ["call box/new", "call new", "tools box/new"] {
            check(setting, line);
        }
    }
    for line in ["call mcp_box_new", "call box.new"] {
        check(Setting::Stdio(Era::Legacy), line);
    }
}

#[test]
fn a_tool_that_is_gone_is_not_found_whatever_the_cache_says() {
    let outputs = Setting::ALL.map(|setting| {
        let (world, _web) = server_with_tools_of_a_file(setting);
        assert!(world.run("call box/old").starts_with("exit 0"), "{setting:?}");
        set_tools(&world, &["new"]);
        [world.run("call box/old"), world.run("call box/nwe")]
    });
    for other in &outputs[1..] {
        assert_eq!(*other, outputs[0]);
    }
    let [gone, mistyped] = &outputs[0];
    assert_snapshot!(gone, @r#"
    exit 1
    --- stderr
    MCP error: there is no tool "mcp_box_old" (server "box", tool "old", phase send)
    Correct the call before trying again.
    warning: "box": tool "new" is new
    "#);
    assert_snapshot!(mistyped, @r#"
    exit 1
    --- stderr
    error: Tool "box/nwe" not found
      hint: did you mean "mcp_box_new"?
    "#);
}

#[test]
fn a_list_that_arrives_after_the_output_is_kept_for_the_next_run() {
    // With no gate at all, nothing that is printed waits for the server.
    for setting in Setting::ALL {
        let (world, _web) = server_with_tools_of_a_file(setting);
        let world = world.variable("WHARF_STARTUP_TIMEOUT_MS", "0");
        assert!(world.run("tools").contains("mcp_box_old"), "{setting:?}");
        set_tools(&world, &["new"]);
        let began = Instant::now();
        while !world.run("tools").contains("mcp_box_new") {
            assert!(began.elapsed() < Duration::from_secs(30), "{setting:?}: never kept");
        }
    }
}
