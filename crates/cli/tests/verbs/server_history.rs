//! Results of earlier connections: `toolsKnown` of `list` and `get`, `last` of `status`.

use insta::assert_snapshot;

use crate::test_servers::world_with_box;
use crate::world::World;

/// Replaces timestamps, and checks their format.
fn without_timestamps(text: &str) -> String {
    let mut output = String::new();
    for line in text.lines() {
        match line.split_once("\"at\": \"") {
            Some((before, rest)) => {
                let (moment, rest) = rest.split_once('"').unwrap();
                let digits: String = moment.chars().filter(char::is_ascii_digit).collect();
                assert!(digits.len() == 14 && moment.ends_with('Z'), "{moment}");
                output.extend([before, "\"at\": \"[moment]\"", rest]);
            }
            None => output.push_str(line),
        }
        output.push('\n');
    }
    output
}

/// Returns the known tools and the last attempt of each server.
fn history(world: &World) -> String {
    let (list, status) = (world.run("list --json"), world.run("status --json"));
    let lines = list.lines().chain(status.lines()).map(str::trim);
    let wanted = ["\"name\":", "\"toolsKnown\":", "\"ok\":", "\"error\":"];
    let output = lines.filter(|line| wanted.iter().any(|field| line.starts_with(field)));
    output.map(|line| line.trim_end_matches(',')).collect::<Vec<_>>().join(" ")
}

const NO_HISTORY: &str = r#""name": "box" "name": "box""#;
const FIVE_TOOLS: &str = r#""name": "box" "toolsKnown": 5 "name": "box" "ok": true"#;

#[test]
fn before_the_first_connection_nothing_is_known_or_written() {
    let world = world_with_box();
    assert_eq!(history(&world), NO_HISTORY);
    assert!(!world.run("get box").contains("tools known"));
    assert!(!world.path("home/.wharf/cache").exists());
}

