//! Servers that break the rules of the protocol in ways that are survived: `doctor` tells which.

use insta::assert_snapshot;

use crate::bridge::{Part, Setting, install};
use crate::servers::scripted;
use crate::web::Web;
use crate::world::World;

/// A server whose introduction, tools, resources and prompts are all a little wrong.
fn sloppy(setting: Setting) -> (World, Option<Web>) {
    let list = r#"result '{"tools":[{"name":"a","description":7,"inputSchema":{"type":"object"}},{"name":"b\u001b[2J","title":[],"inputSchema":{"type":"object"}}]}'"#;
    let cases = r#"
    *'"method":"resources/list"'*) result '{"resources":[{"uri":"note://a","name":5}]}';;
    *'"method":"resources/templates/list"'*) result '{"resourceTemplates":[]}';;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"p","arguments":"none"}]}';;
"#;
    let capabilities = r#"{"tools":true,"resources":{},"prompts":{}}"#;
    let part = Part { capabilities, list, cases, ..Part::PLAIN };
    let (world, entry, web) = install(World::new(), setting, "sloppy", part);
    (world.own_servers(&[("sloppy", &entry)]), web)
}

#[test]
fn doctor_tells_which_rules_a_server_breaks() {
    let outputs = Setting::ALL.map(|setting| {
        let (world, _web) = sloppy(setting);
        let told = world.run("doctor sloppy --json");
        assert!(told.contains("violates the MCP specification: "), "{setting:?} {told}");
        assert!(!told.contains('\u{1b}'), "{setting:?} {told}");
        let told = world.run("doctor sloppy");
        let is_broken = |line: &&str| line.contains("violates the MCP specification");
        told.lines().filter(is_broken).collect::<Vec<_>>().join("\n")
    });
    for (output, setting) in outputs.iter().zip(Setting::ALL) {
        assert_eq!(*output, outputs[0], "{setting:?}");
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
fn a_server_that_breaks_many_rules_does_not_fill_the_screen() {
    let tool = |number: usize| {
        format!(r#"{{"name":"t{number}","description":7,"inputSchema":{{"type":"object"}}}}"#)
    };
    let tools: Vec<String> = (0..500).map(tool).collect();
    let world = World::new()
        .script("many", &scripted("", r#"{"tools":{}}"#, &tools.join(","), ""))
        .own_servers(&[("many", r#""command": "many""#)]);
    let told = world.run("doctor many");
    let count = told.lines().filter(|line| line.contains("violates the MCP specification")).count();
    assert_eq!(count, 21, "{told}");
    assert!(told.contains("and more like these"), "{told}");
}
