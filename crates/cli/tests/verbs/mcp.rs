//! `wharf mcp`: the built-in servers, as a program starts them.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::world::World;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"Count the boats.","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}}}
"#;

#[test]
fn a_client_that_begins_with_initialize_is_served() {
    let list = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
    let input = format!("{HELLO}{list}{CALL}");
    let shown = World::new().run_with_input(&["mcp", "thinking"], &input);
    assert_snapshot!(shown.replace(env!("CARGO_PKG_VERSION"), "[version]"), @"");
}

#[test]
fn a_client_that_begins_with_discover_is_served() {
    let request = |id: u8, method: &str, params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        ) + "\n"
    };
    let arguments = r#""name":"sequentialthinking","arguments":{"thought":"Count the boats."},"#;
    let input = request(1, "server/discover", "") + &request(2, "tools/call", arguments);
    let shown = World::new().run_with_input(&["mcp", "thinking"], &input);
    assert_snapshot!(shown.replace(env!("CARGO_PKG_VERSION"), "[version]"), @"");
}

#[test]
fn an_answer_comes_while_the_input_is_open() {
    let world = World::new();
    let mut command = world.command(&["mcp", "thinking"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    input.write_all(HELLO.as_bytes()).unwrap();
    assert!(output.next().unwrap().unwrap().contains(r#""id":1"#));
    input.write_all(CALL.as_bytes()).unwrap();
    assert!(output.next().unwrap().unwrap().contains(r#""id":3"#));
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_client_that_stops_listening_ends_the_server_quietly() {
    let world = World::new();
    let mut command = world.command(&["mcp", "thinking"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    // The input stays open: what ends the server is that nobody reads its answer.
    let mut input = child.stdin.take().unwrap();
    input.write_all(HELLO.as_bytes()).unwrap();
    let status = child.wait().unwrap();
    drop(input);
    let complaints = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!((status.code(), complaints.as_str()), (Some(0), ""));
}

#[test]
fn a_server_has_to_be_named() {
    assert_snapshot!(World::new().run("mcp -h"), @"");
    assert_snapshot!(World::new().run("mcp memory"), @"");
}
