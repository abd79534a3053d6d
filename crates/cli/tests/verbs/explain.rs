//! `wharf explain`: why a definition is used or not.

use insta::assert_snapshot;

use crate::list::{every_state, ten_programs};
use crate::world::World;

#[test]
fn the_winner_of_ten_programs_is_explained() {
    assert_snapshot!(ten_programs().run("explain fs"), @r#"
    exit 0
    --- stdout
    "fs" runs from your Wharf file ~/.wharf/mcp.json (line 1).

    10 definitions of this name; the first one wins:
      1. Wharf · user  ~/.wharf/mcp.json:1
         wins: it comes first
      2. oh-my-pi · user  ~/.omp/agent/mcp.json:1
         shadowed: Wharf comes before oh-my-pi
         args differ: omp-own (the winner: wharf-own)
      3. Claude Code · user  ~/.claude.json:1
         shadowed: Wharf comes before Claude Code
         args differ: claude-own (the winner: wharf-own)
      4. Codex · user  ~/.codex/config.toml:1
         shadowed: Wharf comes before Codex
         args differ: codex-own (the winner: wharf-own)
      5. Gemini CLI · user  ~/.gemini/settings.json:1
         shadowed: Wharf comes before Gemini CLI
         args differ: gemini-own (the winner: wharf-own)
      6. Cursor · user  ~/.cursor/mcp.json:1
         shadowed: Wharf comes before Cursor
         args differ: cursor-own (the winner: wharf-own)
      7. Windsurf · user  ~/.codeium/windsurf/mcp_config.json:1
         shadowed: Wharf comes before Windsurf
         args differ: windsurf-own (the winner: wharf-own)
      8. Zed · user  ~/.config/zed/settings.json:1
         shadowed: Wharf comes before Zed
         args differ: zed-own (the winner: wharf-own)
      9. VS Code · user  ~/.config/Code/User/mcp.json:1
         shadowed: Wharf comes before VS Code
         args differ: code-own (the winner: wharf-own)
      10. mcp.json · project  [project]/.mcp.json:1
         shadowed: Wharf comes before mcp.json
         args differ: project-own (the winner: wharf-own)
    "#);
}

#[test]
fn every_server_state_is_explained() {
    let world = every_state();
    assert_snapshot!(world.run("explain remote"), @r#"
    exit 0
    --- stdout
    "remote" is used, from your Cursor file ~/.cursor/mcp.json (line 7).
    It is defined nowhere else.
    "#);
    assert_snapshot!(world.run("explain same"), @r#"
    exit 0
    --- stdout
    "same" does not run: it is the same server as "fs". It is in your Cursor file ~/.cursor/mcp.json (line 4).
    It is defined nowhere else.

    Next: to use both: `wharf config set discovery.duplicates keep`
    "#);
    assert_snapshot!(world.run("explain off"), @r#"
    exit 0
    --- stdout
    "off" is disabled: it is switched off by "disabled". It is defined in your Cursor file ~/.cursor/mcp.json (line 5).
    It is defined nowhere else.

    Next: to use it: `wharf enable off`
    "#);
    assert_snapshot!(world.run("explain half"), @r#"
    exit 0
    --- stdout
    "half" cannot run: stdio server requires "command". It is defined in your Cursor file ~/.cursor/mcp.json (line 6).
    It is defined nowhere else.

    Next: add "command" (the program to start), or "url" for a remote server
    "#);
    assert_snapshot!(world.run("explain needs"), @r#"
    exit 0
    --- stdout
    "needs" runs from your Cursor file ~/.cursor/mcp.json (line 8).
    It is defined nowhere else.

    Problems:
      variable "UNSET" is not set; "args[0]" keeps its placeholder
        hint: set UNSET
    "#);
    assert_snapshot!(world.run("explain theirs"), @r#"
    exit 0
    --- stdout
    "theirs" does not run: it came with this project's Cursor file [project]/.cursor/mcp.json (line 1), and you have not trusted it yet.

    3 definitions of this name; the first one wins:
      1. Cursor · project  [project]/.cursor/mcp.json:1
         wins: it comes first
      2. Cursor · user  ~/.cursor/mcp.json:9
         shadowed: project comes before user; it is identical
      3. mcp.json · project  [project]/.mcp.json:1
         shadowed: Cursor comes before mcp.json
         command differs: npx (the winner: uvx)

    Its placeholders are not expanded until you trust it.

    Problems:
      hides your "theirs" from ~/.cursor/mcp.json
        hint: trust it to use it here, or rename yours

    Next: to see what it would run, and trust it: `wharf trust theirs`
    "#);
}

#[test]
fn defaults_and_the_variable_are_explained() {
    assert_snapshot!(World::new().run("explain thinking"), @r#"
    exit 0
    --- stdout
    "thinking" is one of Wharf's defaults: it is there because nothing is configured.
    It is defined nowhere else.
    "#);
    let world = every_state().variable("WHARF_MCP_SERVERS", r#"{ "fs": { "command": "npx" } }"#);
    assert_snapshot!(world.run("explain fs"), @r#"
    exit 0
    --- stdout
    "fs" runs from the variable WHARF_MCP_SERVERS, which replaces all files.
    It is defined nowhere else.
    "#);
}

#[test]
fn a_nearer_file_wins() {
    let entry = r#"{ "mcpServers": { "fs": { "command": "npx" } } }"#;
    let world = World::new()
        .programs(&["npx"])
        .project(".cursor/mcp.json", entry)
        .project("deep/.cursor/mcp.json", entry)
        .project("deep/mcp.json", entry)
        .project("deep/.mcp.json", entry);
    assert_snapshot!(world.run("explain fs --trust-project --project deep"), @r#"
    exit 0
    --- stdout
    "fs" runs from this project's Cursor file [project]/deep/.cursor/mcp.json (line 1).

    4 definitions of this name; the first one wins:
      1. Cursor · project  [project]/deep/.cursor/mcp.json:1
         wins: it comes first
      2. Cursor · project  [project]/.cursor/mcp.json:1
         shadowed: same level, and [project]/deep/.cursor/mcp.json is nearer; it is identical
      3. mcp.json · project  [project]/deep/mcp.json:1
         shadowed: Cursor comes before mcp.json; it is identical
      4. mcp.json · project  [project]/deep/.mcp.json:1
         shadowed: Cursor comes before mcp.json; it is identical
    "#);
}

#[test]
fn claude_managed_and_per_folder_servers_are_explained() {
    let entry = r#"{ "command": "npx" }"#;
    let world = World::new().programs(&["npx"]);
    let project = world.path("project").display().to_string();
    let main_file = format!(
        r#"{{ "mcpServers": {{ "fs": {entry} }},
             "projects": {{ "{project}": {{ "mcpServers": {{ "fs": {entry} }} }} }} }}"#
    );
    let world = world.home(".claude.json", &main_file);
    assert_snapshot!(world.run("explain fs"), @r#"
    exit 0
    --- stdout
    "fs" runs from your Claude Code file ~/.claude.json (line 2).

    2 definitions of this name; the first one wins:
      1. Claude Code · user  ~/.claude.json:2
         wins: it comes first
      2. Claude Code · user  ~/.claude.json:1
         shadowed: in Claude Code this folder's own part of ~/.claude.json comes before its other files; it is identical
    "#);
    let world = world.system(
        "etc/claude-code/managed-mcp.json",
        r#"{ "mcpServers": { "approved": { "command": "npx" } } }"#,
    );
    assert_snapshot!(world.run("explain fs"), @r#"
    exit 0
    --- stdout
    "fs" is not used: all of its definitions are shadowed.

    2 definitions of this name; the first one wins:
      1. Claude Code · user  ~/.claude.json:2
         hidden by the administrator's file [world]/system/etc/claude-code/managed-mcp.json
      2. Claude Code · user  ~/.claude.json:1
         hidden by the administrator's file [world]/system/etc/claude-code/managed-mcp.json

    Next: `wharf list --all` shows what is used instead
    "#);
    assert_snapshot!(world.run("get fs"), @"
    exit 0
    --- stdout
    fs
      state          shadowed (by [world]/system/etc/claude-code/managed-mcp.json)
      source         Claude Code · user  ~/.claude.json:2
      also read by   Warp
      transport      stdio
      command        npx
      timeout        30 s
      approval       ask (agents need approval for each call)
    ");
}

#[test]
fn a_project_map_can_replace_the_users_map() {
    let entry =
        |name: &str| format!(r#"{{ "mcp_servers": {{ "{name}": {{ "command": "npx" }} }} }}"#);
    let world = World::new()
        .programs(&["npx"])
        .home(".config/co-cli/settings.json", &entry("mine"))
        .project(".co-cli/settings.json", &entry("theirs"));
    assert_snapshot!(world.run("explain mine --trust-project"), @r#"
    exit 0
    --- stdout
    "mine" is not used: all of its definitions are shadowed.

    The only definition of this name:
      1. co-cli · user  ~/.config/co-cli/settings.json:1
         replaced as a whole by [project]/.co-cli/settings.json: in co-cli a project's servers replace your own

    Next: `wharf list --all` shows what is used instead
    "#);
}

#[test]
fn json_has_the_reasons_and_the_expanded_variables() {
    let world = World::new()
        .variable("KEY", "s3cret")
        .home(
            ".cursor/mcp.json",
            r#"{ "mcpServers": { "a": { "command": "${HOME}/a", "args": ["${env:KEY}", "${NO}"] } } }"#,
        )
        .home(".config/mcp/mcp.json", r#"{ "mcpServers": { "a": { "url": "http://h/sse?k=1" } } }"#)
        .project(".vscode/mcp.json", r#"{ "servers": { "a": { "command": "b" } } }"#);
    assert_snapshot!(world.run("explain a --json"), @r#"
    exit 0
    --- stdout
    {
      "name": "a",
      "winner": {
        "name": "a",
        "state": "enabled",
        "transport": "stdio",
        "command": "${HOME}/a",
        "args": [
          "${env:KEY}",
          "${NO}"
        ],
        "timeoutMs": 30000,
        "approval": "ask",
        "source": {
          "provider": "cursor",
          "providerName": "Cursor",
          "level": "user",
          "path": "~/.cursor/mcp.json"
        },
        "line": 1,
        "problems": [
          {
            "severity": "warning",
            "code": "unset-variable",
            "server": "a",
            "field": "args[1]",
            "path": "~/.cursor/mcp.json",
            "line": 1,
            "message": "variable \"NO\" is not set; \"args[1]\" keeps its placeholder",
            "hint": "set NO"
          }
        ]
      },
      "candidates": [
        {
          "name": "a",
          "state": "enabled",
          "transport": "stdio",
          "command": "${HOME}/a",
          "args": [
            "${env:KEY}",
            "${NO}"
          ],
          "timeoutMs": 30000,
          "approval": "ask",
          "source": {
            "provider": "cursor",
            "providerName": "Cursor",
            "level": "user",
            "path": "~/.cursor/mcp.json"
          },
          "line": 1,
          "problems": [
            {
              "severity": "warning",
              "code": "unset-variable",
              "server": "a",
              "field": "args[1]",
              "path": "~/.cursor/mcp.json",
              "line": 1,
              "message": "variable \"NO\" is not set; \"args[1]\" keeps its placeholder",
              "hint": "set NO"
            }
          ],
          "why": "wins: it comes first"
        },
        {
          "name": "a",
          "state": "shadowed",
          "transport": "stdio",
          "command": "b",
          "args": [],
          "timeoutMs": 30000,
          "approval": "ask",
          "source": {
            "provider": "vscode",
            "providerName": "VS Code",
            "level": "project",
            "path": "[project]/.vscode/mcp.json"
          },
          "line": 1,
          "shadowedBy": {
            "provider": "cursor",
            "providerName": "Cursor",
            "level": "user",
            "path": "~/.cursor/mcp.json"
          },
          "problems": [],
          "why": "shadowed: Cursor comes before VS Code",
          "differs": [
            "command differs: b (the winner: '${HOME}/a')",
            "args differ: none (the winner: '${env:KEY}' '${NO}')"
          ]
        },
        {
          "name": "a",
          "state": "shadowed",
          "transport": "http",
          "url": "http://h/sse?•••",
          "timeoutMs": 30000,
          "approval": "ask",
          "source": {
            "provider": "shared",
            "providerName": "shared files",
            "level": "user",
            "path": "~/.config/mcp/mcp.json"
          },
          "line": 1,
          "shadowedBy": {
            "provider": "cursor",
            "providerName": "Cursor",
            "level": "user",
            "path": "~/.cursor/mcp.json"
          },
          "problems": [],
          "why": "shadowed: Cursor comes before shared files",
          "differs": [
            "transport differs: http (the winner: stdio)",
            "command differs: none (the winner: '${HOME}/a')",
            "args differ: none (the winner: '${env:KEY}' '${NO}')",
            "url differs: 'http://h/sse?•••' (the winner: none)"
          ]
        }
      ],
      "expanded": [
        {
          "field": "command",
          "variable": "HOME",
          "from": "environment"
        },
        {
          "field": "args[0]",
          "variable": "KEY",
          "from": "environment"
        },
        {
          "field": "args[1]",
          "variable": "NO",
          "from": "missing"
        }
      ],
      "problems": [
        {
          "severity": "warning",
          "code": "unset-variable",
          "server": "a",
          "field": "args[1]",
          "path": "~/.cursor/mcp.json",
          "line": 1,
          "message": "variable \"NO\" is not set; \"args[1]\" keeps its placeholder",
          "hint": "set NO"
        }
      ]
    }
    "#);
}

#[test]
fn a_variable_replaces_a_programs_files() {
    let entry = r#"{ "mcp_servers": { "fs": { "command": "npx" } } }"#;
    let world = World::new()
        .programs(&["npx"])
        .home(".config/co-cli/settings.json", entry)
        .variable("CO_CLI_MCP_SERVERS", r#"{ "fs": { "command": "npx" } }"#);
    assert_snapshot!(world.run("explain fs"), @r#"
    exit 0
    --- stdout
    "fs" runs from the variable CO_CLI_MCP_SERVERS of co-cli.

    2 definitions of this name; the first one wins:
      1. variable  CO_CLI_MCP_SERVERS
         wins: it comes first
      2. co-cli · user  ~/.config/co-cli/settings.json:1
         replaced as a whole by the variable CO_CLI_MCP_SERVERS; it is identical
    "#);
}

#[test]
fn a_missing_program_is_explained() {
    let world = World::new()
        .home(".cursor/mcp.json", r#"{ "mcpServers": { "a": { "command": "nowhere" } } }"#);
    assert_snapshot!(world.run("explain a"), @r#"
    exit 0
    --- stdout
    "a" would run from your Cursor file ~/.cursor/mcp.json (line 1), but `nowhere` is not found.
    It is defined nowhere else.

    Next: install `nowhere`, or give its full path in "command"
    "#);
}

#[test]
fn a_disabled_untrusted_server_needs_two_steps() {
    let world = World::new().project(
        ".cursor/mcp.json",
        r#"{ "mcpServers": { "a": { "command": "npx", "disabled": true } } }"#,
    );
    assert_snapshot!(world.run("explain a"), @r#"
    exit 0
    --- stdout
    "a" is disabled: it is switched off by "disabled". It is defined in this project's Cursor file [project]/.cursor/mcp.json (line 1).
    It is defined nowhere else.

    Next: to use it: `wharf enable a`, then `wharf trust a` to see what it would do and agree
    "#);
}

#[test]
fn differences_between_candidates_are_shown_without_secrets() {
    let world = World::new()
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": { "fs": { "command": "npx", "args": ["-y", "fs@1", "--token", "s3cret-a"],
  "env": { "A": "s3cret-b", "B": "x" }, "approval": "never" } } }"#,
        )
        .home(
            ".cursor/mcp.json",
            r#"{ "mcpServers": { "fs": { "command": "npx", "args": ["-y", "fs@2", "--token", "s3cret-c"],
  "env": { "A": "s3cret-d", "C": "x" } } } }"#,
        )
        .home(
            ".codeium/windsurf/mcp_config.json",
            r#"{ "mcpServers": { "fs": { "serverUrl": "https://me:s3cret-e@a.example/mcp" } } }"#,
        )
        .home(
            ".lmstudio/mcp.json",
            r#"{ "mcpServers": { "fs": { "command": "npx", "args": ["-y", "fs@1", "--token", "s3cret-f"],
  "env": { "A": "s3cret-b", "B": "x" } } } }"#,
        );
    let rendered = world.run("explain fs");
    assert!(!rendered.contains("s3cret") && !world.run("explain fs --json").contains("s3cret"));
    assert_snapshot!(rendered, @r#"
    exit 0
    --- stdout
    "fs" would run from your Wharf file ~/.wharf/mcp.json (line 1), but `npx` is not found.

    4 definitions of this name; the first one wins:
      1. Wharf · user  ~/.wharf/mcp.json:1
         wins: it comes first
      2. Cursor · user  ~/.cursor/mcp.json:1
         shadowed: Wharf comes before Cursor
         args differ: -y fs@2 --token ••• (the winner: -y fs@1 --token •••)
         env differs: also C; without B; another value of A
         approval differs: ask (the winner: never)
      3. Windsurf · user  ~/.codeium/windsurf/mcp_config.json:1
         shadowed: Wharf comes before Windsurf
         transport differs: http (the winner: stdio)
         command differs: none (the winner: npx)
         args differ: none (the winner: -y fs@1 --token •••)
         env differs: without A, B
         url differs: https://•••@a.example/mcp (the winner: none)
         approval differs: ask (the winner: never)
      4. LM Studio · user  ~/.lmstudio/mcp.json:1
         shadowed: Wharf comes before LM Studio
         args differ: in a redacted part
         approval differs: ask (the winner: never)

    Next: install `npx`, or give its full path in "command"
    "#);
}
