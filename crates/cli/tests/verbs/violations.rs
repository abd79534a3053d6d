//! Servers that break the rules of the protocol in ways that are survived: `doctor` tells which.

use insta::assert_snapshot;

use crate::servers::scripted;
use crate::world::World;

/// A server whose introduction, tools, resources and prompts are all a little wrong.
fn sloppy() -> World {
    let tools = r#"{"name":"a","description":7,"inputSchema":{"type":"object"}},{"name":"b\u001b[2J","title":[],"inputSchema":{"type":"object"}}"#;
    let other = r#"
    *'"method":"resources/list"'*) result '{"resources":[{"uri":"note://a","name":5}]}';;
    *'"method":"resources/templates/list"'*) result '{"resourceTemplates":[]}';;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"p","arguments":"none"}]}';;
"#;
    let capabilities = r#"{"tools":true,"resources":{},"prompts":{}}"#;
    World::new()
        .script("sloppy", &scripted("", capabilities, tools, other))
        .own_servers(&[("sloppy", r#""command": "sloppy""#)])
}

#[test]
fn doctor_tells_which_rules_a_server_breaks() {
    let world = sloppy();
    let told = world.run("doctor sloppy");
    let broken: Vec<&str> =
        told.lines().filter(|line| line.contains("does not keep to the protocol")).collect();
    assert_snapshot!(broken.join("\n"), @r#"
    --  sloppy: does not keep to the protocol: capabilities.tools is a boolean, not an object
    --  sloppy: does not keep to the protocol: "a": description is a number, not a string
    --  sloppy: does not keep to the protocol: "b\u{1b}[2J": title is an array, not a string
    --  sloppy: does not keep to the protocol: "note://a": name is a number, not a string
    --  sloppy: does not keep to the protocol: "p": arguments is a string, not an array
    "#);
    let told = world.run("doctor sloppy --json");
    assert!(told.contains("does not keep to the protocol: "), "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
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
    let count = told.lines().filter(|line| line.contains("does not keep to the protocol")).count();
    assert_eq!(count, 21, "{told}");
    assert!(told.contains("and more like these"), "{told}");
}
