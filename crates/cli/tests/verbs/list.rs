//! `wharf list`: the table, the JSON, and the messages on stderr.

use insta::assert_snapshot;

use crate::world::World;

/// A world with ten programs that all define "fs" and one more server each.
pub(crate) fn ten_programs() -> World {
    let servers = |own: &str| {
        format!(
            r#"{{"fs": {{"command": "npx", "args": ["{own}"]}}, "{own}": {{"command": "{own}"}}}}"#
        )
    };
    let standard = |own: &str| format!("{{\"mcpServers\": {}}}", servers(own));
    World::new()
        .programs(&["npx"])
        .home(".wharf/mcp.json", &standard("wharf-own"))
        .home(".omp/agent/mcp.json", &standard("omp-own"))
        .home(".claude.json", &standard("claude-own"))
        .home(
            ".codex/config.toml",
            "[mcp_servers.fs]\ncommand = \"npx\"\nargs = [\"codex-own\"]\n\
             [mcp_servers.codex-own]\ncommand = \"codex-own\"\n",
        )
        .home(".gemini/settings.json", &standard("gemini-own"))
        .home(".cursor/mcp.json", &standard("cursor-own"))
        .home(".codeium/windsurf/mcp_config.json", &standard("windsurf-own"))
        .home(
            ".config/zed/settings.json",
            &format!("{{\"context_servers\": {}}}", servers("zed-own")),
        )
        .home(".config/Code/User/mcp.json", &format!("{{\"servers\": {}}}", servers("code-own")))
        .project(".mcp.json", &standard("project-own"))
}

/// A world with a server in every state.
pub(crate) fn every_state() -> World {
    World::new()
        .programs(&["npx", "uvx"])
        .home(
            ".cursor/mcp.json",
            r#"{
  "mcpServers": {
    "fs": { "command": "npx", "args": ["-y", "server-fs", "a b"], "env": { "A": "1" } },
    "same": { "command": "npx", "args": ["-y", "server-fs", "a b"], "env": { "A": "1" } },
    "off": { "command": "npx", "disabled": true },
    "half": { "args": ["x"] },
    "remote": { "url": "https://example.com/mcp?key=1", "headers": { "X-Key": "2" } },
    "needs": { "command": "uvx", "args": ["${UNSET}"] },
    "theirs": { "command": "uvx" }
  }
}"#,
        )
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "npx" } } }"#)
        .project(".cursor/mcp.json", r#"{ "mcpServers": { "theirs": { "command": "uvx" } } }"#)
}

