//! Messages about servers that fail to connect: they include the last stderr line, and each hint
//! names the next command.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::recording_server::RecordingServer;
use crate::test_servers::legacy_server_script;
use crate::world::World;

/// A server that writes the reason to stderr between lines that explain nothing, and ends.
fn broken() -> World {
    World::new()
        .script(
            "broken",
            "echo 'starting up' >&2\necho 'Error: no licence' >&2\necho '    at main (x.js:1:2)' >&2\n\
             echo 'Node.js v20.10.0' >&2\nread -r line\nexit 3\n",
        )
        .own_servers(&[("broken", r#""command": "broken""#)])
}

#[test]
fn the_last_meaningful_line_of_stderr_is_in_every_listing() {
    let world = broken();
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    warning: Failed to connect to "broken": the server's process ended (exit status: 3)
      stderr: Error: no licence
      hint: `wharf logs broken` shows all of its output
    0 tools from 0 servers.
    "#);
    assert_snapshot!(world.run("tools --json"), @r#"
    exit 0
    --- stdout
    {
      "tools": [],
      "servers": [
        {
          "name": "broken",
          "status": "failed",
          "tools": 0,
          "error": "the server's process ended (exit status: 3); stderr: Error: no licence"
        }
      ],
      "errors": [
        {
          "path": "mcp:broken",
          "error": "the server's process ended (exit status: 3); stderr: Error: no licence"
        }
      ],
      "problems": []
    }
    --- stderr
    warning: Failed to connect to "broken": the server's process ended (exit status: 3)
      stderr: Error: no licence
      hint: `wharf logs broken` shows all of its output
    "#);
    assert_snapshot!(world.run("resources"), @r#"
    exit 0
    --- stdout
    URI  SERVER  KIND  NAME
    --- stderr
    warning: Failed to connect to "broken": the server's process ended (exit status: 3)
      stderr: Error: no licence
      hint: `wharf logs broken` shows all of its output
    0 resources.
    "#);
    assert_snapshot!(world.run("status"), @"
    exit 0
    --- stdout
    NAME    TRANSPORT  STATUS               CREDENTIAL  LAST ATTEMPT
    broken  stdio      last attempt failed  none        failed just now: Error: no licence (the server's process ended (exit status: 3))
    --- stderr
    0 of 1 ready.
    ");
    let doctor = world.run("doctor broken");
    let line = doctor.lines().find(|line| line.contains("failed to connect"));
    assert_snapshot!(line.unwrap_or_default().trim(), @"!!  broken: failed to connect: the server's process ended (exit status: 3); stderr: Error: no licence");
}

#[test]
fn the_whole_stderr_is_shown_when_one_server_is_named() {
    let world = broken();
    assert_snapshot!(world.run("test broken"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        starting up
        Error: no licence
            at main (x.js:1:2)
        Node.js v20.10.0
    "#);
    assert_snapshot!(world.run("reconnect broken --json"), @r#"
    exit 3
    --- stdout
    {
      "ok": false,
      "name": "broken",
      "message": "Failed to connect to \"broken\": the server's process ended (exit status: 3)",
      "hint": "`wharf logs broken` shows all of its output",
      "stderr": "starting up\nError: no licence\n    at main (x.js:1:2)\nNode.js v20.10.0\n",
      "error": {
        "code": "not-connected",
        "message": "Failed to connect to \"broken\": the server's process ended (exit status: 3)",
        "hint": "`wharf logs broken` shows all of its output",
        "server": "broken"
      }
    }
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        starting up
        Error: no licence
            at main (x.js:1:2)
        Node.js v20.10.0
    "#);
    assert_snapshot!(world.run("call broken/go"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "broken": the server's process ended (exit status: 3)
      hint: `wharf logs broken` shows all of its output
      the server's last error output:
        starting up
        Error: no licence
            at main (x.js:1:2)
        Node.js v20.10.0
    "#);
}

#[test]
fn a_failed_call_shows_only_stderr_written_during_the_call() {
    let tool = r#"{"name":"go","description":"Goes","inputSchema":{"type":"object"}}"#;
    let call = r#"*'"method":"tools/call"'*) for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "step $n" >&2; done; exit 7;;"#;
    let script =
        legacy_server_script("echo 'listening on stdio' >&2", r#"{"tools":{}}"#, tool, call);
    let world = World::new().script("box", &script).own_servers(&[("box", r#""command": "box""#)]);
    assert_snapshot!(world.run("call box/go"), @r#"
    exit 3
    --- stderr
    MCP error: the server's process ended (exit status: 7) (server "box", tool "go", phase receive)
    The outcome is unknown: the tool may have run. Check before calling it again.
    the server's last error output:
      step 1
      step 2
      step 3
      step 4
      step 5
      step 6
      step 7
      step 8
      step 9
      step 10
      step 11
      step 12
      step 13
    hint: `wharf logs box` shows all of its output
    "#);
}

#[test]
fn every_http_error_status_has_a_hint() {
    let mut rendered = String::new();
    for status in [
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "405 Method Not Allowed",
        "429 Too Many Requests",
        "500 Internal Server Error",
        "503 Service Unavailable",
    ] {
        let server = RecordingServer::with_status(status);
        let url = format!(r#""url": "http://{}/mcp""#, server.address());
        let world = World::new().own_servers(&[("api", &url)]);
        let output = world.run("test api");
        let code = output.lines().next().unwrap_or_default();
        let hint = output.lines().find(|line| line.contains("hint:")).unwrap_or("  (no hint)");
        let _infallible = writeln!(rendered, "{status}: {code}\n{hint}");
    }
    assert_snapshot!(rendered, @"
    401 Unauthorized: exit 4
      hint: `wharf login api`, or store a token with `wharf add api --token -`, or check its headers (`wharf get api`)
    403 Forbidden: exit 4
      hint: the server refused this token (403); use a token or account that has permission (`wharf get api`)
    404 Not Found: exit 3
      hint: check the path in its address: most servers answer at /mcp, older ones at /sse (`wharf get api`)
    405 Method Not Allowed: exit 3
      hint: check the path in its address: most servers answer at /mcp, older ones at /sse (`wharf get api`)
    429 Too Many Requests: exit 3
      hint: the server limits the rate of requests; wait before you try again (`wharf test api`)
    500 Internal Server Error: exit 3
      hint: the server reports an internal failure; try again later, or contact its operator (`wharf test api`)
    503 Service Unavailable: exit 3
      hint: the server reports an internal failure; try again later, or contact its operator (`wharf test api`)
    ");
}

#[test]
fn a_server_that_does_not_speak_tls_has_a_hint() {
    let server = RecordingServer::with_status("200 OK");
    let url = format!(r#""url": "https://{}/mcp""#, server.address());
    let world = World::new().own_servers(&[("api", &url)]);
    let output = world.run("test api");
    let rendered = output.replace(&server.address().to_string(), "[address]");
    assert_snapshot!(rendered, @r#"
    exit 3
    --- stderr
    error: Failed to connect to "api": could not set up TLS with https://[address]: received corrupt message of type InvalidContentType
      hint: the server does not speak TLS there; check the port, and whether the address should begin with http:// (`wharf get api`)
    "#);
}

#[test]
fn a_connect_timeout_names_the_next_command() {
    let world = World::new()
        .script("slow", "echo 'still warming up' >&2\nread -r line\nread -r more\n")
        .own_servers(&[("my slow one", r#""command": "slow", "timeout": 300"#)]);
    assert_snapshot!(world.run_words(&["test", "my slow one"]), @r#"
    exit 5
    --- stderr
    error: Failed to connect to "my slow one": the server did not answer within 300ms
      hint: raise `timeout` in its entry if it needs longer to start (`wharf logs 'my slow one'`)
      the server's last error output:
        still warming up
    "#);
    assert_snapshot!(world.run("tools"), @r#"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    warning: Failed to connect to "my slow one": the server did not answer within 300ms
      stderr: still warming up
      hint: raise `timeout` in its entry if it needs longer to start (`wharf logs 'my slow one'`)
    0 tools from 0 servers.
    "#);
}
