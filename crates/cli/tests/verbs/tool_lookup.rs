//! Which servers are started to find a tool by its name.

use insta::assert_snapshot;

use crate::world::World;

/// A world whose servers record their start; each has a tool `go`.
fn world_with_start_markers(servers: &[&str]) -> World {
    let entries: Vec<String> =
        servers.iter().map(|name| format!(r#""command": "{name}""#)).collect();
    let entries: Vec<(&str, &str)> =
        servers.iter().copied().zip(entries.iter().map(String::as_str)).collect();
    let world = servers.iter().fold(World::new(), |world, name| {
        let mark = format!(r#"echo {name} >> "${{0%/*}}/../started""#);
        world.server_with_startup(name, &mark)
    });
    world.own_servers(&entries)
}

/// Runs a command line and returns the names of the servers that it started.
fn started(world: &World, words: &[&str]) -> String {
    drop(std::fs::remove_file(world.path("started")));
    let output = world.run_words(words);
    assert!(output.starts_with("exit 0"), "{words:?} {output}");
    let text = world.started_programs();
    let mut names: Vec<&str> = text.lines().collect();
    names.sort_unstable();
    names.join(" ")
}

#[test]
fn a_call_connects_only_to_the_server_it_names() {
    let world = world_with_start_markers(&["db", "db2", "db-2", "db.go"]);
    for _ in 0..2 {
        assert_eq!(started(&world, &["call", "db2/go"]), "db2");
        assert_eq!(started(&world, &["call", "db2.go"]), "db2");
        assert_eq!(started(&world, &["call", "db2 go"]), "db2");
        assert_eq!(started(&world, &["call", "mcp__db2__go"]), "db2");
        assert_eq!(started(&world, &["tools", "db-2/go"]), "db-2");
    }
    // `db.go` is also a server, but a server name alone is not a tool.
    assert_eq!(started(&world, &["call", "db.go"]), "db");
    assert_eq!(started(&world, &["call", "db.go/go"]), "db db.go");
}

#[test]
fn a_tool_name_stays_with_the_server_it_was_assigned_to() {
    let world = world_with_start_markers(&["db", "db2"]);
    // Nothing was listed yet, so both servers could have the tool.
    assert_eq!(started(&world, &["call", "mcp_db_go"]), "db db2");
    assert_eq!(started(&world, &["call", "mcp_db_go"]), "db");
    let other = "mcp_db_go_wyxpct";
    assert!(world.run("tools").contains(other), "{}", world.run("tools"));
    assert_eq!(started(&world, &["call", other]), "db2");
}

#[test]
fn listing_one_server_takes_no_names_of_other_servers() {
    let world = world_with_start_markers(&["db", "db2"]);
    assert_eq!(started(&world, &["call", "db2/go"]), "db2");
    assert_eq!(started(&world, &["tools", "--server", "db2"]), "db2");
    assert_snapshot!(world.run("tools -q"), @r"
    exit 0
    --- stdout
    NAME              SERVER  DESCRIPTION
    mcp_db_go         db      Goes
    mcp_db_go_wyxpct  db2     Goes
    ");
    assert!(world.run("tools mcp_db_go").contains("db"));
}

#[test]
fn a_raw_tool_name_is_enough_if_only_one_server_has_it() {
    let world = world_with_start_markers(&["one", "two"]).tool_server("box").own_servers(&[
        ("one", r#""command": "one""#),
        ("two", r#""command": "two""#),
        ("box", r#""command": "box""#),
    ]);
    assert_snapshot!(world.run("call echo text=a"), @"
    exit 0
    --- stdout
    you said a\u{1b}[2J
    bye
    ");
    // All lists are cached now.
    assert_eq!(started(&world, &["call", "echo", "text=a"]), "");
    assert_snapshot!(world.run("call go"), @r#"
    exit 2
    --- stderr
    error: Tool "go" exists on several servers: "one", "two"
      hint: say which one: "mcp_one_go" or "mcp_two_go"
    "#);
}

#[test]
fn the_naming_setting_applies_to_every_verb() {
    let world = world_with_start_markers(&["db", "db2"])
        .home(".wharf/config.toml", "tools.naming = \"precise\"\n");
    assert_eq!(started(&world, &["call", "mcp__db2__go"]), "db2");
    assert_eq!(started(&world, &["call", "mcp__db__go"]), "db");
    assert!(!world.run("doctor --offline").contains("share the prefix"));
    let world = world.home(".wharf/config.toml", "");
    let output = world.run("doctor --offline");
    assert!(
        output.contains(r#"the tool names of "db" and "db2" share the prefix mcp_db_"#),
        "{output}"
    );
}
