//! Maps and files that replace all servers of other files of the same program.

use insta::assert_snapshot;

use super::{servers, under};
use crate::world::World;

fn co_cli() -> World {
    World::new()
        .with(".co-cli/settings.json", under("mcp_servers", &["project"]))
        .with("~/.config/co-cli/settings.json", under("mcp_servers", &["mine", "project"]))
}

#[test]
fn an_untrusted_map_of_co_cli_replaces_nothing() {
    assert_snapshot!(co_cli().show(), @r#"
    mine: enabled stdio, co-cli user ~/.config/co-cli/settings.json:1
    project: untrusted stdio, co-cli project [project]/.co-cli/settings.json:1
      warning hides [project]/.co-cli/settings.json:1: hides your "project" from ~/.config/co-cli/settings.json (trust it to use it here, or rename yours)
    project: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli project [project]/.co-cli/settings.json
    "#);
}

#[test]
fn a_trusted_map_of_co_cli_replaces_the_user_map() {
    let world = co_cli();
    world.trust(&["project"]);
    assert_snapshot!(world.show(), @"
    mine: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli project [project]/.co-cli/settings.json
    project: enabled stdio, co-cli project [project]/.co-cli/settings.json:1
    project: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli project [project]/.co-cli/settings.json
    ");
}

#[test]
fn trust_in_another_file_does_not_let_a_map_replace_the_user_map() {
    let world = co_cli().with(".cursor/mcp.json", servers(&["other"]));
    world.trust(&["other"]);
    assert_snapshot!(world.show(), @r#"
    mine: enabled stdio, co-cli user ~/.config/co-cli/settings.json:1
    other: enabled stdio, cursor project [project]/.cursor/mcp.json:1
    project: untrusted stdio, co-cli project [project]/.co-cli/settings.json:1
      warning hides [project]/.co-cli/settings.json:1: hides your "project" from ~/.config/co-cli/settings.json (trust it to use it here, or rename yours)
    project: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli project [project]/.co-cli/settings.json
    "#);
}

#[test]
fn the_variable_of_co_cli_replaces_both_files() {
    let world = co_cli()
        .with("~/.cursor/mcp.json", servers(&["cursor"]))
        .with_variable("CO_MCP_SERVERS", r#"{ "older": { "command": "x" } }"#)
        .with_variable("CO_CLI_MCP_SERVERS", r#"{ "newer": { "command": "y" } }"#);
    assert_snapshot!(world.show(), @"
    cursor: enabled stdio, cursor user ~/.cursor/mcp.json:1
    mine: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli env CO_CLI_MCP_SERVERS
    newer: enabled stdio, co-cli env CO_CLI_MCP_SERVERS:1
    older: shadowed stdio, co-cli env CO_MCP_SERVERS:1, by co-cli env CO_CLI_MCP_SERVERS
    project: shadowed stdio, co-cli project [project]/.co-cli/settings.json:1, by co-cli env CO_CLI_MCP_SERVERS
    project: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli env CO_CLI_MCP_SERVERS
    ");
}

#[test]
fn the_older_variable_of_co_cli_counts_without_the_newer_one() {
    let world = co_cli().with_variable("CO_MCP_SERVERS", r#"{ "older": { "command": "x" } }"#);
    assert_snapshot!(world.show(), @"
    mine: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli env CO_MCP_SERVERS
    older: enabled stdio, co-cli env CO_MCP_SERVERS:1
    project: shadowed stdio, co-cli project [project]/.co-cli/settings.json:1, by co-cli env CO_MCP_SERVERS
    project: shadowed stdio, co-cli user ~/.config/co-cli/settings.json:1, by co-cli env CO_MCP_SERVERS
    ");
}

fn claude() -> World {
    World::new()
        .with("~/.claude.json", servers(&["user"]))
        .with("~/.claude/mcp.json", servers(&["second"]))
        .with(".claude/mcp.json", servers(&["project"]))
        .with("~/.cursor/mcp.json", servers(&["cursor"]))
}

#[test]
fn the_managed_file_of_claude_code_hides_its_other_files_and_no_other_program() {
    let world = claude().with("/etc/claude-code/managed-mcp.json", servers(&["managed"]));
    assert_snapshot!(world.show(), @"
    cursor: enabled stdio, cursor user ~/.cursor/mcp.json:1
    managed: enabled stdio, claude user [root]/system/etc/claude-code/managed-mcp.json:1
    project: shadowed stdio, claude project [project]/.claude/mcp.json:1, by claude user [root]/system/etc/claude-code/managed-mcp.json
    second: shadowed stdio, claude user ~/.claude/mcp.json:1, by claude user [root]/system/etc/claude-code/managed-mcp.json
    user: shadowed stdio, claude user ~/.claude.json:1, by claude user [root]/system/etc/claude-code/managed-mcp.json
    ");
}

#[test]
fn a_managed_file_without_servers_still_hides_the_others() {
    let world = claude().with("/etc/claude-code/managed-mcp.json", r#"{ "mcpServers": {} }"#);
    let catalog = world.load();
    let own = catalog.servers.iter().filter(|own| own.definition.source.provider == "claude");
    assert!(own.map(|own| own.state.word()).eq(["shadowed"; 3]), "{}", world.show());
}

#[test]
fn the_local_scope_of_claude_code_is_user_level_and_comes_first() {
    let world = World::new().with(".claude/mcp.json", servers(&["a"]));
    let project = world.in_json("");
    let world = world.with(
        "~/.claude.json",
        format!(
            r#"{{
  "mcpServers": {{ "a": {{ "command": "user" }} }},
  "projects": {{
    "{project}": {{ "mcpServers": {{ "a": {{ "command": "local" }} }} }},
    "/elsewhere": {{ "mcpServers": {{ "b": {{ "command": "elsewhere" }} }} }}
  }}
}}"#
        ),
    );
    assert_snapshot!(world.show(), @"
    a: enabled stdio, claude user ~/.claude.json:4
    a: shadowed stdio, claude project [project]/.claude/mcp.json:1, by claude user ~/.claude.json
    a: shadowed stdio, claude user ~/.claude.json:2, by claude user ~/.claude.json
    ");
}
