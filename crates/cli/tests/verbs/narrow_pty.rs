//! `wharf list` on a terminal of 80 columns: what matters stays readable.

use std::time::Duration;

use expectrl::{Eof, Expect, Session};
use insta::assert_snapshot;

use crate::list::ten_programs;
use crate::world::World;

/// Returns the table as it is shown on a terminal of 80 columns.
fn table(world: &World, words: &[&str]) -> String {
    let mut command = world.command(words);
    command.env("COLUMNS", "80").env("NO_COLOR", "1");
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    let seen = session.expect(Eof).unwrap();
    let text = String::from_utf8_lossy(seen.as_bytes()).replace('\r', "");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    world.filter(&text)
}

#[test]
fn on_a_pty_of_80_columns_the_source_keeps_its_level() {
    assert_snapshot!(table(&ten_programs(), &["list", "-q"]), @"
    NAME          STATE      TRANSPORT  WHAT           SOURCE
    claude-own    enabled    stdio      claude-own     Claude Code · user
    code-own      enabled    stdio      code-own       VS Code · user
    codex-own     enabled    stdio      codex-own      Codex · user
    cursor-own    enabled    stdio      cursor-own     Cursor · user
    fs            enabled    stdio      npx wharf-own  Wharf · user
    gemini-own    enabled    stdio      gemini-own     Gemini CLI · user
    omp-own       enabled    stdio      omp-own        oh-my-pi · user
    project-own   untrusted  stdio      project-own    mcp.json · project
    wharf-own     enabled    stdio      wharf-own      Wharf · user
    windsurf-own  enabled    stdio      windsurf-own   Windsurf · user
    zed-own       enabled    stdio      zed-own        Zed · user
    ");
}

#[test]
fn on_a_pty_of_80_columns_it_is_seen_who_shadows_whom() {
    assert_snapshot!(table(&ten_programs(), &["list", "--all", "-q"]), @"
    NAME          STATE              TRANSPORT  WHAT              SOURCE
    claude-own    enabled            stdio      claude-own        Claude Code · user
    code-own      enabled            stdio      code-own          VS Code · user
    codex-own     enabled            stdio      codex-own         Codex · user
    cursor-own    enabled            stdio      cursor-own        Cursor · user
    fs            enabled            stdio      npx wharf-own     Wharf · user
    fs            shadowed by Wharf  stdio      npx omp-own       oh-my-pi · user
    fs            shadowed by Wharf  stdio      npx claude-own    Claude Code · user
    fs            shadowed by Wharf  stdio      npx codex-own     Codex · user
    fs            shadowed by Wharf  stdio      npx gemini-own    Gemini CLI · user
    fs            shadowed by Wharf  stdio      npx cursor-own    Cursor · user
    fs            shadowed by Wharf  stdio      npx windsurf-own  Windsurf · user
    fs            shadowed by Wharf  stdio      npx zed-own       Zed · user
    fs            shadowed by Wharf  stdio      npx code-own      VS Code · user
    fs            shadowed by Wharf  stdio      npx project-own   mcp.json · project
    gemini-own    enabled            stdio      gemini-own        Gemini CLI · user
    omp-own       enabled            stdio      omp-own           oh-my-pi · user
    project-own   untrusted          stdio      project-own       mcp.json · project
    wharf-own     enabled            stdio      wharf-own         Wharf · user
    windsurf-own  enabled            stdio      windsurf-own      Windsurf · user
    zed-own       enabled            stdio      zed-own           Zed · user
    ");
}

#[test]
fn on_a_pty_of_80_columns_commands_give_way_first() {
    let world = World::new().home(
        ".cursor/mcp.json",
        r#"{ "mcpServers": { "fs": { "command": "npx",
             "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"] } } }"#,
    );
    assert_snapshot!(table(&world, &["list", "-q"]), @"
    NAME  STATE    TRANSPORT  WHAT                 SOURCE         FILE
    fs    enabled  stdio      npx -y @modelconte…  Cursor · user  ~/.cursor/mcp.json
    ");
}
