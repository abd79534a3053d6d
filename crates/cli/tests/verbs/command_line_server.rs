//! Servers that are given on the command line (`-- COMMAND` or `--url`) and not configured.

use insta::assert_snapshot;

use crate::recording_server::RecordingServer;
use crate::test_servers::world_with_box;
use crate::world::World;

/// Returns all files below a folder.
fn files(world: &World, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.path(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                found.push(world.filter(&entry.path().display().to_string()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_tool_of_an_unconfigured_command_can_be_called() {
    let world = World::new().tool_server("box");
    assert_snapshot!(world.run("call echo text=hello -- box"), @"
    exit 0
    --- stdout
    you said hello\u{1b}[2J
    bye
    ");
    assert_snapshot!(world.run("tools -- box"), @"
    exit 0
    --- stdout
    NAME                SERVER        DESCRIPTION
    mcp_server_die      given server
    mcp_server_echo     given server  Says it again.
    mcp_server_fail     given server  Says no
    mcp_server_hang     given server
    mcp_server_picture  given server
    --- stderr
    5 tools from 1 server.
    ");
    assert_snapshot!(world.run("call echo -- box --token abc"), @r#"
    exit 2
    --- stderr
    error: the arguments do not match the schema of the tool: "text" is missing
      usage: wharf call echo text=<string> [times=<integer>] -- box --token •••
    "#);
    assert_snapshot!(files(&world, "home").join("\n"), @"");
    assert_snapshot!(files(&world, "project").join("\n"), @"");
}

#[test]
fn only_the_given_server_is_started() {
    let world = world_with_box().programs(&["npx"]).project(
        ".mcp.json",
        r#"{ "mcpServers": { "evil": { "command": "npx", "args": ["evil"] } } }"#,
    );
    let world = world.tool_server("other");
    let rendered = world.run("call echo text=a -- other");
    assert!(
        rendered.starts_with("exit 0\n--- stdout\nyou said a") && !rendered.contains("evil"),
        "{rendered}"
    );
    assert_eq!(world.started_programs(), "");
}

#[test]
fn a_command_runs_in_the_working_folder() {
    let world = World::new().server_with_startup("box", r#"pwd > "$0.folder""#);
    assert!(world.run("tools -- box").starts_with("exit 0"));
    assert_eq!(world.filter(&world.read("bin/box.folder")), "[project]\n");
    std::fs::copy(world.path("bin/box"), world.path("project/mine")).unwrap();
    let rendered = world.run("call go -- ./mine");
    assert_snapshot!(rendered, @"
    exit 0
    --- stdout
    gone
    ");
}

#[test]
fn a_disabled_name_does_not_affect_a_command_line_server() {
    let world = World::new()
        .tool_server("box")
        .home(".wharf/mcp.json", r#"{ "mcpServers": {}, "disabledServers": ["given server"] }"#);
    assert!(world.run("call picture -- box").starts_with("exit 0"));
}

#[test]
fn conflicting_or_invalid_arguments_are_refused() {
    let world = World::new().tool_server("box");
    assert_snapshot!(world.run("call echo --url http://127.0.0.1:1/ -- box"), @"
    exit 2
    --- stderr
    error: Use either --url or -- <command...>, not both.
      hint: keep one of them
    ");
    assert_snapshot!(world.run("call echo --token x -- box"), @"
    exit 2
    --- stderr
    error: --token requires --url (HTTP/SSE transport).
      hint: pass a token to a local server with --env
    ");
    assert_snapshot!(world.run("tools --header A=b"), @"
    exit 2
    --- stderr
    error: --header and --transport require --url
      hint: give the URL
    ");
    assert_snapshot!(world.run("tools --url nowhere"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "given server": "url" must start with http://, https:// or unix://
      hint: write the whole address, such as https://example.com/mcp
    "#);
    assert_snapshot!(world.run("call echo -- nobody"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "given server": nobody not found
      hint: install nobody, or give its full path in "command"
    "#);
}

/// Answers requests as an MCP server with one tool.
fn answer(request: &str) -> (&'static str, String) {
    let Some(at) = request.find("\"id\":") else { return ("202 Accepted", String::new()) };
    let id: String = request[at + 5..].chars().take_while(char::is_ascii_digit).collect();
    let result = if request.contains("\"method\":\"initialize\"") {
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}"#
    } else if request.contains("\"method\":\"tools/list\"") {
        r#"{"tools":[{"name":"ping","description":"Says pong","inputSchema":{"type":"object"}}]}"#
    } else if request.contains("\"method\":\"tools/call\"") {
        r#"{"content":[{"type":"text","text":"pong"}]}"#
    } else {
        let error = r#"{"code":-32601,"message":"unknown method"}"#;
        return ("200 OK", format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
    };
    ("200 OK", format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

#[test]
fn a_url_is_called_with_headers_and_token_and_nothing_is_stored() {
    let server = RecordingServer::with_json(answer);
    let world = World::new();
    let url = format!("http://{}/mcp", server.address());
    let words = ["call", "ping", "--url", &url, "--token", "-", "--header", "X-Team=core"];
    assert_snapshot!(world.run_with_input(&words, "s3cret\n"), @"
    exit 0
    --- stdout
    pong
    ");
    let received = server.received().to_lowercase();
    assert!(received.contains("authorization: bearer s3cret"), "{received}");
    assert!(received.contains("x-team: core"), "{received}");
    let rendered = world.run_words(&["tools", "ping", "--url", &url]).replace(&url, "[url]");
    assert_snapshot!(rendered, @r#"
    exit 0
    --- stdout
    mcp_server_ping
      server         given server  mcp:given server via command line
      tool           ping
      approval       ask (agents need approval for each call)

    Says pong

    Usage
      wharf call ping --url [url]

    Arguments
      none

    Example
      wharf call ping --url [url]

    Schema
    {
      "type": "object",
      "properties": {}
    }
    "#);
    assert_snapshot!(files(&world, "home").join("\n"), @"");
}

#[test]
fn a_refused_token_is_not_shown() {
    let server = RecordingServer::with_status("401 Unauthorized");
    let url = format!("http://me:s3cret-b@{}/mcp?key=s3cret-c", server.address());
    let words = ["call", "ping", "--url", &url, "--token", "s3cret-a", "--header", "X=s3cret-d"];
    let rendered = World::new().run_words(&words);
    assert!(rendered.starts_with("exit 4") && !rendered.contains("s3cret"), "{rendered}");
    let rendered = World::new().run_words(&[&words[..], &["--json"]].concat());
    assert!(rendered.starts_with("exit 4") && !rendered.contains("s3cret"), "{rendered}");
}

#[test]
fn hints_for_a_command_line_server_name_no_entry() {
    let world = World::new()
        .script("broken", "echo 'no licence' >&2; exit 3\n")
        .tool_server("box")
        .server_with_startup("slow", "read line; read line; read line; read line");
    assert_snapshot!(world.run("call x -- broken"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "given server": the server's process ended (exit status: 3)
      the server's last error output:
        no licence
    "#);
    assert_snapshot!(world.run("call x --url http://127.0.0.1:1/mcp"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "given server": could not connect to http://127.0.0.1:1: Connection refused (os error 111)
      hint: check that the server is running, and the port in its address
    "#);
    assert_snapshot!(world.run("call die -- box"), @r#"
    exit 3
    --- stderr
    MCP error: the server's process ended (exit status: 7) (server "given server", tool "die", phase receive)
    The outcome is unknown: the tool may have run. Check before calling it again.
    the server's last error output:
      out of memory
    "#);
    assert_snapshot!(world.run("call x --timeout 100ms -- slow"), @"
    exit 5
    --- stderr
    error: no answer within 100ms
      hint: raise --timeout
    ");
    let server = RecordingServer::with_status("401 Unauthorized");
    let url = format!("http://{}/mcp", server.address());
    assert_snapshot!(world.run_words(&["tools", "--url", &url]), @r#"
    exit 4
    --- stderr
    error: Failed to connect to "given server": the server answered 401 Unauthorized
      hint: give a token with --token -, or check --header
    "#);
}
