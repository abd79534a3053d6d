//! `wharf untrust --tools`: revokes permanent approvals of tool calls.

use insta::assert_snapshot;

use crate::world::World;

const APPROVALS: &str = r#"{ "version": 1, "grants": [
    { "server": "fs", "definition": "d1", "tools": { "read": "p", "list": "p" }, "given": 1 },
    { "server": "fs", "definition": "d2", "tools": { "read": "q" }, "given": 2 },
    { "server": "gone", "definition": "d3", "everything": true, "given": 3 },
    { "server": "other", "definition": "d4", "tools": { "go\u001b[2J": "p" }, "given": 4 } ] }"#;

fn world() -> World {
    World::new()
        .own_servers(&[("fs", r#""command": "fs""#), ("other", r#""command": "other""#)])
        .home(".wharf/approvals.json", APPROVALS)
}

#[test]
fn revoked_tools_need_approval_again() {
    let world = world();
    assert_snapshot!(world.run("untrust fs --tools"), @r#"
    exit 0
    --- stdout
    Agents ask again before they call "list" and "read" of "fs".
    "#);
    assert_snapshot!(world.run("untrust fs --tools"), @"
    exit 0
    --- stdout
    No calls were allowed permanently.
    ");
    let rest = world.read("home/.wharf/approvals.json");
    assert!(!rest.contains("\"fs\"") && rest.contains("\"gone\""), "{rest}");
    assert_snapshot!(world.run("untrust gone other --tools --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "names": [
        "gone",
        "other"
      ],
      "message": "Agents ask again before they call any tool of \"gone\".\nAgents ask again before they call \"go\\u{1b}[2J\" of \"other\"."
    }
    "#);
    assert_eq!(world.mode("home/.wharf/approvals.json"), 0o600);
}

#[test]
fn an_unknown_server_name_is_an_error() {
    let world = world();
    assert_snapshot!(world.run("untrust nobody --tools"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
    assert_snapshot!(world.run("untrust --tools"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <NAME>...

    Usage: wharf untrust --tools <NAME>...

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run("untrust --all --tools"), @"
    exit 2
    --- stderr
    error: the argument '--all' cannot be used with '--tools'

    Usage: wharf untrust --all [NAME]...

    For more information, try '--help'.
    ");
    assert_eq!(world.read("home/.wharf/approvals.json"), APPROVALS);
}

#[test]
fn a_malformed_approvals_file_is_not_changed() {
    let world = World::new()
        .own_servers(&[("fs", r#""command": "fs""#)])
        .home(".wharf/approvals.json", "{\n oops");
    assert_snapshot!(world.run("untrust fs --tools"), @r#"
    exit 1
    --- stderr
    error: "approvals.json" is malformed (line 2)
      hint: correct the file or delete it; until then it is ignored
    "#);
    assert_eq!(world.read("home/.wharf/approvals.json"), "{\n oops");
}
