//! Tests of duplicates: one server under two names, and Exa servers with native web search.

use insta::assert_snapshot;

use crate::world::{CANARY, World};

fn entry(name: &str, entry: &str) -> String {
    format!("{{ \"mcpServers\": {{ \"{name}\": {entry} }} }}")
}

/// Returns the states of two entries; the first is in a file of higher priority.
fn states(first: &str, second: &str) -> String {
    let world = World::new()
        .with("~/.cursor/mcp.json", entry("first", first))
        .with("~/.lmstudio/mcp.json", entry("second", second));
    let catalog = world.load();
    let state = |name| catalog.winner(name).expect("a server").state.word();
    format!("{} {}", state("first"), state("second"))
}

#[test]
fn the_same_command_or_address_is_a_duplicate_of_the_higher_one() {
    let world = World::new()
        .with("~/.cursor/mcp.json", entry("first", r#"{ "command": "x", "args": ["1"] }"#))
        .with("~/.lmstudio/mcp.json", entry("second", r#"{ "command": "x", "args": ["1"] }"#))
        .with("~/.kiro/settings/mcp.json", entry("third", r#"{ "command": "x", "args": ["1"] }"#));
    assert_snapshot!(world.show(), @"
    first: enabled stdio, cursor user ~/.cursor/mcp.json:1
    second: duplicate stdio, lmstudio user ~/.lmstudio/mcp.json:1, of first
    third: duplicate stdio, kiro user ~/.kiro/settings/mcp.json:1, of first
    ");
}

#[test]
fn servers_with_equal_transports_are_duplicates() {
    let cases = [
        (
            r#"{ "command": "x", "env": { "A": "1", "B": "2" } }"#,
            r#"{ "command": "x", "env": { "B": "2", "A": "1" } }"#,
            "enabled duplicate",
        ),
        (
            r#"{ "command": "x", "env": { "A": "1" } }"#,
            r#"{ "command": "x", "env": { "A": "2" } }"#,
            "enabled enabled",
        ),
        (
            r#"{ "command": "x", "args": ["1", "2"] }"#,
            r#"{ "command": "x", "args": ["2", "1"] }"#,
            "enabled enabled",
        ),
        (r#"{ "command": "x" }"#, r#"{ "command": "x", "cwd": "/tmp" }"#, "enabled enabled"),
        (r#"{ "command": "x" }"#, r#"{ "command": "x", "timeout": 5 }"#, "enabled duplicate"),
        (
            r#"{ "url": "https://a.example/mcp" }"#,
            r#"{ "type": "http", "url": "https://a.example/mcp" }"#,
            "enabled duplicate",
        ),
        (
            r#"{ "url": "https://a.example/mcp", "headers": { "X-A": "1" } }"#,
            r#"{ "url": "https://a.example/mcp", "headers": { "x-a": "1" } }"#,
            "enabled duplicate",
        ),
        (
            r#"{ "url": "https://a.example/mcp", "headers": { "X-A": "1" } }"#,
            r#"{ "url": "https://a.example/mcp" }"#,
            "enabled enabled",
        ),
        (r#"{ "command": "x", "disabled": true }"#, r#"{ "command": "x" }"#, "disabled enabled"),
        (
            r#"{ "command": "x", "url": "https://a.example" }"#,
            r#"{ "command": "x" }"#,
            "invalid enabled",
        ),
    ];
    for (first, second, expected) in cases {
        assert_eq!(states(first, second), expected, "{first} and {second}");
    }
}

#[test]
fn expanded_values_are_compared() {
    let world = World::new()
        .with("~/.cursor/mcp.json", entry("first", r#"{ "command": "${env:TOOL}" }"#))
        .with("~/.lmstudio/mcp.json", entry("second", r#"{ "command": "x" }"#))
        .with_variable("TOOL", "x");
    assert_snapshot!(world.show(), @"
    first: enabled stdio, cursor user ~/.cursor/mcp.json:1
    second: duplicate stdio, lmstudio user ~/.lmstudio/mcp.json:1, of first
    ");
}

#[test]
fn nothing_is_a_duplicate_of_an_untrusted_entry() {
    let mut world = World::new()
        .with(".cursor/mcp.json", entry("theirs", r#"{ "command": "x" }"#))
        .with("~/.lmstudio/mcp.json", entry("mine", r#"{ "command": "x" }"#));
    assert_snapshot!(world.show(), @"
    mine: enabled stdio, lmstudio user ~/.lmstudio/mcp.json:1
    theirs: untrusted stdio, cursor project [project]/.cursor/mcp.json:1
    ");
    world.options.trust_project = true;
    assert_snapshot!(world.show(), @"
    mine: duplicate stdio, lmstudio user ~/.lmstudio/mcp.json:1, of theirs
    theirs: enabled stdio, cursor project [project]/.cursor/mcp.json:1
    ");
}

#[test]
fn nothing_is_a_duplicate_of_a_shadowed_entry() {
    let world = World::new()
        .with("~/.wharf/mcp.json", entry("a", r#"{ "command": "y" }"#))
        .with("~/.cursor/mcp.json", entry("a", r#"{ "command": "x" }"#))
        .with("~/.lmstudio/mcp.json", entry("b", r#"{ "command": "x" }"#));
    assert_snapshot!(world.show(), @"
    a: enabled stdio, wharf user ~/.wharf/mcp.json:1
    a: shadowed stdio, cursor user ~/.cursor/mcp.json:1, by wharf user ~/.wharf/mcp.json
    b: enabled stdio, lmstudio user ~/.lmstudio/mcp.json:1
    ");
}

#[test]
fn duplicates_are_kept_if_the_setting_says_so() {
    let world = World::new()
        .with("~/.wharf/config.toml", "discovery.duplicates = \"keep\"\n")
        .with("~/.cursor/mcp.json", entry("first", r#"{ "command": "x" }"#))
        .with("~/.lmstudio/mcp.json", entry("second", r#"{ "command": "x" }"#));
    assert_snapshot!(world.show(), @"
    first: enabled stdio, cursor user ~/.cursor/mcp.json:1
    second: enabled stdio, lmstudio user ~/.lmstudio/mcp.json:1
    ");
}

/// Exa servers in every form, each with [`CANARY`] as its key.
fn exa() -> World {
    World::new()
        .with(
            "~/.cursor/mcp.json",
            format!(
                r#"{{ "mcpServers": {{
  "query": {{ "url": "https://mcp.exa.ai/mcp?exaApiKey={CANARY}&tools=web" }},
  "header": {{ "url": "https://exa.ai/mcp", "headers": {{ "X-Api-Key": "${{env:EXA}}" }} }},
  "local": {{ "command": "npx", "args": ["-y", "exa-mcp-server"], "env": {{ "EXA_API_KEY": "{CANARY}" }} }},
  "no key": {{ "url": "https://mcp.exa.ai/mcp" }},
  "another": {{ "url": "https://notexa.ai/mcp" }},
  "off": {{ "url": "https://mcp.exa.ai/off?exaApiKey=other", "disabled": true }}
}} }}"#
            ),
        )
        .with(".cursor/mcp.json", entry("untrusted", r#"{ "url": "https://mcp.exa.ai/x?exaApiKey=theirs" }"#))
        .with_variable("EXA", CANARY)
}

#[test]
fn with_native_web_search_exa_servers_are_native_and_their_keys_are_taken() {
    let mut world = exa();
    world.options.native_web_search = true;
    assert_snapshot!(world.show(), @r#"
    another: enabled http, cursor user ~/.cursor/mcp.json:6
    header: native http, cursor user ~/.cursor/mcp.json:3
    local: native stdio, cursor user ~/.cursor/mcp.json:4
    no key: native http, cursor user ~/.cursor/mcp.json:5
      warning unusual-name ~/.cursor/mcp.json:5: the name has spaces, which some programs and tool names do not allow (use a dash or an underscore instead)
    off: disabled http, cursor user ~/.cursor/mcp.json:7, switched off by "disabled"
    query: native http, cursor user ~/.cursor/mcp.json:2
    untrusted: untrusted http, cursor project [project]/.cursor/mcp.json:1
    "#);
    let catalog = world.load();
    let keys: Vec<&str> = catalog.exa_keys.iter().map(wharf_config::Secret::expose).collect();
    assert_eq!(keys, [CANARY, CANARY, CANARY]);
}

#[test]
fn without_native_web_search_exa_servers_are_enabled() {
    let catalog = exa().load();
    assert!(catalog.exa_keys.is_empty());
    assert!(catalog.servers.iter().all(|server| server.state.word() != "native"));
}

#[test]
fn an_unresolved_exa_key_is_not_taken() {
    let mut world = World::new()
        .with(
            "~/.wharf/mcp.json",
            r#"{ "mcpServers": {
  "named": { "command": "exa-mcp-server", "env": { "EXA_API_KEY": "MY_KEY" } },
  "command": { "command": "exa-mcp-server", "env": { "EXA_API_KEY": "!cat key" } },
  "unset": { "command": "exa-mcp-server", "env": { "EXA_API_KEY": "${NOBODY}" } },
  "literal": { "command": "exa-mcp-server", "env": { "EXA_API_KEY": "as-it-is" } }
} }"#,
        )
        .with_variable("MY_KEY", CANARY);
    world.options.native_web_search = true;
    let catalog = world.load();
    let keys: Vec<&str> = catalog.exa_keys.iter().map(wharf_config::Secret::expose).collect();
    assert_eq!(keys, [CANARY, "as-it-is"]);
}
