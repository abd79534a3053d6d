//! The usage of a tool: its signature, an example, and the usage line after an invalid call.

use insta::assert_snapshot;

use crate::test_servers::{legacy_server_script, world_with_box};
use crate::world::{World, without_durations};

/// A tool with a detailed schema.
const RICH: &str = r#"{"name":"make","description":"Makes a report.","inputSchema":{"type":"object","required":["title","rows"],"properties":{"format":{"enum":["pdf","html"],"default":"pdf","description":"What it is\nwritten as"},"title":{"type":"string","description":"The heading"},"rows":{"type":"integer","minimum":3},"tags":{"type":"array","items":{"type":"string"}},"filter":{"type":"object"}}}}"#;

/// A tool whose schema is dangerous to copy into a shell.
const HOSTILE: &str = r#"{"name":"$(touch x)","inputSchema":{"type":"object","required":["a","b c"],"properties":{"a":{"type":"string","default":"$(reboot) \u0027; rm -rf ~"},"b c":{"type":"string"},"c":{"enum":["`id`\u001b[2J"]}}}}"#;

fn reports(tools: &str) -> World {
    let call = r#"*'"method":"tools/call"'*) note seen; result '{"content":[{"type":"text","text":"made"}]}';;"#;
    let script = legacy_server_script("", r#"{"tools":{}}"#, tools, call);
    World::new().script("reports", &script).own_servers(&[("reports", r#""command": "reports""#)])
}

#[test]
fn one_tool_shows_its_signature_an_example_and_its_schema() {
    let world = reports(RICH);
    let output = world.run("tools reports/make");
    assert_snapshot!(output.split("Schema\n").next().unwrap(), @r#"
    exit 0
    --- stdout
    mcp_reports_make
      server         reports  mcp:reports via Wharf
      tool           make
      approval       ask (agents need approval for each call)

    Makes a report.

    Usage
      wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]

    Arguments
      title   string, required
              The heading
      rows    integer, required
      format  one of pdf, html, default "pdf"
              What it is written as
      tags    list of strings
      filter  object

    Example
      wharf call reports/make title=text rows=3
    "#);
    let example =
        output.lines().find_map(|line| line.strip_prefix("  wharf call reports/make title=t"));
    let words = format!("call reports/make title=t{}", example.unwrap());
    assert_snapshot!(world.run(&words), @"
    exit 0
    --- stdout
    made
    ");
}

#[test]
fn the_json_of_one_tool_has_usage_and_example() {
    let output = reports(RICH).run("tools reports/make --json");
    let lines: Vec<&str> = output.lines().filter(|line| line.contains("wharf call")).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    "usage": "wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]",
    "example": "wharf call reports/make title=text rows=3"
    "#);
    assert!(!reports(RICH).run("tools --json").contains("wharf call"));
}

#[test]
fn a_missing_or_wrong_argument_prints_the_usage_line() {
    let world = reports(RICH);
    assert_snapshot!(world.run("call reports/make title=x"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "rows" is missing
      usage: wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]
    "#);
    assert_snapshot!(world.run("call reports/make title=x rows=many"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "rows" must be an integer
      usage: wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]
    "#);
    assert_snapshot!(world.run("call reports/make title=x rows=1"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "rows" must be at least 3
      usage: wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]
    "#);
    assert_snapshot!(world.run("call reports/make hello"), @r#"
    exit 2
    --- stderr
    error: the arguments are malformed: "hello" is not of the form key=value
      hint: write key=value, key:=JSON, or use --args with a JSON object
      usage: wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]
    "#);
    assert_snapshot!(world.run("call reports/make titel=x rows=3"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: unknown "titel" (did you mean "title"?); "title" is missing
      usage: wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]
    "#);
    let output = world.run("call reports/make title=x --json");
    assert_snapshot!(without_durations(&output), @r#"
    exit 2
    --- stdout
    {
      "ok": false,
      "isError": true,
      "text": "MCP error: the arguments do not match the schema of the tool: \"rows\" is missing (server \"reports\", tool \"make\", phase send)\nCorrect the call before trying again.",
      "content": [],
      "details": {
        "serverName": "reports",
        "mcpToolName": "make",
        "provider": "wharf",
        "providerName": "Wharf",
        "durationMs": [time]
      },
      "error": {
        "code": "usage",
        "kind": "MISUSE",
        "phase": "send",
        "message": "the arguments do not match the schema of the tool: \"rows\" is missing",
        "retryable": false,
        "outcomeKnown": true,
        "hint": "usage: wharf call reports/make title=<string> rows=<integer> [format=<pdf|html>] [tags=<list of strings>] [filter=<object>]"
      }
    }
    "#);
    let output = world.run("call reports/make title=x rows=many --json");
    assert!(
        output.contains(r#""hint": "usage: wharf call reports/make title=<string>"#),
        "{output}"
    );
    assert!(!world.path("bin/reports.seen").exists());
}

#[test]
fn an_example_is_quoted_for_the_shell() {
    let world = reports(HOSTILE);
    let output = world.run("tools mcp_reports_touch_x");
    assert_snapshot!(output.split("Schema\n").next().unwrap(), @r#"
    exit 0
    --- stdout
    mcp_reports_touch_x
      server         reports  mcp:reports via Wharf
      tool           $(touch x)
      approval       ask (agents need approval for each call)

    Usage
      wharf call mcp_reports_touch_x a=<string> b c=<string> [c=<`id`\u{1b}[2J>]

    Arguments
      a    string, required, default "$(reboot) '; rm -rf ~"
      b c  string, required
      c    always `id`\u{1b}[2J

    Example
      wharf call mcp_reports_touch_x 'a=$(reboot) '\''; rm -rf ~' 'b c=text'
    "#);
}

#[test]
fn the_usage_of_a_tool_without_arguments_has_none() {
    let output = world_with_box().run("tools box/picture");
    assert_snapshot!(output, @r#"
    exit 0
    --- stdout
    mcp_box_picture
      server         box  mcp:box via Wharf
      tool           picture
      approval       ask (agents need approval for each call)

    Usage
      wharf call box/picture

    Arguments
      none

    Example
      wharf call box/picture

    Schema
    {
      "type": "object",
      "properties": {}
    }
    "#);
}