#[test]
fn the_tools_of_a_listing_are_remembered() {
    let world = world_with_box();
    assert!(world.run("tools").starts_with("exit 0"));
    assert_snapshot!(world.run("list"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  TOOLS  WHAT  SOURCE        FILE
    box   enabled  stdio      5      box   Wharf · user  ~/.wharf/mcp.json
    --- stderr
    1 server: 1 enabled.
    ");
    assert_snapshot!(world.run("list --json"), @r#"
    exit 0
    --- stdout
    {
      "servers": [
        {
          "name": "box",
          "state": "enabled",
          "transport": "stdio",
          "command": "box",
          "args": [],
          "timeoutMs": 30000,
          "approval": "ask",
          "source": {
            "provider": "wharf",
            "providerName": "Wharf",
            "level": "user",
            "path": "~/.wharf/mcp.json"
          },
          "line": 1,
          "toolsKnown": 5,
          "problems": []
        }
      ],
      "problems": []
    }
    "#);
    assert_snapshot!(world.run("get box"), @"
    exit 0
    --- stdout
    box
      state          enabled
      source         Wharf · user  ~/.wharf/mcp.json:1
      transport      stdio
      command        box
      timeout        30 s
      approval       ask (agents need approval for each call)
      tools known    5, at the last connection
    ");
    assert!(world.run("get box --json").contains(r#""toolsKnown": 5"#));
    assert_snapshot!(world.run("status"), @"
    exit 0
    --- stdout
    NAME  TRANSPORT  STATUS  CREDENTIAL  LAST ATTEMPT
    box   stdio      ready   none        connected just now
    --- stderr
    1 of 1 ready.
    ");
    assert_snapshot!(without_timestamps(&world.run("status --json")), @r#"
    exit 0
    --- stdout
    {
      "ready": 1,
      "total": 1,
      "servers": [
        {
          "name": "box",
          "transport": "stdio",
          "status": "ready",
          "credential": "none",
          "last": {
            "ok": true,
            "at": "[moment]"
          }
        }
      ]
    }
    "#);
    assert_snapshot!(world.run("cache clear"), @"
    exit 0
    --- stdout
    Removed the records of 1 server configuration.
    ");
    assert_eq!(history(&world), NO_HISTORY);
}

#[test]
fn every_verb_that_connects_updates_the_history() {
    for verb in ["call box/echo text=hi", "test box", "reconnect box", "doctor", "resources"] {
        let world = world_with_box();
        assert!(world.run(verb).starts_with("exit 0"), "{verb}");
        assert_eq!(history(&world), FIVE_TOOLS, "{verb}");
    }
}

#[test]
fn a_failed_attempt_is_shown_with_its_reason_and_without_secrets() {
    let refusal = r#"refuse -32000 "no $TOKEN "'\u001b[2J'"#;
    let world = World::new().server_with_list_command("loud", refusal).own_servers(&[
        ("gone", r#""command": "nowhere""#),
        ("loud", r#""command": "loud", "timeout": 5000, "env": { "TOKEN": "s3cret-token" }"#),
    ]);
    for server in ["gone", "loud"] {
        assert!(world.run(&format!("test {server}")).starts_with("exit 3"), "{server}");
    }
    assert_snapshot!(without_timestamps(&world.run("status --json")), @r#"
    exit 0
    --- stdout
    {
      "ready": 0,
      "total": 2,
      "servers": [
        {
          "name": "gone",
          "transport": "stdio",
          "status": "nowhere not found",
          "credential": "none",
          "last": {
            "ok": false,
            "at": "[moment]",
            "error": "nowhere not found"
          }
        },
        {
          "name": "loud",
          "transport": "stdio",
          "status": "last attempt failed",
          "credential": "none",
          "last": {
            "ok": false,
            "at": "[moment]",
            "error": "could not list its tools: the server answered: no ••• \\u{1b}[2J (code -32000)"
          }
        }
      ]
    }
    "#);
    assert_snapshot!(world.run("status"), @r"
    exit 0
    --- stdout
    NAME  TRANSPORT  STATUS               CREDENTIAL  LAST ATTEMPT
    gone  stdio      nowhere not found    none        failed just now: nowhere not found
    loud  stdio      last attempt failed  none        failed just now: could not list its tools: the server answered: no ••• \u{1b}[2J (code -32000)
    --- stderr
    0 of 2 ready.
    ");
    assert_snapshot!(world.run("list"), @r#"
    exit 0
    --- stdout
    NAME  STATE   TRANSPORT  WHAT     SOURCE        FILE
    gone  failed  stdio      nowhere  Wharf · user  ~/.wharf/mcp.json
    loud  failed  stdio      loud     Wharf · user  ~/.wharf/mcp.json
    --- stderr
    warning: "gone": its last attempt failed just now: nowhere not found (`wharf test gone`)
    warning: "loud": its last attempt failed just now: could not list its tools: the server answered: no ••• \u{1b}[2J (code -32000) (`wharf test loud`)
    2 servers: 2 failed.
    "#);
    assert!(world.run("list --json").contains(r#""lastError": "nowhere not found""#));
    let offline = world.run("doctor --offline");
    assert!(offline.contains("--  gone: its last attempt failed just now: nowhere not found"));
    assert!(!world.read("home/.wharf/cache/attempts.json").contains("s3cret"));
    assert_eq!(world.mode("home/.wharf/cache/attempts.json"), 0o600);
}

#[test]
fn a_successful_attempt_replaces_a_failed_one() {
    let world = World::new().own_servers(&[("box", r#""command": "box""#)]);
    assert!(world.run("test box").starts_with("exit 3"));
    assert_snapshot!(history(&world), @r#""name": "box" "name": "box" "ok": false "error": "box not found""#);
    let world = world.tool_server("box");
    assert!(world.run("test box").starts_with("exit 0"));
    assert_eq!(history(&world), FIVE_TOOLS);
}

#[test]
fn a_changed_entry_has_no_history() {
    let world = world_with_box();
    assert!(world.run("tools").starts_with("exit 0"));
    let world = world.own_servers(&[("box", r#""command": "box", "args": ["x"]"#)]);
    assert_eq!(history(&world), NO_HISTORY);
    let world = world.own_servers(&[("box", r#""command": "box", "env": { "A": "VARIABLE" }"#)]);
    assert!(world.run("tools").starts_with("exit 0"));
    assert_eq!(history(&world), FIVE_TOOLS);
    let world = world.variable("VARIABLE", "another account");
    assert_eq!(history(&world), NO_HISTORY);
}

#[test]
fn disabled_and_untrusted_servers_show_no_history() {
    let world = world_with_box();
    assert!(world.run("tools").starts_with("exit 0"));
    assert!(world.run("disable box").starts_with("exit 0"));
    assert!(!history(&world).contains("toolsKnown"));
    assert!(!world.run("get box").contains("tools known"));
    assert!(world.run("enable box").starts_with("exit 0"));
    assert_eq!(history(&world), FIVE_TOOLS);

    let world = World::new()
        .tool_server("box")
        .project(".wharf/mcp.json", r#"{ "mcpServers": { "box": { "command": "box" } } }"#);
    assert!(world.run("tools --trust-project").starts_with("exit 0"));
    assert!(!history(&world).contains("toolsKnown"));
    assert!(!world.run("get box --json").contains("toolsKnown"));
    assert!(world.run("list --json --trust-project").contains(r#""toolsKnown": 5"#));
    assert!(world.run("trust box").starts_with("exit 0"));
    assert_eq!(history(&world), FIVE_TOOLS);
    assert!(world.run("untrust box").starts_with("exit 0"));
    assert!(!history(&world).contains("toolsKnown"));
}

#[test]
fn a_shadowed_definition_does_not_show_the_history_of_the_winner() {
    let world = world_with_box()
        .home(".cursor/mcp.json", r#"{ "mcpServers": { "box": { "command": "x" } } }"#);
    assert!(world.run("tools").starts_with("exit 0"));
    assert_snapshot!(world.run("list --all"), @"
    exit 0
    --- stdout
    NAME  STATE              TRANSPORT  TOOLS  WHAT  SOURCE         FILE
    box   enabled            stdio      5      box   Wharf · user   ~/.wharf/mcp.json
    box   shadowed by Wharf  stdio             x     Cursor · user  ~/.cursor/mcp.json
    --- stderr
    1 server: 1 enabled. 1 more is shadowed.
    ");
    assert_eq!(world.run("list --all --json").matches("toolsKnown").count(), 1);
}

#[test]
fn a_malformed_history_file_loses_only_its_own_records() {
    let world = world_with_box();
    assert!(world.run("tools").starts_with("exit 0"));
    let world = world.home(".wharf/cache/attempts.json", "{ \"version\": 1, \"servers\": {");
    assert_eq!(history(&world), r#""name": "box" "toolsKnown": 5 "name": "box""#);
    assert!(world.run("tools").starts_with("exit 0"));
    assert_eq!(history(&world), FIVE_TOOLS);
}
