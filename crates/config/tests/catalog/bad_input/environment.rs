//! Missing or wrong home folders, working folders and environment variables.

use insta::assert_snapshot;

use super::world;
use crate::world::{CANARY, World};

#[test]
fn a_missing_home_folder_is_accepted() {
    let mut world = World::new();
    world.env.home = Some(world.path("~/nobody"));
    assert_snapshot!(world.show(), @"
    context7: enabled stdio, defaults builtin built-in defaults:3
    github: enabled stdio, defaults builtin built-in defaults:4
    thinking: enabled stdio, defaults builtin built-in defaults:2
    ");
}

#[test]
fn without_a_home_the_project_is_still_read() {
    let mut world = world()
        .with(".cursor/mcp.json", r#"{ "mcpServers": { "a": { "command": "x", "cwd": "~/x" } } }"#);
    world.env.home = None;
    assert_snapshot!(world.show(), @"a: untrusted stdio, cursor project [project]/.cursor/mcp.json:1");
}

#[test]
fn a_home_that_is_a_file_is_accepted() {
    let mut world = World::new().with("~/file", "");
    world.env.home = Some(world.path("~/file"));
    assert_snapshot!(world.show(), @"
    context7: enabled stdio, defaults builtin built-in defaults:3
    github: enabled stdio, defaults builtin built-in defaults:4
    thinking: enabled stdio, defaults builtin built-in defaults:2
    ");
}

#[test]
fn a_working_folder_that_does_not_exist_is_an_error() {
    let mut world = world();
    world.env.cwd = world.path("nowhere");
    assert_snapshot!(error(&world), @"no such working folder: [project]/nowhere (name a folder that exists)");
}

#[test]
fn a_working_folder_that_is_a_file_is_an_error() {
    let mut world = world().with("file", "");
    world.env.cwd = world.path("file");
    assert_snapshot!(error(&world), @"no such working folder: [project]/file (name a folder that exists)");
}

#[test]
fn a_variable_that_is_not_a_map_of_servers_is_an_error() {
    let texts = [
        CANARY.to_owned(),
        format!("{{ \"a\": {{ \"command\": \"{CANARY}\" }}"),
        format!("[\"{CANARY}\"]"),
        format!("\"{CANARY}\""),
        "null".to_owned(),
        "5".to_owned(),
        format!("{{ \"mcpServers\": [\"{CANARY}\"] }}"),
        "{ \"mcpServers\": null }".to_owned(),
    ];
    let errors = texts.map(|text| error(&world().with_variable("WHARF_MCP_SERVERS", &text)));
    assert_snapshot!(errors.join("\n"), @r#"
    WHARF_MCP_SERVERS is not a JSON object of servers: a string must be in double quotes; only `true`, `false` and `null` are unquoted (line 1, column 1) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: the file ends inside the object of line 1 (line 1, column 38) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: the variable must hold an object, not a list (line 1, column 1) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: the variable must hold an object, not a string (line 1, column 1) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: the variable must hold an object, not null (line 1, column 1) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: the variable must hold an object, not a number (line 1, column 1) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: "mcpServers" must be an object of servers by name, not a list (line 1, column 1) (correct the variable, or unset it to use your files)
    WHARF_MCP_SERVERS is not a JSON object of servers: "mcpServers" must be an object of servers by name, not null (line 1, column 1) (correct the variable, or unset it to use your files)
    "#);
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    for empty in ["", "  \n"] {
        assert_eq!(world().with_variable("WHARF_MCP_SERVERS", empty).show(), world().show());
    }
}

#[test]
fn a_variable_with_servers_replaces_every_file() {
    let texts = [
        r#"{ "a": { "command": "x" } }"#,
        r#"{ "mcpServers": { "a": { "command": "x" } } }"#,
        "\u{feff}{ // mine\r\n \"a\": { \"command\": \"x\", }, }",
    ];
    for text in texts {
        let world = world()
            .with(".cursor/mcp.json", r#"{ "mcpServers": { "b": { "command": "x" } } }"#)
            .with_variable("WHARF_MCP_SERVERS", text);
        let rendered = world.show().replace(":2,", ":1,").replace("SERVERS:2", "SERVERS:1");
        assert_eq!(rendered, "a: enabled stdio, env env WHARF_MCP_SERVERS:1\n");
    }
}

#[test]
fn bad_entries_in_the_variable_are_invalid_and_the_others_load() {
    let text = format!(
        "{{\n \"a\": null,\n \"b\": {{}},\n \"c\": {{ \"command\": \"x\", \"env\": \"{CANARY}\" }},\n \"d\": {{ \"command\": \"x\" }}, \"d\": {{ \"command\": \"y\" }} }}"
    );
    let world = world().with_variable("WHARF_MCP_SERVERS", &text);
    assert_snapshot!(world.show(), @r#"
    a: invalid unknown, env env WHARF_MCP_SERVERS:2
      error not-an-object WHARF_MCP_SERVERS:2: the entry must be an object, not null (write { "command": … } or { "url": … }, or remove the entry)
    b: invalid unknown, env env WHARF_MCP_SERVERS:3
      error invalid WHARF_MCP_SERVERS:3: stdio server requires "command" (add "command" (the program to start), or "url" for a remote server)
    c: invalid stdio, env env WHARF_MCP_SERVERS:4
      error wrong-type WHARF_MCP_SERVERS:4: "env" must be an object of strings, not a string (write "env": { "NAME": "value" })
    d: enabled stdio, env env WHARF_MCP_SERVERS:5
    warning duplicate-key WHARF_MCP_SERVERS:5: "d" appears twice in one object (first on line 5); the last one is used (remove one of them)
    "#);
}

#[test]
fn a_variable_with_only_invalid_entries_does_not_count_as_empty() {
    for text in [r#"{ "a": null }"#, r#"{ "a": {} }"#] {
        let world = world().with_variable("WHARF_MCP_SERVERS", text);
        let catalog = world.load();
        let names: Vec<&str> =
            catalog.servers.iter().map(|server| server.definition.name.as_str()).collect();
        assert_eq!(names, ["a"], "{text}");
    }
}

#[test]
fn a_broken_variable_of_another_program_is_a_problem() {
    let world = world().with_variable("CO_CLI_MCP_SERVERS", &format!("{{ \"a\": {CANARY} }}"));
    assert_snapshot!(world.show_problems(), @"error syntax CO_CLI_MCP_SERVERS:1: not valid JSON: a string must be in double quotes; only `true`, `false` and `null` are unquoted (column 8) (correct the line; until then the file is ignored)");
}

fn error(world: &World) -> String {
    let error = world.try_load().expect_err("an error");
    let rendered = format!("{error} ({})", error.hint());
    assert!(!format!("{rendered} {error:?}").contains(CANARY), "quotes a value: {error:?}");
    world.without_root(&rendered)
}
