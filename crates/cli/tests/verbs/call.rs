//! `wharf call`: output, arguments, exit codes and errors of one tool call.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::test_servers::{legacy_server_script, world_with_box};
use crate::world::{World, without_durations};

#[test]
fn a_call_prints_the_text_of_the_result() {
    let world = world_with_box();
    assert_snapshot!(world.run("call mcp_box_echo text=hello"), @"
    exit 0
    --- stdout
    you said hello\u{1b}[2J
    bye
    ");
    assert_snapshot!(world.run("call box/echo text=hello -q"), @"
    exit 0
    --- stdout
    you said hello\u{1b}[2J
    bye
    ");
}

#[test]
fn redirected_output_is_exactly_what_the_server_sent() {
    let echo = world_with_box().output("call box/echo text=hello");
    assert_eq!(String::from_utf8(echo.stdout).unwrap(), "you said hello\u{1b}[2J\nbye");
    let tools = r#"{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}"#;
    let calls = r#"
    *'"name":"a"'*) result '{"content":[{"type":"text","text":"{\"n\": 1}\n\n"}],"structuredContent":{"n":1}}';;
    *'"name":"b"'*) result '{"content":[],"structuredContent":{"n":1}}';;"#;
    let world = World::new()
        .script("box", &legacy_server_script("", r#"{"tools":{}}"#, tools, calls))
        .own_servers(&[("box", r#""command": "box""#)]);
    let printed = |line: &str| String::from_utf8(world.output(line).stdout).unwrap();
    assert_eq!(printed("call box/a"), "{\"n\": 1}\n\n");
    assert_eq!(printed("call box/b"), r#"{"n":1}"#);
    let json: serde_json::Value = serde_json::from_str(&printed("call box/a --json")).unwrap();
    assert_eq!(json["structuredContent"]["n"], 1);
}

#[test]
fn arguments_can_be_json() {
    let world = world_with_box();
    let json = r#"{"text":"from json"}"#;
    assert_snapshot!(world.run_words(&["call", "box/echo", "--args", json]), @"
    exit 0
    --- stdout
    you said from json\u{1b}[2J
    bye
    ");
    assert_snapshot!(world.run_with_input(&["call", "box/echo", "--args", "-"], json), @"
    exit 0
    --- stdout
    you said from json\u{1b}[2J
    bye
    ");
    assert_snapshot!(world.run("call box/echo --args [1]"), @r#"
    exit 2
    --- stderr
    error: --args must be a JSON object
      hint: such as --args '{"path": "README.md"}'
    "#);
    assert_snapshot!(world.run("call box/echo --args {"), @r#"
    exit 2
    --- stderr
    error: --args is not JSON: EOF while parsing an object at line 1 column 1
      hint: such as --args '{"path": "README.md"}'
    "#);
    assert_snapshot!(world.run("call box/echo text=a --args {}"), @"
    exit 2
    --- stderr
    error: the argument '[KEY=VALUE]...' cannot be used with '--args <JSON>'

    Usage: wharf call <TOOL> <KEY=VALUE>... [-- <COMMAND>...]

    For more information, try '--help'.
    ");
}

#[test]
fn invalid_arguments_are_not_sent() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box/echo"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "text" is missing
      usage: wharf call box/echo text=<string> [times=<integer>]
    "#);
    assert_snapshot!(world.run("call box/echo text=a times=many"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "times" must be an integer
      usage: wharf call box/echo text=<string> [times=<integer>]
    "#);
    assert_snapshot!(world.run("call box/echo hello"), @r#"
    exit 2
    --- stderr
    error: the arguments are malformed: "hello" is not of the form key=value
      hint: write key=value, key:=JSON, or use --args with a JSON object
      usage: wharf call box/echo text=<string> [times=<integer>]
    "#);
    assert_snapshot!(world.run("call box/echo txet=a"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: unknown "txet" (did you mean "text"?); "text" is missing
      usage: wharf call box/echo text=<string> [times=<integer>]
    "#);
}

#[test]
fn a_tool_error_exits_with_1() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box/fail"), @"
    exit 1
    --- stdout
    Error: no such file
    ");
    assert_snapshot!(without_durations(&world.run("call box/fail --json")), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "isError": true,
      "text": "Error: no such file",
      "content": [
        {
          "type": "text",
          "text": "no such file"
        }
      ],
      "details": {
        "serverName": "box",
        "mcpToolName": "fail",
        "provider": "wharf",
        "providerName": "Wharf",
        "durationMs": [time]
      }
    }
    "#);
}

#[test]
fn binary_content_is_summarized_and_can_be_saved() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box/picture"), @"
    exit 0
    --- stdout
    look:
    [image image/png, 5 B]
    ");
    let rendered = world.run("call box/picture --save pictures");
    let path = rendered.lines().find_map(|line| line.strip_prefix("saved [project]/")).unwrap();
    assert_eq!(fs::read_to_string(world.path("project").join(path)).unwrap(), "hello");
    assert!(path.starts_with("pictures/"), "{path}");
    assert_eq!(Path::new(path).extension(), Some("png".as_ref()));
}

#[test]
fn an_unknown_tool_is_not_found() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box/ecko"), @r#"
    exit 1
    --- stderr
    error: Tool "box/ecko" not found
      hint: did you mean "mcp_box_echo"?
    "#);
    assert_snapshot!(without_durations(&world.run("call box/ecko --json")), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "isError": true,
      "text": "MCP error: Tool \"box/ecko\" not found (server \"box\", tool \"ecko\", phase send)\nCorrect the call before trying again.\nhint: did you mean \"mcp_box_echo\"?",
      "content": [],
      "details": {
        "serverName": "box",
        "mcpToolName": "ecko",
        "provider": "wharf",
        "providerName": "Wharf",
        "durationMs": [time]
      },
      "error": {
        "code": "not-found",
        "kind": "MISUSE",
        "phase": "send",
        "message": "Tool \"box/ecko\" not found",
        "retryable": false,
        "outcomeKnown": true,
        "hint": "did you mean \"mcp_box_echo\"?"
      }
    }
    --- stderr
    error: Tool "box/ecko" not found
      hint: did you mean "mcp_box_echo"?
    "#);
    assert_snapshot!(world.run("call mcp_other_thing"), @r#"
    exit 1
    --- stderr
    error: Tool "mcp_other_thing" not found
    "#);
}

#[test]
fn a_call_that_times_out_exits_with_5() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box/hang --timeout 300ms"), @r#"
    exit 5
    --- stderr
    MCP error: no answer within 300ms (server "box", tool "hang", phase receive)
    The outcome is unknown: the tool may have run. Check before calling it again.
    "#);
    assert_eq!(world.read("bin/box.seen"), "called\ncancelled\n");
    assert_snapshot!(world.run("call box/hang --timeout soon"), @"
    exit 2
    --- stderr
    error: invalid value 'soon' for '--timeout <TIME>': write a number with ms, s, m or h, such as 30s

    For more information, try '--help'.
    ");
}

#[test]
fn the_outcome_is_unknown_if_the_server_dies() {
    let world = world_with_box();
    assert_snapshot!(world.run("call box/die"), @r#"
    exit 3
    --- stderr
    MCP error: the server's process ended (exit status: 7) (server "box", tool "die", phase receive)
    The outcome is unknown: the tool may have run. Check before calling it again.
    the server's last error output:
      out of memory
    hint: `wharf logs box` shows all of its output
    "#);
    assert_snapshot!(without_durations(&world.run("call box/die --json")), @r#"
    exit 3
    --- stdout
    {
      "ok": false,
      "isError": true,
      "text": "MCP error: the server's process ended (exit status: 7) (server \"box\", tool \"die\", phase receive)\nThe outcome is unknown: the tool may have run. Check before calling it again.\nthe server's last error output:\n  out of memory",
      "content": [],
      "details": {
        "serverName": "box",
        "mcpToolName": "die",
        "provider": "wharf",
        "providerName": "Wharf",
        "durationMs": [time]
      },
      "error": {
        "code": "connection-lost",
        "kind": "TERMINAL",
        "phase": "receive",
        "message": "the server's process ended (exit status: 7)",
        "retryable": false,
        "outcomeKnown": false,
        "stderr": "out of memory"
      }
    }
    "#);
}

#[test]
fn each_connection_failure_has_its_exit_code() {
    let world = World::new()
        .script("broken", "echo 'no licence' >&2; exit 3\n")
        .server_with_startup("slow", "read line; read line; read line; read line")
        .own_servers(&[
            ("broken", r#""command": "broken", "timeout": 5000"#),
            ("slow", r#""command": "slow", "timeout": 300"#),
            ("off", r#""command": "box", "enabled": false"#),
        ]);
    assert_snapshot!(world.run("call mcp_broken_x"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        no licence
    "#);
    assert_snapshot!(world.run("call slow/x"), @r#"
    exit 5
    --- stderr
    error: Failed to connect to "slow": the server did not answer within 300ms
      hint: raise `timeout` in its entry if it needs longer to start (`wharf get slow`)
    "#);
    assert_snapshot!(world.run("call slow/x --timeout 100ms"), @"
    exit 5
    --- stderr
    error: no answer within 100ms
      hint: raise --timeout
    ");
    assert_snapshot!(world.run("call off/x"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
}

#[test]
fn a_call_starts_only_the_server_that_may_have_the_tool() {
    let world = World::new()
        .tool_server("box")
        .programs(&["npx"])
        .own_servers(&[("box", r#""command": "box""#), ("other", r#""command": "npx""#)]);
    assert!(world.run("call box/echo text=a").starts_with("exit 0"));
    assert!(world.run("tools mcp_box_echo").starts_with("exit 0"));
    assert_eq!(world.started_programs(), "");
}

#[test]
fn a_denied_tool_cannot_be_called() {
    let world = World::new()
        .tool_server("box")
        .own_servers(&[("box", r#""command": "box", "toolApproval": { "echo": "deny" }"#)]);
    assert_snapshot!(world.run("call box/echo text=a"), @r#"
    exit 1
    --- stderr
    MCP error: the settings deny this tool (server "box", tool "echo", phase send)
    Trying again will not help.
    hint: to allow it, write "ask" instead of "deny" in "approval" or "toolApproval" of "box"
    "#);
    assert!(world.run("call box/picture").starts_with("exit 0"));
}

#[test]
fn the_built_in_thinking_server_can_be_called() {
    let line = "call thinking/sequentialthinking thought=hm nextThoughtNeeded=false \
                thoughtNumber=1 totalThoughts=1";
    assert_snapshot!(World::new().run(line), @r#"
    exit 0
    --- stdout
    {"thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false,"branches":[],"thoughtHistoryLength":1}
    "#);
}
