//! `wharf test NAME --trace`: all messages in both directions, with redacted secrets.

use insta::assert_snapshot;

use crate::http_server::{
    HttpRequest, HttpServer, INITIALIZE_RESULT, LIST_RESULT, json_response, response, write_to,
};
use crate::test_servers::world_with_box;
use crate::world::World;

/// A legacy HTTP server that repeats a header of the request in its error.
fn server_that_echoes_requests() -> HttpServer {
    HttpServer::start(|request: &HttpRequest, client| match request.method() {
        "initialize" => {
            let headers = "content-type: application/json\r\nmcp-session-id: berth-1\r\n";
            write_to(client, &response("200 OK", headers, &request.reply(INITIALIZE_RESULT)));
        }
        "tools/list" => write_to(client, &request.result(LIST_RESULT)),
        "server/discover" => {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no for Bearer tiger-4711"}}"#;
            write_to(client, &json_response("400 Bad Request", error));
        }
        method if method.starts_with("notifications/") => {
            write_to(client, &response("202 Accepted", "", ""));
        }
        _ => write_to(client, &response("405 Method Not Allowed", "", "")),
    })
}

fn with_token(server: &HttpServer) -> World {
    let url = server.url("/mcp?key=lion-0815");
    let entry = format!(r#""url": "{url}", "headers": {{ "Authorization": "Bearer tiger-4711" }}"#);
    World::new().own_servers(&[("web", &entry)])
}

/// Replaces times and ports.
fn filtered(text: &str, server: &HttpServer) -> String {
    let port = server.url("").rsplit(':').next().unwrap_or_default().to_owned();
    let lines = text.replace(&port, "PORT");
    let lines = lines.lines().map(|line| match line.split_once(" ms ") {
        Some((time, rest)) if time.trim().parse::<u64>().is_ok() => format!("[time] ms {rest}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_exchange_over_http_is_shown_without_secrets() {
    let server = server_that_echoes_requests();
    let world = with_token(&server);
    let output = world.run("test web --trace");
    let exchange = output.split_once("--- stderr\n").map_or("", |(_, exchange)| exchange);
    assert_snapshot!(filtered(exchange, &server), @r#"
    [time] ms · POST http://127.0.0.1:PORT/mcp (authorization: •••, mcp-method: server/discover, content-type: application/json, accept: application/json, text/event-stream, mcp-protocol-version: 2026-07-28)
    [time] ms → {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"wharf","version":"0.1.0"}}}}
    [time] ms · 400 Bad Request (content-type: application/json, content-length: 88, connection: close)
    [time] ms ← {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no for •••"}}
    [time] ms · POST http://127.0.0.1:PORT/mcp (authorization: •••, content-type: application/json, accept: application/json, text/event-stream)
    [time] ms → {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"wharf","version":"0.1.0"}}}
    [time] ms · 200 OK (content-type: application/json, mcp-session-id: •••, content-length: 136, connection: close)
    [time] ms ← {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"3"}}}
    [time] ms · POST http://127.0.0.1:PORT/mcp (authorization: •••, content-type: application/json, accept: application/json, text/event-stream, mcp-protocol-version: 2025-11-25, mcp-session-id: •••)
    [time] ms → {"jsonrpc":"2.0","method":"notifications/initialized"}
    [time] ms · 202 Accepted (content-length: 0, connection: close)
    [time] ms · GET http://127.0.0.1:PORT/mcp (authorization: •••, accept: text/event-stream, mcp-protocol-version: 2025-11-25, mcp-session-id: •••)
    [time] ms · 405 Method Not Allowed (content-length: 0, connection: close)
    [time] ms · POST http://127.0.0.1:PORT/mcp (authorization: •••, content-type: application/json, accept: application/json, text/event-stream, mcp-protocol-version: 2025-11-25, mcp-session-id: •••)
    [time] ms → {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}
    [time] ms · 200 OK (content-type: application/json, content-length: 112, connection: close)
    [time] ms ← {"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"go","description":"Goes","inputSchema":{"type":"object"}}]}}
    [time] ms · DELETE http://127.0.0.1:PORT/mcp (authorization: •••, mcp-protocol-version: 2025-11-25, mcp-session-id: •••)
    [time] ms · 405 Method Not Allowed (content-length: 0, connection: close)
    "#);
    for line in ["test web --trace", "test web --trace --json"] {
        let output = world.run(line);
        for secret in ["tiger-4711", "lion-0815", "berth-1"] {
            assert!(!output.contains(secret), "{line} shows {secret}: {output}");
        }
    }
}

#[test]
fn the_exchange_over_stdio_is_in_the_json() {
    let output = world_with_box().run("test box --trace --json");
    for part in [
        r#""trace": ["#,
        r#""kind": "sent""#,
        r#""kind": "received""#,
        r#"\"method\":\"initialize\""#,
        r#"\"serverInfo\""#,
        r#"\"method\":\"tools/list\""#,
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn the_trace_of_a_failed_connection_is_shown() {
    let world = World::new()
        .script("mute", "read line; exit 3\n")
        .own_servers(&[("mute", r#""command": "mute""#)]);
    let output = world.run("test mute --trace");
    assert!(output.contains(r#"→ {"jsonrpc":"2.0","id":1,"method":"server/discover""#), "{output}");
    assert!(output.starts_with("exit 3"), "{output}");
    assert!(!world.run("test mute").contains("→"));
}
