//! An outdated tool cache: it must not hide new tools or keep removed ones.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::http_server::HttpServer;
use crate::server_variants::{Era, ServerScript, ServerVariant, install};
use crate::world::World;

/// A server that lists the tools in a file.
fn server_with_tools_of_a_file(variant: ServerVariant) -> (World, Option<HttpServer>) {
    let list = r#"result '{"tools":['"$(/bin/cat "$0.tools")"']}'"#;
    let server_script = ServerScript { list, ..ServerScript::PLAIN };
    let (world, entry, web) = install(World::new(), variant, "box", server_script);
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
fn a_tool_missing_from_the_cache_is_looked_up_in_the_live_list() {
    let check = |variant: ServerVariant, line: &str| {
        let (world, _web) = server_with_tools_of_a_file(variant);
        assert!(world.run("tools").contains("mcp_box_old"));
        set_tools(&world, &["old", "new"]);
        let output = world.run(line);
        assert!(output.starts_with("exit 0"), "{variant:?} {line} {output}");
    };
    for variant in ServerVariant::ALL {
        for line in ["call box/new", "call new", "tools box/new"] {
            check(variant, line);
        }
    }
    for line in ["call mcp_box_new", "call box.new"] {
        check(ServerVariant::Stdio(Era::Legacy), line);
    }
}

#[test]
fn a_removed_tool_is_not_found_even_if_cached() {
    let outputs = ServerVariant::ALL.map(|variant| {
        let (world, _web) = server_with_tools_of_a_file(variant);
        assert!(world.run("call box/old").starts_with("exit 0"), "{variant:?}");
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
fn a_list_that_arrives_after_the_output_is_cached_for_the_next_run() {
    // Without a startup gate, the output does not wait for the server.
    for variant in ServerVariant::ALL {
        let (world, _web) = server_with_tools_of_a_file(variant);
        let world = world.variable("WHARF_STARTUP_TIMEOUT_MS", "0");
        assert!(world.run("tools").contains("mcp_box_old"), "{variant:?}");
        set_tools(&world, &["new"]);
        let began = Instant::now();
        while !world.run("tools").contains("mcp_box_new") {
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "{variant:?}: the list was not cached"
            );
        }
    }
}
