//! Tests of `disabledServers` and `enabledServers`, of disabled winners, and of invalid settings.

use insta::assert_snapshot;

use super::{server, servers};
use crate::world::World;

const OFF: &str = r#"{ "mcpServers": { "a": { "command": "x", "disabled": true } } }"#;

#[test]
fn a_winner_that_cannot_be_used_keeps_its_name() {
    let below = server("a", "below");
    let winners = [
        ("~/.cursor/mcp.json", OFF),
        ("~/.cursor/mcp.json", r#"{ "mcpServers": { "a": { "type": "http" } } }"#),
        ("~/.cursor/mcp.json", r#"{ "mcpServers": { "a": { "url": "nowhere" } } }"#),
        (".cursor/mcp.json", r#"{ "mcpServers": { "a": { "command": "x" } } }"#),
    ];
    let rendered = winners.map(|(place, text)| {
        World::new().with(place, text).with("~/.lmstudio/mcp.json", &below).show()
    });
    assert_snapshot!(rendered.join("\n"), @r#"
    a: disabled stdio, cursor user ~/.cursor/mcp.json:1, switched off by "disabled"
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor user ~/.cursor/mcp.json

    a: invalid unknown, cursor user ~/.cursor/mcp.json:1
      error invalid ~/.cursor/mcp.json:1: http server requires "url" (add "url" with the server's address)
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor user ~/.cursor/mcp.json

    a: invalid http, cursor user ~/.cursor/mcp.json:1
      error invalid ~/.cursor/mcp.json:1: "url" must start with http://, https:// or unix:// (write the whole address, such as https://example.com/mcp)
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor user ~/.cursor/mcp.json

    a: untrusted stdio, cursor project [project]/.cursor/mcp.json:1
      warning hides [project]/.cursor/mcp.json:1: hides your "a" from ~/.lmstudio/mcp.json (trust it to use it here, or rename yours)
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor project [project]/.cursor/mcp.json
    "#);
}

#[test]
fn an_untrusted_entry_warns_of_shadowing_even_if_disabled_or_invalid() {
    let entries = [r#"{ "command": "x" }"#, r#"{ "command": "x", "disabled": true }"#, "{}"];
    for entry in entries {
        let world = World::new()
            .with(".cursor/mcp.json", format!("{{ \"mcpServers\": {{ \"a\": {entry} }} }}"))
            .with("~/.lmstudio/mcp.json", server("a", "mine"));
        let rendered = world.show();
        assert!(rendered.contains("hides your \"a\" from ~/.lmstudio/mcp.json"), "{rendered}");
    }
}

#[test]
fn a_trusted_entry_shadows_without_a_warning() {
    let mut world = World::new()
        .with(".cursor/mcp.json", server("a", "project"))
        .with("~/.lmstudio/mcp.json", server("a", "mine"));
    world.options.trust_project = true;
    assert_snapshot!(world.show(), @"
    a: enabled stdio, cursor project [project]/.cursor/mcp.json:1
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor project [project]/.cursor/mcp.json
    ");
}

#[test]
fn disabled_servers_applies_to_every_source() {
    let world = World::new()
        .with(
            "~/.wharf/mcp.json",
            r#"{
              "mcpServers": { "mine": { "command": "x" } },
              "disabledServers": ["mine", "a", "b", "nobody"],
              "enabledServers": ["b"]
            }"#,
        )
        .with("~/.cursor/mcp.json", servers(&["a", "b"]))
        .with("~/.lmstudio/mcp.json", servers(&["a"]));
    assert_snapshot!(world.show(), @r#"
    a: disabled stdio, cursor user ~/.cursor/mcp.json:1, listed in "disabledServers" of your own file
    a: shadowed stdio, lmstudio user ~/.lmstudio/mcp.json:1, by cursor user ~/.cursor/mcp.json
    b: disabled stdio, cursor user ~/.cursor/mcp.json:1, listed in "disabledServers" of your own file
    mine: disabled stdio, wharf user ~/.wharf/mcp.json:2, listed in "disabledServers" of your own file
    "#);
}

#[test]
fn enabled_servers_overrides_another_programs_switch() {
    let world = World::new()
        .with(
            "~/.wharf/mcp.json",
            r#"{
              "mcpServers": { "mine": { "command": "y", "enabled": false } },
              "enabledServers": ["a", "mine", "project"]
            }"#,
        )
        .with("~/.cursor/mcp.json", OFF)
        .with(".cursor/mcp.json", servers(&["project"]));
    assert_snapshot!(world.show(), @r#"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:1
    mine: disabled stdio, wharf user ~/.wharf/mcp.json:2, switched off by "enabled"
    project: untrusted stdio, cursor project [project]/.cursor/mcp.json:1
    "#);
}

#[test]
fn switch_lists_of_a_project_are_ignored() {
    let world = World::new()
        .with(".wharf/mcp.json", r#"{ "disabledServers": ["a"], "enabledServers": ["b"] }"#)
        .with("~/.cursor/mcp.json", servers(&["a"]));
    assert_snapshot!(world.show(), @r#"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:1
    warning not-for-projects [project]/.wharf/mcp.json:1: "disabledServers" is ignored in a project's file (use "enabled": false in the entry)
    warning not-for-projects [project]/.wharf/mcp.json:1: "enabledServers" is ignored in a project's file (use "enabled": true in the entry)
    "#);
}

#[test]
fn switch_lists_of_the_wrong_type_are_a_problem() {
    let world = World::new()
        .with("~/.wharf/mcp.json", r#"{ "disabledServers": "a", "enabledServers": ["b", 5] }"#)
        .with("~/.cursor/mcp.json", servers(&["a"]));
    assert_snapshot!(world.show(), @r#"
    a: disabled stdio, cursor user ~/.cursor/mcp.json:1, listed in "disabledServers" of your own file
    warning wrong-type ~/.wharf/mcp.json:1: "disabledServers" must be a list of names, not a string; read as one name (write "disabledServers": ["name"])
    warning wrong-type ~/.wharf/mcp.json:1: "enabledServers" has a number among its names; ignored (write "enabledServers": ["name"])
    "#);
}

#[test]
fn switch_lists_apply_to_the_variable_too() {
    let world = World::new()
        .with("~/.wharf/mcp.json", r#"{ "disabledServers": ["a"] }"#)
        .with_variable("WHARF_MCP_SERVERS", r#"{ "a": { "command": "x" } }"#);
    assert_snapshot!(world.show(), @r#"a: disabled stdio, env env WHARF_MCP_SERVERS:1, listed in "disabledServers" of your own file"#);
}

#[test]
fn unknown_settings_and_invalid_values_are_warnings() {
    let world = World::new()
        .with("~/.cursor/mcp.json", servers(&["a"]))
        .with(
            "~/.wharf/config.toml",
            "[discovery]\nprojekt = true\ndisabled = \"cursor\"\nduplicates = \"both\"\nproject = 1\n[startup]\ntimeout_ms = -1\n",
        );
    assert_snapshot!(world.show(), @r#"
    context7: enabled stdio, defaults builtin built-in defaults:3
    github: enabled stdio, defaults builtin built-in defaults:4
    thinking: enabled stdio, defaults builtin built-in defaults:2
    warning unknown-setting ~/.wharf/config.toml:2: unknown setting "discovery.projekt" (did you mean "discovery.project"?)
    warning wrong-type ~/.wharf/config.toml:3: "discovery.disabled" must be a list of words (put each word in quotes)
    warning wrong-type ~/.wharf/config.toml:4: "discovery.duplicates" must be one of hide, keep; ignored (correct the value, or remove it)
    warning wrong-type ~/.wharf/config.toml:5: "discovery.project" must be true or false; ignored (correct the value, or remove it)
    warning wrong-type ~/.wharf/config.toml:7: "startup.timeout_ms" must be a whole number; ignored (correct the value, or remove it)
    "#);
}

#[test]
fn unreadable_settings_are_a_problem_and_the_defaults_apply() {
    let world = World::new()
        .with("~/.cursor/mcp.json", servers(&["a"]))
        .with("~/.wharf/config.toml", "[discovery\n");
    assert_snapshot!(world.show(), @"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:1
    error syntax ~/.wharf/config.toml:1: not valid TOML: unclosed table, expected `]` (column 11) (correct the line; until then the file is ignored)
    ");
}
