//! Tests of the precedence of all programs, and of the built-in defaults.

use crate::world::World;

/// Every program, highest first, with one of its files on Linux and a template for what is in it:
/// `NAME` is replaced by the name of the server and `COMMAND` by its command.
const PROGRAMS: [(&str, &str, &str); 52] = [
    ("wharf", "~/.wharf/mcp.json", MAP),
    ("omp", "~/.omp/agent/mcp.json", MAP),
    ("pisces", "~/.pisces/agent/mcp.json", MAP),
    ("xcsh", "~/.xcsh/agent/mcp.json", MAP),
    ("co-cli", "~/.config/co-cli/settings.json", UNDERSCORE),
    ("claude", "~/.claude.json", MAP),
    ("agent-plugins", "~/.agents/plugins/agent/mcp.json", MAP),
    ("claude-plugins", "~/.claude/plugins/cache/market/claude/1.0.0/.mcp.json", MAP),
    ("gemini-extensions", "~/.gemini/extensions/gemini/gemini-extension.json", MAP),
    ("codex", "~/.codex/config.toml", TOML),
    ("gemini", "~/.gemini/settings.json", MAP),
    ("qwen", "~/.qwen/settings.json", MAP),
    ("opencode", "~/.config/opencode/opencode.json", OPENCODE),
    ("cursor", "~/.cursor/mcp.json", MAP),
    ("windsurf", "~/.codeium/windsurf/mcp_config.json", MAP),
    ("copilot", "~/.copilot/mcp-config.json", MAP),
    ("zed", "~/.config/zed/settings.json", ZED),
    ("cline", "~/.cline/data/settings/cline_mcp_settings.json", MAP),
    (
        "roo",
        "~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        MAP,
    ),
    ("kilo", "~/.config/kilo/kilo.json", OPENCODE),
    ("goose", "~/.config/goose/config.yaml", GOOSE),
    ("amp", "~/.config/amp/settings.json", AMP),
    ("kiro", "~/.kiro/settings/mcp.json", MAP),
    ("crush", "~/.config/crush/crush.json", CRUSH),
    ("continue", "~/.continue/config.yaml", CONTINUE),
    ("junie", "~/.junie/mcp/mcp.json", MAP),
    ("lmstudio", "~/.lmstudio/mcp.json", MAP),
    ("amazonq", "~/.aws/amazonq/mcp.json", MAP),
    ("warp", "~/.warp/.mcp.json", MAP),
    ("factory", "~/.factory/mcp.json", MAP),
    ("antigravity", "~/.gemini/config/mcp_config.json", MAP),
    ("claude-desktop", "~/.config/Claude/claude_desktop_config.json", MAP),
    ("copilot-jetbrains", "~/.config/github-copilot/intellij/mcp.json", SERVERS),
    ("trae", "~/.config/Trae/User/mcp.json", MAP),
    ("qoder", "~/.qoder/mcp.json", MAP),
    ("kimi", "~/.kimi/mcp.json", MAP),
    ("vibe", "~/.vibe/config.toml", VIBE),
    ("grok", "~/.grok/config.toml", TOML),
    ("mastra", "~/.mastracode/mcp.json", MAP),
    ("pi", "~/.pi/agent/mcp.json", MAP),
    ("fx", "~/.fx/mcp.json", MAP),
    ("mcporter", "~/.mcporter/mcporter.json", MAP),
    ("mcp-cli", "~/.config/mcp/mcp_servers.json", MAP),
    ("sema4", "~/.sema4ai/sema4ai-studio/mcp_servers.json", MAP),
    ("tabnine", "~/.tabnine/mcp_servers.json", MAP),
    ("cortex", "~/.snowflake/cortex/mcp.json", MAP),
    ("abacus", "~/.abacusai/mcp.json", MAP),
    ("mcphost", "~/.mcp.json", MAP),
    ("hermes", "~/.hermes/config.yaml", HERMES),
    ("vscode", "~/.config/Code/User/mcp.json", SERVERS),
    ("shared", "~/.config/mcp/mcp.json", MAP),
    ("mcp-json", "mcp.json", MAP),
];

