//! Limits: how much data of a project is read, and which settings it may change.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::world::World;

/// Far above the time of these tests, far below their time without limits.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_project_cannot_replace_user_servers_with_the_defaults() {
    let world = World::new()
        .with("~/.cursor/mcp.json", r#"{ "mcpServers": { "mine": { "command": "x" } } }"#)
        .with(".wharf/config.toml", "[discovery]\ndisabled = [\"cursor\"]\n");
    assert_snapshot!(world.show(), @"
    mine: enabled stdio, cursor user ~/.cursor/mcp.json:1
    warning project-settings [project]/.wharf/config.toml:2: this project's settings ignore the project's own cursor files; your servers are unaffected (remove the setting to see them here)
    ");
}

#[test]
fn an_unknown_program_name_is_reported() {
    let world = World::new()
        .with("~/.cursor/mcp.json", r#"{ "mcpServers": { "mine": { "command": "x" } } }"#)
        .with("~/.wharf/config.toml", "[discovery]\ndisabled = [\"cursr\"]\n");
    assert_snapshot!(world.show(), @r#"
    mine: enabled stdio, cursor user ~/.cursor/mcp.json:1
    warning unknown-program ~/.wharf/config.toml:2: no program is called "cursr" (did you mean "cursor"?)
    "#);
}

#[test]
fn a_large_file_of_a_project_is_not_read() {
    let mut text = "{ \"mcpServers\": {".to_owned();
    while text.len() < 5 * 1024 * 1024 {
        write!(text, "\"s{}\": {{}},", text.len()).expect("text");
    }
    text.push_str("} }");
    let started = Instant::now();
    let world = World::new()
        .with("~/.cursor/mcp.json", r#"{ "mcpServers": { "good": { "command": "x" } } }"#)
        .with(".mcp.json", &text)
        .with(".wharf/config.toml", "# much\n".repeat(50_000));
    assert_snapshot!(world.show_problems(), @"
    error too-large [project]/.wharf/config.toml: too large for settings; not read (remove everything except settings)
    error too-large [project]/.mcp.json: larger than 4096 KiB; a project's file of this size is not read (move other content to another file)
    ");
    assert!(started.elapsed() < SOON);
}

#[test]
fn a_file_that_a_manifest_names_many_times_is_read_once() {
    let servers: Vec<String> =
        (0..500).map(|number| format!("\"s{number}\": {{ \"command\": \"x\" }}")).collect();
    let names = vec!["\"a.json\""; 8_000].join(",");
    let world = World::new().with("a.json", format!("{{ {} }}", servers.join(","))).with(
        ".claude-plugin/plugin.json",
        format!("{{ \"name\": \"p\", \"mcpServers\": [{names}] }}"),
    );
    let started = Instant::now();
    assert_eq!(world.load().servers.len(), 500);
    assert!(started.elapsed() < SOON);
}

#[test]
fn long_switch_lists_are_read_quickly() {
    let servers: Vec<String> =
        (0..5_000).map(|number| format!("\"s{number}\": {{ \"command\": \"x\" }}")).collect();
    let names: Vec<String> = (0..5_000).map(|number| format!("\"t{number}\"")).collect();
    let tools: Vec<String> = (0..5_000).map(|number| format!("\"s{number}_t*\": false")).collect();
    let (servers, names, tools) = (servers.join(","), names.join(","), tools.join(","));
    let world = World::new()
        .with(
            ".omp/mcp.json",
            format!("{{ \"mcpServers\": {{ {servers} }}, \"disabledServers\": [{names}] }}"),
        )
        .with(".mcp.json", format!("{{ \"mcpServers\": {{ {servers} }} }}"))
        .with(".claude/settings.json", format!("{{ \"disabledMcpjsonServers\": [{names}] }}"))
        .with("opencode.json", format!("{{ \"mcp\": {{ {servers} }}, \"tools\": {{ {tools} }} }}"));
    let started = Instant::now();
    assert_eq!(world.load().servers.len(), 15_000);
    assert!(started.elapsed() < SOON);
}

#[test]
fn every_text_of_an_entry_is_expanded() {
    let world = World::new().with_variable("TEAM", "core").with(
        "~/.wharf/mcp.json",
        r#"{ "mcpServers": { "api": { "url": "https://h.example", "account": "${TEAM}", "prefix": "${TEAM}_x",
            "oauth": { "scope": "${TEAM} read", "redirectUri": "http://localhost/${NOT_SET}" } } } }"#,
    );
    let catalog = world.load();
    let server = catalog.winner("api").expect("a server");
    let spec = server.spec.as_ref().expect("a spec");
    let oauth = spec.oauth.as_ref().expect("OAuth options");
    assert_eq!(
        (spec.account.as_deref(), spec.policy.prefix.as_deref(), oauth.scope.as_deref()),
        (Some("core"), Some("core_x"), Some("core read"))
    );
    assert_eq!(server.problems.len(), 1, "{:?}", server.problems);
}

#[test]
fn the_manifests_of_plugins_count_in_the_budget_of_a_project() {
    let mut world = World::new();
    for number in 0..60 {
        world = world
            .with(&format!(".agents/plugins/p{number}/mcp.json"), r#"{ "mcpServers": {} }"#)
            .with(&format!(".agents/plugins/p{number}/plugin.json"), "");
        let manifest = world.path(&format!(".agents/plugins/p{number}/plugin.json"));
        let file = std::fs::OpenOptions::new().write(true).open(manifest).expect("a file");
        file.set_len(15 * 1024 * 1024).expect("a long file");
    }
    let started = Instant::now();
    let catalog = world.load();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let too_large = catalog.problems.iter().filter(|problem| problem.code == "too-large").count();
    assert_eq!(too_large, 60);
}

#[test]
fn the_files_that_manifests_name_count_in_the_budget_of_a_project() {
    let much = format!("{{ \"s\": {{ \"command\": \"x\" }} }}{}", " ".repeat(3 * 1024 * 1024));
    let mut world = World::new();
    for number in 0..10 {
        world = world.with(&format!("f{number}.json"), &much);
    }
    let names: Vec<String> = (0..10).map(|number| format!("\"f{number}.json\"")).collect();
    let world = world.with(
        ".claude-plugin/plugin.json",
        format!("{{ \"name\": \"p\", \"mcpServers\": [{}] }}", names.join(",")),
    );
    let problems = world.load().problems;
    let refused = problems.iter().filter(|problem| problem.code == "too-large").count();
    assert_eq!(refused, 5, "{problems:?}");
}

#[test]
fn a_million_opening_braces_are_expanded_in_linear_time() {
    // In a user file, so that the size limit of project files does not apply.
    let mut values: Vec<String> =
        ["${", "{", "$(", "${A:-"].iter().map(|text| text.repeat(1_000_000)).collect();
    values.push(format!("{}{}", "${A:-".repeat(1_500), "}".repeat(1_500)).repeat(200));
    for value in values {
        let world = World::new().with(
            "~/.config/opencode/opencode.json",
            format!(
                r#"{{ "mcp": {{ "a": {{ "type": "local", "command": ["x", "{value}"] }} }} }}"#
            ),
        );
        let started = Instant::now();
        assert!(world.load().winner("a").is_some());
        let (taken, start) = (started.elapsed(), &value[..8]);
        assert!(taken < Duration::from_secs(10), "{start}: {taken:?}");
    }
}
