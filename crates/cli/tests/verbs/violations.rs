//! Servers that violate the protocol without failing: `doctor` lists the violations.

use insta::assert_snapshot;

use crate::http_server::HttpServer;
use crate::server_variants::{ServerScript, ServerVariant, install};
use crate::test_servers::legacy_server_script;
use crate::world::World;

/// A server with violations in its capabilities, tools, resources and prompts.
fn sloppy(variant: ServerVariant) -> (World, Option<HttpServer>) {
    let list = r#"result '{"tools":[{"name":"a","description":7,"inputSchema":{"type":"object"}},{"name":"b\u001b[2J","title":[],"inputSchema":{"type":"object"}}]}'"#;
    let cases = r#"
    *'"method":"resources/list"'*) result '{"resources":[{"uri":"note://a","name":5}]}';;
    *'"method":"resources/templates/list"'*) result '{"resourceTemplates":[]}';;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"p","arguments":"none"}]}';;
"#;
    let capabilities = r#"{"tools":true,"resources":{},"prompts":{}}"#;
    let server_script = ServerScript { capabilities, list, cases, ..ServerScript::PLAIN };
    let (world, entry, web) = install(World::new(), variant, "sloppy", server_script);
    (world.own_servers(&[("sloppy", &entry)]), web)
}

#[test]
fn doctor_lists_protocol_violations() {
    let outputs = ServerVariant::ALL.map(|variant| {
        let (world, _web) = sloppy(variant);
        let told = world.run("doctor sloppy --json");
        assert!(told.contains("violates the MCP specification: "), "{variant:?} {told}");
        assert!(!told.contains('\u{1b}'), "{variant:?} {told}");
        let told = world.run("doctor sloppy");
        let is_broken = |line: &&str| line.contains("violates the MCP specification");
        told.lines().filter(is_broken).collect::<Vec<_>>().join("\n")
    });
    for (output, variant) in outputs.iter().zip(ServerVariant::ALL) {
        assert_eq!(*output, outputs[0], "{variant:?}");
    }
    assert_snapshot!(outputs[0], @r#"
    --  sloppy: violates the MCP specification: capabilities.tools is a boolean, not an object
    --  sloppy: violates the MCP specification: "a": description is a number, not a string
    --  sloppy: violates the MCP specification: "b\u{1b}[2J": title is an array, not a string
    --  sloppy: violates the MCP specification: "note://a": name is a number, not a string
    --  sloppy: violates the MCP specification: "p": arguments is a string, not an array
    "#);
}

#[test]
fn the_list_of_violations_is_bounded() {
    let tool = |number: usize| {
        format!(r#"{{"name":"t{number}","description":7,"inputSchema":{{"type":"object"}}}}"#)
    };
    let tools: Vec<String> = (0..500).map(tool).collect();
    let world = World::new()
        .script("many", &legacy_server_script("", r#"{"tools":{}}"#, &tools.join(","), ""))
        .own_servers(&[("many", r#""command": "many""#)]);
    let told = world.run("doctor many");
    let count = told.lines().filter(|line| line.contains("violates the MCP specification")).count();
    assert_eq!(count, 21, "{told}");
    assert!(told.contains("and more like these"), "{told}");
}