const MAP: &str = r#"{ "mcpServers": { "NAME": { "command": "COMMAND" } } }"#;
const UNDERSCORE: &str = r#"{ "mcp_servers": { "NAME": { "command": "COMMAND" } } }"#;
const SERVERS: &str = r#"{ "servers": { "NAME": { "command": "COMMAND" } } }"#;
const OPENCODE: &str = r#"{ "mcp": { "NAME": { "type": "local", "command": ["COMMAND"] } } }"#;
const CRUSH: &str = r#"{ "mcp": { "NAME": { "type": "stdio", "command": "COMMAND" } } }"#;
const ZED: &str = r#"{ "context_servers": { "NAME": { "command": "COMMAND" } } }"#;
const AMP: &str = r#"{ "amp.mcpServers": { "NAME": { "command": "COMMAND" } } }"#;
const TOML: &str = "[mcp_servers.NAME]\ncommand = \"COMMAND\"\n";
const VIBE: &str =
    "[[mcp_servers]]\nname = \"NAME\"\ntransport = \"stdio\"\ncommand = \"COMMAND\"\n";
const GOOSE: &str = "extensions:\n  NAME:\n    type: stdio\n    cmd: COMMAND\n    enabled: true\n";
const CONTINUE: &str = "mcpServers:\n  - name: NAME\n    command: COMMAND\n";
const HERMES: &str = "mcp_servers:\n  NAME:\n    command: COMMAND\n";

/// Makes a machine with one server of each program.
fn world(name_of: impl Fn(&str) -> String) -> World {
    // Written in reverse order, so that the order of writing cannot give the expected result.
    let written = PROGRAMS.iter().rev();
    let world = written.fold(World::new(), |world, (id, place, template)| {
        let text =
            template.replace("NAME", &name_of(id)).replace("COMMAND", &format!("{id}-server"));
        world.with(place, text)
    });
    world
        .with("~/.agents/plugins/agent/plugin.json", r#"{ "name": "agent" }"#)
        .with_variable("COPILOT_HOME", "")
}

#[test]
fn programs_have_a_fixed_order() {
    let catalog = world(|id| format!("of-{id}")).load();
    let found: Vec<&str> =
        catalog.servers.iter().map(|server| server.definition.source.provider).collect();
    let expected: Vec<&str> = PROGRAMS.iter().map(|(id, ..)| *id).collect();
    assert_eq!(found, expected);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
}

#[test]
fn the_first_program_wins_and_all_others_are_shadowed() {
    let catalog = world(|_| "same".to_owned()).load();
    let plain: Vec<_> = catalog.candidates("same").collect();
    assert_eq!(catalog.winner("same").expect("a winner").definition.source.provider, "wharf");
    // Servers of plugins are named `plugin:same`.
    assert_eq!(plain.len(), PROGRAMS.len() - 3);
    for server in &plain[1..] {
        let by = server.shadowed_by.as_ref().expect("what shadows it");
        assert_eq!((server.state.word(), by.provider), ("shadowed", "wharf"));
    }
}

#[test]
fn an_excluded_program_shadows_nothing() {
    let world = world(|_| "same".to_owned())
        .with("~/.wharf/config.toml", "[discovery]\ndisabled = [\"wharf\", \"omp\", \"pisces\"]\n");
    assert_eq!(world.load().winner("same").expect("a winner").definition.source.provider, "xcsh");
}

#[test]
fn a_machine_without_servers_gets_the_defaults() {
    let world = World::new().with("~/.cursor/mcp.json", r#"{ "mcpServers": {} }"#);
    insta::assert_snapshot!(world.show(), @"
    context7: enabled stdio, defaults builtin built-in defaults:3
    github: enabled stdio, defaults builtin built-in defaults:4
    thinking: enabled stdio, defaults builtin built-in defaults:2
    ");
}

#[test]
fn the_defaults_are_used_only_if_the_caller_asks_for_them() {
    let mut world = World::new();
    world.options.with_defaults = false;
    assert_eq!(world.show(), "");
}

#[test]
fn the_defaults_are_used_only_without_other_servers() {
    let entries = [r#"{ "command": "x", "enabled": false }"#, r#"{ "type": "nothing" }"#, "null"];
    for entry in entries {
        let world = World::new()
            .with("~/.cursor/mcp.json", format!("{{ \"mcpServers\": {{ \"a\": {entry} }} }}"));
        assert_eq!(world.load().servers.len(), 1, "{entry}");
    }
    let untrusted = World::new().with(".mcp.json", super::servers(&["a"]));
    assert_eq!(untrusted.load().servers.len(), 1);
}

#[test]
fn the_defaults_can_be_disabled() {
    let world = World::new().with("~/.wharf/config.toml", "discovery.disabled = [\"defaults\"]\n");
    assert_eq!(world.show(), "");
}