#[test]
fn an_empty_machine_has_the_defaults() {
    assert_snapshot!(World::new().programs(&["npx"]).run("list"), @"
    exit 0
    --- stdout
    NAME      STATE    TRANSPORT  WHAT                                        SOURCE
    context7  enabled  stdio      npx -y @upstash/context7-mcp@latest         Wharf defaults
    github    enabled  stdio      npx -y @modelcontextprotocol/server-github  Wharf defaults
    thinking  enabled  stdio      wharf mcp thinking                          Wharf defaults
    --- stderr
    3 servers: 3 enabled.
    Nothing is configured yet, so these are Wharf's defaults. Add a server: wharf add NAME -- COMMAND…
    ");
}

#[test]
fn the_table_shows_every_state() {
    assert_snapshot!(every_state().run("list"), @r#"
    exit 0
    --- stdout
    NAME    STATE      TRANSPORT  WHAT                         SOURCE            FILE
    fs      enabled    stdio      npx -y server-fs 'a b'       Cursor · user     ~/.cursor/mcp.json
    half    invalid    unknown    (nothing)                    Cursor · user     ~/.cursor/mcp.json
    needs   enabled    stdio      uvx '${UNSET}'               Cursor · user     ~/.cursor/mcp.json
    off     disabled   stdio      npx                          Cursor · user     ~/.cursor/mcp.json
    remote  enabled    http       https://example.com/mcp?•••  Cursor · user     ~/.cursor/mcp.json
    theirs  untrusted  stdio      uvx                          Cursor · project  .cursor/mcp.json
    --- stderr
    error: ~/.cursor/mcp.json:6: "half": stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    warning: ~/.cursor/mcp.json:8: "needs": variable "UNSET" is not set; "args[0]" keeps its placeholder
      hint: set UNSET
    warning: [project]/.cursor/mcp.json:1: "theirs": hides your "theirs" from ~/.cursor/mcp.json
      hint: trust it to use it here, or rename yours
    6 servers: 3 enabled, 1 untrusted, 1 invalid, 1 disabled. 3 more are not used: 2 shadowed, 1 duplicate (`wharf list --all`).
    hint: to use the servers of this project: `wharf trust theirs`
    "#);
}

#[test]
fn the_all_flag_adds_shadowed_and_duplicate_servers() {
    assert_snapshot!(every_state().run("ls --all -q"), @"
    exit 0
    --- stdout
    NAME    STATE                         TRANSPORT  WHAT                         SOURCE              FILE
    fs      enabled                       stdio      npx -y server-fs 'a b'       Cursor · user       ~/.cursor/mcp.json
    half    invalid                       unknown    (nothing)                    Cursor · user       ~/.cursor/mcp.json
    needs   enabled                       stdio      uvx '${UNSET}'               Cursor · user       ~/.cursor/mcp.json
    off     disabled                      stdio      npx                          Cursor · user       ~/.cursor/mcp.json
    remote  enabled                       http       https://example.com/mcp?•••  Cursor · user       ~/.cursor/mcp.json
    same    duplicate of fs               stdio      npx -y server-fs 'a b'       Cursor · user       ~/.cursor/mcp.json
    theirs  untrusted                     stdio      uvx                          Cursor · project    .cursor/mcp.json
    theirs  shadowed by Cursor · project  stdio      uvx                          Cursor · user       ~/.cursor/mcp.json
    theirs  shadowed by Cursor            stdio      npx                          mcp.json · project  .mcp.json
    ");
}

#[test]
fn ten_programs_give_one_winner_for_each_name() {
    assert_snapshot!(ten_programs().run("list"), @"
    exit 0
    --- stdout
    NAME          STATE      TRANSPORT  WHAT           SOURCE              FILE
    claude-own    enabled    stdio      claude-own     Claude Code · user  ~/.claude.json
    code-own      enabled    stdio      code-own       VS Code · user      ~/.config/Code/User/mcp.json
    codex-own     enabled    stdio      codex-own      Codex · user        ~/.codex/config.toml
    cursor-own    enabled    stdio      cursor-own     Cursor · user       ~/.cursor/mcp.json
    fs            enabled    stdio      npx wharf-own  Wharf · user        ~/.wharf/mcp.json
    gemini-own    enabled    stdio      gemini-own     Gemini CLI · user   ~/.gemini/settings.json
    omp-own       enabled    stdio      omp-own        oh-my-pi · user     ~/.omp/agent/mcp.json
    project-own   untrusted  stdio      project-own    mcp.json · project  .mcp.json
    wharf-own     enabled    stdio      wharf-own      Wharf · user        ~/.wharf/mcp.json
    windsurf-own  enabled    stdio      windsurf-own   Windsurf · user     ~/.codeium/windsurf/mcp_config.json
    zed-own       enabled    stdio      zed-own        Zed · user          ~/.config/zed/settings.json
    --- stderr
    11 servers: 10 enabled, 1 untrusted. 9 more are shadowed (`wharf list --all`).
    hint: to use the servers of this project: `wharf trust project-own`
    ");
}

#[test]
fn the_all_flag_shows_every_definition_of_ten_programs() {
    assert_snapshot!(ten_programs().run("list --all"), @"
    exit 0
    --- stdout
    NAME          STATE              TRANSPORT  WHAT              SOURCE              FILE
    claude-own    enabled            stdio      claude-own        Claude Code · user  ~/.claude.json
    code-own      enabled            stdio      code-own          VS Code · user      ~/.config/Code/User/mcp.json
    codex-own     enabled            stdio      codex-own         Codex · user        ~/.codex/config.toml
    cursor-own    enabled            stdio      cursor-own        Cursor · user       ~/.cursor/mcp.json
    fs            enabled            stdio      npx wharf-own     Wharf · user        ~/.wharf/mcp.json
    fs            shadowed by Wharf  stdio      npx omp-own       oh-my-pi · user     ~/.omp/agent/mcp.json
    fs            shadowed by Wharf  stdio      npx claude-own    Claude Code · user  ~/.claude.json
    fs            shadowed by Wharf  stdio      npx codex-own     Codex · user        ~/.codex/config.toml
    fs            shadowed by Wharf  stdio      npx gemini-own    Gemini CLI · user   ~/.gemini/settings.json
    fs            shadowed by Wharf  stdio      npx cursor-own    Cursor · user       ~/.cursor/mcp.json
    fs            shadowed by Wharf  stdio      npx windsurf-own  Windsurf · user     ~/.codeium/windsurf/mcp_config.json
    fs            shadowed by Wharf  stdio      npx zed-own       Zed · user          ~/.config/zed/settings.json
    fs            shadowed by Wharf  stdio      npx code-own      VS Code · user      ~/.config/Code/User/mcp.json
    fs            shadowed by Wharf  stdio      npx project-own   mcp.json · project  .mcp.json
    gemini-own    enabled            stdio      gemini-own        Gemini CLI · user   ~/.gemini/settings.json
    omp-own       enabled            stdio      omp-own           oh-my-pi · user     ~/.omp/agent/mcp.json
    project-own   untrusted          stdio      project-own       mcp.json · project  .mcp.json
    wharf-own     enabled            stdio      wharf-own         Wharf · user        ~/.wharf/mcp.json
    windsurf-own  enabled            stdio      windsurf-own      Windsurf · user     ~/.codeium/windsurf/mcp_config.json
    zed-own       enabled            stdio      zed-own           Zed · user          ~/.config/zed/settings.json
    --- stderr
    11 servers: 10 enabled, 1 untrusted. 9 more are shadowed.
    hint: to use the servers of this project: `wharf trust project-own`
    ");
}

#[test]
fn json_has_the_documented_fields() {
    let world = World::new()
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": { "fs": { "command": "npx", "args": ["--token", "s3cret"],
              "env": { "KEY": "s3cret" }, "approval": "writes", "prefix": "files", "timeout": 5000,
              "includeTools": ["read_*"], "excludeTools": ["write_*"] } } }"#,
        )
        .project(
            ".mcp.json",
            r#"{ "mcpServers": { "web": { "url": "http://localhost:1/mcp" } } }"#,
        );
    assert_snapshot!(world.run("list --json"), @r#"
    exit 0
    --- stdout
    {
      "servers": [
        {
          "name": "fs",
          "state": "enabled",
          "transport": "stdio",
          "command": "npx",
          "args": [
            "--token",
            "•••"
          ],
          "env": {
            "KEY": "•••"
          },
          "timeoutMs": 5000,
          "approval": "writes",
          "prefix": "files",
          "includeTools": [
            "read_*"
          ],
          "excludeTools": [
            "write_*"
          ],
          "source": {
            "provider": "wharf",
            "providerName": "Wharf",
            "level": "user",
            "path": "~/.wharf/mcp.json"
          },
          "line": 1,
          "problems": []
        },
        {
          "name": "web",
          "state": "untrusted",
          "transport": "http",
          "url": "http://localhost:1/mcp",
          "timeoutMs": 30000,
          "approval": "ask",
          "source": {
            "provider": "mcp-json",
            "providerName": "mcp.json",
            "level": "project",
            "path": "[project]/.mcp.json",
            "alsoReadBy": [
              "Claude Code",
              "Copilot CLI",
              "Warp",
              "JetBrains Air",
              "oh-my-pi",
              "pisces",
              "xcsh",
              "Pi"
            ]
          },
          "line": 1,
          "problems": []
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn project_files_can_be_omitted() {
    assert_snapshot!(every_state().run("list --no-project -q"), @"
    exit 0
    --- stdout
    NAME    STATE     TRANSPORT  WHAT                         SOURCE         FILE
    fs      enabled   stdio      npx -y server-fs 'a b'       Cursor · user  ~/.cursor/mcp.json
    half    invalid   unknown    (nothing)                    Cursor · user  ~/.cursor/mcp.json
    needs   enabled   stdio      uvx '${UNSET}'               Cursor · user  ~/.cursor/mcp.json
    off     disabled  stdio      npx                          Cursor · user  ~/.cursor/mcp.json
    remote  enabled   http       https://example.com/mcp?•••  Cursor · user  ~/.cursor/mcp.json
    theirs  enabled   stdio      uvx                          Cursor · user  ~/.cursor/mcp.json
    ");
}

#[test]
fn the_project_flag_selects_another_folder() {
    let world =
        every_state().home("work/.mcp.json", r#"{ "mcpServers": { "w": { "command": "w" } } }"#);
    let folder = world.path("home/work").display().to_string();
    assert_snapshot!(world.run(&format!("list -q --project {folder}")), @"
    exit 0
    --- stdout
    NAME    STATE      TRANSPORT  WHAT                         SOURCE              FILE
    fs      enabled    stdio      npx -y server-fs 'a b'       Cursor · user       ~/.cursor/mcp.json
    half    invalid    unknown    (nothing)                    Cursor · user       ~/.cursor/mcp.json
    needs   enabled    stdio      uvx '${UNSET}'               Cursor · user       ~/.cursor/mcp.json
    off     disabled   stdio      npx                          Cursor · user       ~/.cursor/mcp.json
    remote  enabled    http       https://example.com/mcp?•••  Cursor · user       ~/.cursor/mcp.json
    theirs  enabled    stdio      uvx                          Cursor · user       ~/.cursor/mcp.json
    w       untrusted  stdio      w                            mcp.json · project  .mcp.json
    ");
}

#[test]
fn verbose_names_the_files() {
    let world =
        World::new().home(".cursor/mcp.json", r#"{ "mcpServers": { "a": { "command": "a" } } }"#);
    assert_snapshot!(world.run("-v list"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE         FILE
    a     enabled  stdio      a     Cursor · user  ~/.cursor/mcp.json
    --- stderr
    read: ~/.cursor/mcp.json (Cursor · user)
    1 server: 1 enabled.
    ");
}

#[test]
fn list_works_without_a_home_folder() {
    let world = World::new().programs(&["npx"]);
    let output = world.command(&["list"]).env_remove("HOME").output().unwrap();
    assert_snapshot!(world.render(&output), @"
    exit 0
    --- stdout
    NAME      STATE    TRANSPORT  WHAT                                        SOURCE
    context7  enabled  stdio      npx -y @upstash/context7-mcp@latest         Wharf defaults
    github    enabled  stdio      npx -y @modelcontextprotocol/server-github  Wharf defaults
    thinking  enabled  stdio      wharf mcp thinking                          Wharf defaults
    --- stderr
    3 servers: 3 enabled.
    Nothing is configured yet, so these are Wharf's defaults. Add a server: wharf add NAME -- COMMAND…
    ");
}

#[test]
fn wharf_mcp_servers_replaces_all_files() {
    let world = every_state().variable("WHARF_MCP_SERVERS", r#"{ "one": { "command": "npx" } }"#);
    assert_snapshot!(world.run("list"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT  SOURCE    FILE
    one   enabled  stdio      npx   variable  WHARF_MCP_SERVERS
    --- stderr
    1 server: 1 enabled.
    ");
}

#[test]
fn control_characters_in_names_are_escaped() {
    let world = World::new().home(
        ".cursor/mcp.json",
        "{\"mcpServers\": {\"a\\u001b[2Jb\\n\\u202ec\": {\"command\": \"x\\u001b]0;t\\u0007\"}}}",
    );
    assert_snapshot!(world.run("list"), @r#"
    exit 0
    --- stdout
    NAME                    STATE    TRANSPORT  WHAT                SOURCE         FILE
    a\u{1b}[2Jb\n\u{202e}c  enabled  stdio      'x\u{1b}]0;t\u{7}'  Cursor · user  ~/.cursor/mcp.json
    --- stderr
    warning: ~/.cursor/mcp.json:1: "a\u{1b}[2Jb\n\u{202e}c": the name has control characters
      hint: use letters, numbers, dash, underscore and dot
    1 server: 1 enabled.
    "#);
    let json = world.output("list --json").stdout;
    assert!(!json.contains(&0x1b));
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(value["servers"][0]["name"], "a\u{1b}[2Jb\n\u{202e}c");
}

#[test]
fn a_long_name_is_truncated() {
    let name = "x".repeat(10_000);
    let world = World::new().home(
        ".cursor/mcp.json",
        &format!(r#"{{"mcpServers": {{"{name}": {{"command": "a"}}}}}}"#),
    );
    assert_snapshot!(world.run("list"), @r#"
    exit 0
    --- stdout
    NAME                                                          STATE    TRANSPORT  WHAT  SOURCE         FILE
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  enabled  stdio      a     Cursor · user  ~/.cursor/mcp.json
    --- stderr
    warning: ~/.cursor/mcp.json:1: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…": the name is very long
      hint: use at most 100 characters
    1 server: 1 enabled.
    "#);
}
