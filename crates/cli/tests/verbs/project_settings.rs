//! Settings of a project: they affect the files of the project only, not those of the user.

use insta::assert_snapshot;

use crate::world::World;

/// The user disabled `db` in the own file; a file of lower precedence has a `db` that would start.
fn with_project_settings(settings: &str) -> World {
    World::new()
        .programs(&["lower", "theirs"])
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": { "db": { "command": "own", "enabled": false } } }"#,
        )
        .home(".cursor/mcp.json", r#"{ "mcpServers": { "db": { "command": "lower" } } }"#)
        .project(".cursor/mcp.json", r#"{ "mcpServers": { "theirs": { "command": "theirs" } } }"#)
        .project(".wharf/config.toml", settings)
}

#[test]
fn a_project_cannot_disable_the_users_own_files() {
    let world = with_project_settings("[discovery]\ndisabled = [\"wharf\", \"cursor\"]\n");
    assert_snapshot!(world.run("list --all"), @"
    exit 0
    --- stdout
    NAME  STATE              TRANSPORT  WHAT   SOURCE         FILE
    db    disabled           stdio      own    Wharf · user   ~/.wharf/mcp.json
    db    shadowed by Wharf  stdio      lower  Cursor · user  ~/.cursor/mcp.json
    --- stderr
    warning: [project]/.wharf/config.toml:2: this project's settings ignore the project's own wharf, cursor files; your servers are unaffected
      hint: remove the setting to see them here
    1 server: 1 disabled. 1 more is shadowed.
    ");
    assert_snapshot!(world.run("tools"), @"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    warning: [project]/.wharf/config.toml:2: this project's settings ignore the project's own wharf, cursor files; your servers are unaffected
      hint: remove the setting to see them here
    0 tools from 0 servers.
    ");
    assert_eq!(world.started_programs(), "");
}

#[test]
fn every_verb_reports_the_effect_of_project_settings() {
    let world = with_project_settings(
        "[discovery]\ndisabled = [\"cursor\"]\n[tools]\npinning = \"enforce\"\n",
    );
    let verbs = [
        "list",
        "get db",
        "explain db",
        "status",
        "doctor --offline",
        "tools",
        "call db/x",
        "test db",
        "resources",
        "trust db",
        "enable db",
        "disable db",
        "config get",
        "export vscode --dry-run",
    ];
    for line in verbs {
        let output = world.run(line);
        let said = |text: &str| output.matches(text).count();
        assert!(
            said("this project's settings ignore the project's own cursor files") >= 1,
            "{output}"
        );
        assert!(
            said("this project's settings set tools.pinning = enforce") >= 1,
            "{line}: {output}"
        );
        let output = world.run(&format!("{line} --no-project"));
        assert!(!output.contains("this project's settings"), "{line}: {output}");
    }
}

#[test]
fn a_malformed_disabled_list_still_disables_servers() {
    let world = World::new()
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" } },
  "disabledServers": [
    7,
    "a", null
  ],
  "enabledServers": "b"
}"#,
        )
        .home(".cursor/mcp.json", r#"{ "mcpServers": { "c": { "command": "c" } } }"#)
        .home(".wharf/config.toml", "[discovery]\ndisabled = [\n  1,\n  \"cursor\",\n]\n");
    assert_snapshot!(world.run("list"), @r#"
    exit 0
    --- stdout
    NAME  STATE     TRANSPORT  WHAT  SOURCE        FILE
    a     disabled  stdio      a     Wharf · user  ~/.wharf/mcp.json
    b     enabled   stdio      b     Wharf · user  ~/.wharf/mcp.json
    --- stderr
    warning: ~/.wharf/config.toml:3: "discovery.disabled" must be a list of words
      hint: put each word in quotes
    warning: ~/.wharf/mcp.json:3: "disabledServers" has a number among its names; ignored
      hint: write "disabledServers": ["name"]
    warning: ~/.wharf/mcp.json:4: "disabledServers" has null among its names; ignored
      hint: write "disabledServers": ["name"]
    warning: ~/.wharf/mcp.json:6: "enabledServers" must be a list of names, not a string; read as one name
      hint: write "enabledServers": ["name"]
    2 servers: 1 enabled, 1 disabled.
    "#);
    let world = World::new().home(
        ".wharf/mcp.json",
        r#"{ "mcpServers": { "a": { "command": "a" } }, "disabledServers": "a" }"#,
    );
    assert_snapshot!(world.run("list"), @r#"
    exit 0
    --- stdout
    NAME  STATE     TRANSPORT  WHAT  SOURCE        FILE
    a     disabled  stdio      a     Wharf · user  ~/.wharf/mcp.json
    --- stderr
    warning: ~/.wharf/mcp.json:1: "disabledServers" must be a list of names, not a string; read as one name
      hint: write "disabledServers": ["name"]
    1 server: 1 disabled.
    "#);
}

#[test]
fn relative_folders_in_variables_are_ignored() {
    let world = World::new()
        .home(".wharf/mcp.json", r#"{ "mcpServers": { "own": { "command": "x" } } }"#)
        .project("evil/mcp.json", r#"{ "mcpServers": { "evil": { "command": "x" } } }"#)
        .project("evil/config.toml", "[mcp_servers.codex]\ncommand = \"x\"\n")
        .project("evil/.claude.json", r#"{ "mcpServers": { "claude": { "command": "x" } } }"#)
        .project("evil/mcp/mcp.json", r#"{ "mcpServers": { "shared": { "command": "x" } } }"#)
        .variable("WHARF_HOME", "evil")
        .variable("CODEX_HOME", "./evil")
        .variable("CLAUDE_CONFIG_DIR", "evil")
        .variable("XDG_CONFIG_HOME", "evil")
        .variable("XDG_DATA_HOME", "/nowhere");
    assert_snapshot!(world.run("list"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE        FILE
    own   enabled  stdio      x     Wharf · user  ~/.wharf/mcp.json
    --- stderr
    warning: CLAUDE_CONFIG_DIR is a relative path; ignored
      hint: set CLAUDE_CONFIG_DIR to a path that begins with / or ~, or unset it
    warning: CODEX_HOME is a relative path; ignored
      hint: set CODEX_HOME to a path that begins with / or ~, or unset it
    warning: WHARF_HOME is a relative path; ignored
      hint: set WHARF_HOME to a path that begins with / or ~, or unset it
    warning: XDG_CONFIG_HOME is a relative path; ignored
      hint: set XDG_CONFIG_HOME to a path that begins with / or ~, or unset it
    1 server: 1 enabled.
    ");
}

#[test]
fn an_unknown_credential_store_is_refused() {
    let world = World::new();
    assert_snapshot!(world.run("config set credentials.store vault"), @r#"
    exit 1
    --- stderr
    error: "credentials.store" must be one of auto, keychain, file
    "#);
    let world =
        world.home(".wharf/config.toml", "[credentials]\nstore = \"vault\"\n[call]\nmax_ms = 0\n");
    assert_snapshot!(world.run("config get credentials.store"), @r#"
    exit 0
    --- stdout
    auto
    --- stderr
    warning: ~/.wharf/config.toml:2: "credentials.store" must be one of auto, keychain, file; ignored
      hint: correct the value, or remove it
    warning: ~/.wharf/config.toml:4: "call.max_ms" must be a whole number greater than zero; ignored
      hint: correct the value, or remove it
    "#);
}
