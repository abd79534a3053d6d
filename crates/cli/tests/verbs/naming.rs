//! The ways to name a server, a tool, a prompt or a resource on the command line.

use insta::assert_snapshot;

use crate::test_servers::{legacy_server_script, world_with_box};
use crate::world::World;

/// Two servers that record their start: `one` has the tool `go`, `two` has `go` and `stop`.
fn two() -> World {
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let call =
        r#"*'"method":"tools/call"'*) result '{"content":[{"type":"text","text":"done"}]}';;"#;
    let server = |tools: &str| {
        legacy_server_script(r#"echo started >> "$0.seen""#, r#"{"tools":{}}"#, tools, call)
    };
    World::new()
        .script("first", &server(&tool("go")))
        .script("second", &server(&[tool("go"), tool("stop")].join(",")))
        .own_servers(&[("one", r#""command": "first""#), ("two", r#""command": "second""#)])
}

#[test]
fn a_tool_can_be_named_in_two_words() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box echo text=hello"), @"
    exit 0
    --- stdout
    you said hello\u{1b}[2J
    bye
    ");
    assert_snapshot!(world.run("call box ecko text=hello"), @r#"
    exit 1
    --- stderr
    error: Tool "box ecko" not found
      hint: did you mean "mcp_box_echo"?
    "#);
    assert_snapshot!(world.run("call box"), @r#"
    exit 1
    --- stderr
    error: Tool "box" not found
      hint: box is a server: `wharf tools box` lists its tools
    "#);
    assert_snapshot!(world.run("call bax echo"), @r#"
    exit 1
    --- stderr
    error: Tool "bax" not found
      hint: did you mean the server "box"?
    "#);
}

#[test]
fn two_words_connect_only_to_the_named_server() {
    let world = two();
    assert!(world.run("call two go").starts_with("exit 0"));
    assert!(!world.path("bin/first.seen").exists());
}

#[test]
fn a_raw_name_is_enough_where_only_one_server_has_it() {
    let world = two();
    assert_snapshot!(world.run("call stop"), @"
    exit 0
    --- stdout
    done
    ");
    assert_snapshot!(world.run("call go"), @r#"
    exit 2
    --- stderr
    error: Tool "go" exists on several servers: "one", "two"
      hint: say which one: "mcp_one_go" or "mcp_two_go"
    "#);
    assert_snapshot!(world.run("tools stop -q").lines().take(3).collect::<Vec<_>>().join("\n"), @"
    exit 0
    --- stdout
    mcp_two_stop
    ");
}

#[test]
fn the_name_of_a_server_lists_its_tools() {
    let world = two();
    assert_snapshot!(world.run("tools two"), @"
    exit 0
    --- stdout
    NAME          SERVER
    mcp_two_go    two
    mcp_two_stop  two
    --- stderr
    2 tools from 1 server.
    ");
    assert!(!world.path("bin/first.seen").exists());
    assert_snapshot!(world.run("tools tow"), @r#"
    exit 1
    --- stderr
    error: Tool "tow" not found
      hint: did you mean the server "two"?
    "#);
    assert_snapshot!(world.run("tools somethingelse"), @r#"
    exit 1
    --- stderr
    error: Tool "somethingelse" not found
    "#);
    let world = World::new().own_servers(&[("off", r#""command": "x", "enabled": false"#)]);
    assert_snapshot!(world.run("tools off"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
}

#[test]
fn an_ambiguous_name_means_the_server_and_a_note_says_so() {
    let tool = r#"{"name":"echo","inputSchema":{"type":"object"}}"#;
    let server = legacy_server_script("", r#"{"tools":{}}"#, tool, "");
    let world = World::new().script("s", &server).own_servers(&[
        ("echo", r#""command": "s""#),
        ("other", r#""command": "s", "args": ["x"]"#),
    ]);
    assert!(world.run("tools").starts_with("exit 0"));
    assert_snapshot!(world.run("tools echo"), @r#"
    exit 0
    --- stdout
    NAME           SERVER
    mcp_echo_echo  echo
    --- stderr
    note: "echo" is also a tool of "echo" and "other": `wharf tools echo/echo`
    1 tool from 1 server.
    "#);
}

#[test]
fn a_prompt_or_resource_can_be_named_with_its_server() {
    let world = World::new()
        .note_server("notes")
        .note_server("more")
        .own_servers(&[("notes", r#""command": "notes""#), ("more", r#""command": "more""#)]);
    assert_snapshot!(world.run("prompt review file=a"), @r#"
    exit 2
    --- stderr
    error: Prompt "review" exists on several servers: "more", "notes"
      hint: name the server, such as more/review
    "#);
    let expected = world.run("prompt --server notes review file=a");
    assert!(expected.starts_with("exit 0"), "{expected}");
    assert_eq!(world.run("prompt notes/review file=a"), expected);
    assert_eq!(world.run("prompt notes review file=a"), expected);
    assert_snapshot!(world.run("read note://a"), @r#"
    exit 2
    --- stderr
    error: Resource "note://a" exists on several servers: "more", "notes"
      hint: name the server, such as more/note://a
    "#);
    let expected = world.run("read --server notes note://a");
    assert!(expected.starts_with("exit 0"), "{expected}");
    assert_eq!(world.run("read notes/note://a"), expected);
    assert_eq!(world.run("read notes note://a"), expected);
    assert_snapshot!(world.run("read nobody note://a"), @r#"
    exit 1
    --- stderr
    error: Server "nobody" not found
    "#);
    assert_snapshot!(world.run("read notes note://a --server more"), @"
    exit 2
    --- stderr
    error: the server is named twice
      hint: give --server, or the server in front of the URI
    ");
}
