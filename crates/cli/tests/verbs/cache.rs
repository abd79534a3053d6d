//! `wharf cache show` and `wharf cache clear`: the records about servers.

use insta::assert_snapshot;

use crate::test_servers::world_with_box;
use crate::world::World;

/// Runs a command line and removes what differs from run to run: keys, times and sizes.
fn run_without_volatile_fields(world: &World, line: &str) -> String {
    let text = world.run(line);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("\"key\":"));
    let lines = lines.map(|line| match line.split_once(": ") {
        Some((name, _)) if name.ends_with("\"at\"") => format!("{name}: [at]"),
        Some((name, _)) if name.ends_with("\"bytes\"") => format!("{name}: [bytes]"),
        Some((name, _)) if name.ends_with("\"path\"") => {
            let file = line.rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{name}: […{file}")
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn before_the_first_connection_no_records_are_kept() {
    let world = world_with_box();
    assert_snapshot!(world.run("cache show"), @"
    exit 0
    --- stderr
    There are no records.
    ");
    assert!(!world.path("home/.wharf/cache").exists());
}

#[test]
fn every_record_is_shown() {
    let world = world_with_box();
    assert!(world.run("tools").starts_with("exit 0"));
    assert_snapshot!(run_without_volatile_fields(&world, "cache show --json"), @r#"
    exit 0
    --- stdout
    {
      "records": [
        {
          "kind": "tools",
          "server": "box",
          "at": [at]
          "tools": 5,
          "bytes": [bytes]
          "path": […tools.json"
        },
        {
          "kind": "attempt",
          "server": "box",
          "at": [at]
          "bytes": [bytes]
          "path": […attempts.json"
        },
        {
          "kind": "names",
          "server": "box",
          "tools": 5,
          "bytes": [bytes]
          "path": […names.json"
        },
        {
          "kind": "pins",
          "server": "box",
          "tools": 5,
          "bytes": [bytes]
          "path": […tools.json"
        }
      ],
      "unreadable": []
    }
    "#);
    let table = world.run("cache show box");
    for words in ["box", "tools", "attempt", "names", "pins", "just now", "4 records."] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert!(world.run("cache show other").contains("There are no records."));
    assert!(world.run("cache clear").starts_with("exit 0"));
    let left = world.run("cache show");
    assert!(
        left.contains("2 records.") && left.contains("names") && left.contains("pins"),
        "{left}"
    );
}

#[test]
fn a_file_with_an_unknown_format_version_is_named_and_replaced() {
    let world = world_with_box().home(".wharf/cache/tools.json", "{\"version\":9}");
    let output = world.run("cache show");
    assert!(output.contains("~/.wharf/cache/tools.json cannot be read: invalid data"), "{output}");
    assert!(world.run("tools").starts_with("exit 0"));
    let table = world.run("cache show");
    assert!(table.contains("4 records.") && !table.contains("cannot be read"), "{table}");
}
