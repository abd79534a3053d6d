//! Tables on terminals of 40 to 120 columns: columns are shortened or dropped, no row is too long.

use std::time::Duration;

use expectrl::{Eof, Expect, Session};
use insta::assert_snapshot;

use crate::list::ten_programs;
use crate::test_servers::legacy_server_script;
use crate::world::World;

/// Returns the output of a command on a terminal of 80 columns.
fn table(world: &World, words: &[&str]) -> String {
    table_with_columns(80, world, words)
}

/// Returns the output on a terminal with `columns` columns, and checks that every line fits.
fn table_with_columns(columns: usize, world: &World, words: &[&str]) -> String {
    let mut command = world.command(words);
    command.env("COLUMNS", columns.to_string()).env("NO_COLOR", "1");
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    let seen = session.expect(Eof).unwrap();
    let text = String::from_utf8_lossy(seen.as_bytes()).replace('\r', "");
    // The line with the pending servers is overwritten in place.
    let text: Vec<&str> =
        text.lines().map(|line| line.rsplit("\u{1b}[K").next().unwrap_or_default()).collect();
    let text = text.join("\n") + "\n";
    // Only a line of one word may be longer, such as a path.
    let fits = |line: &str| line.chars().count() <= columns || !line.trim().contains(' ');
    assert!(text.lines().all(fits), "{columns}\n{text}");
    world.filter(&text)
}

/// A world with servers that have long names, paths and descriptions.
fn long_names() -> World {
    let tool = r#"{"name":"search_everything_everywhere","description":"Searches everything that there is, in every place","inputSchema":{"type":"object"}}"#;
    let other = r#"
    *'"method":"resources/list"'*) result '{"resources":[{"uri":"note://a/very/long/address/of/a/resource","name":"a","title":"A note with a long title","mimeType":"text/plain","size":5}]}';;
    *'"method":"resources/templates/list"'*) result '{"resourceTemplates":[]}';;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"review-the-whole-repository","title":"Review","description":"Looks at every file of the repository","arguments":[{"name":"folder","required":true},{"name":"style"}]}]}';;
    "#;
    let capabilities = r#"{"tools":{},"resources":{},"prompts":{}}"#;
    let world =
        World::new().script("mcp-server", &legacy_server_script("", capabilities, tool, other));
    let program = world.path("bin/mcp-server").display().to_string();
    world.own_servers(&[
        (
            "documentation-search",
            &format!(r#""command": "{program}", "args": ["--root", "/srv/documents"]"#),
        ),
        (
            "gone",
            r#""command": "/opt/a/long/folder/of/a/program/that/is/gone", "args": ["--flag"]"#,
        ),
    ])
}

#[test]
fn on_a_pty_of_any_width_no_row_is_too_long_and_the_program_is_shown() {
    let world = long_names();
    for columns in [40, 60, 80, 120] {
        for verb in ["list", "tools", "status", "resources", "prompts"] {
            table_with_columns(columns, &world, &[verb, "-q"]);
        }
        let list = table_with_columns(columns, &world, &["list", "-q"]);
        assert!(list.contains("gone") && list.contains("mcp-se"), "{columns}\n{list}");
        table_with_columns(columns, &world, &["doctor", "--offline"]);
    }
    assert_snapshot!(table_with_columns(40, &world, &["list", "-q"]), @"
    NAME               STATE    WHAT
    documentation-se…  enabled  …/mcp-serve…
    gone               failed   …/gone --fl…
    ");
    assert_snapshot!(table_with_columns(60, &world, &["list", "-q"]), @"
    NAME                  STATE    WHAT             SOURCE
    documentation-search  enabled  …/mcp-server -…  Wharf · user
    gone                  failed   …is/gone --flag  Wharf · user
    ");
    assert_snapshot!(table_with_columns(40, &world, &["tools", "-q"]), @"
    NAME
    mcp_documentation_search_search_everyth…
    ");
    assert_snapshot!(table_with_columns(40, &world, &["status", "-q"]).replace("just now", "[ago]"), @"
    NAME                 STATUS
    documentation-sear…  ready
    gone                 …/is/gone not found
    ");
    assert_snapshot!(table_with_columns(40, &world, &["resources", "-q"]), @"
    URI
    note://a/very/long/address/of/a/resource
    ");
    assert_snapshot!(table_with_columns(40, &world, &["prompts", "-q"]), @"
    NAME
    review-the-whole-repository
    ");
    assert_snapshot!(table_with_columns(60, &world, &["prompts", "-q"]), @"
    NAME                         SERVER
    review-the-whole-repository  documentation-search
    ");
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
fn on_a_pty_of_80_columns_the_shadowing_source_is_shown() {
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
fn on_a_pty_of_80_columns_commands_are_shortened_first() {
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
