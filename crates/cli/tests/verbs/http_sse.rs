//! Servers that support only the transport HTTP+SSE, without `"type": "sse"` in the entry.

use std::net::TcpStream;
use std::sync::Mutex;

use insta::assert_snapshot;

use crate::http_server::{
    EVENT_STREAM_HEAD, HttpRequest, HttpServer, INITIALIZE_RESULT, LIST_RESULT, response, write_to,
};
use crate::world::{World, without_durations};

/// A server with an event stream at `/sse`, which refuses every POST there with `refusal`.
fn event_stream(refusal: &'static str) -> HttpServer {
    let stream: Mutex<Option<TcpStream>> = Mutex::new(None);
    HttpServer::start(move |request: &HttpRequest, client| {
        match (request.verb.as_str(), request.path.as_str()) {
            ("GET", "/sse") => {
                // Stored before the endpoint event, because the first message follows at once.
                *stream.lock().unwrap() = Some(client.try_clone().unwrap());
                write_to(client, EVENT_STREAM_HEAD);
                write_to(client, "event: endpoint\ndata: /messages?session=1\n\n");
            }
            ("POST", "/messages?session=1") => {
                write_to(client, &response("202 Accepted", "", ""));
                let result = match request.method() {
                    "initialize" => INITIALIZE_RESULT,
                    "tools/list" => LIST_RESULT,
                    _ => return,
                };
                if let Some(stream) = &mut *stream.lock().unwrap() {
                    write_to(
                        stream,
                        &format!("event: message\ndata: {}\n\n", request.reply(result)),
                    );
                }
            }
            _ => write_to(client, &response(refusal, "", "")),
        }
    })
}

#[test]
fn a_server_with_only_http_sse_connects_every_time() {
    for refusal in ["405 Method Not Allowed", "404 Not Found", "400 Bad Request"] {
        let server = event_stream(refusal);
        let url = format!(r#""url": "{}", "timeout": 5000"#, server.url("/sse"));
        let world = World::new().own_servers(&[("old", &url)]);
        for run in 1..=3 {
            let output = world.run("tools --fresh");
            assert!(output.contains("mcp_old_go"), "{refusal}, run {run}: {output}");
        }
    }
}

#[test]
fn the_test_verb_names_the_transport_used() {
    let server = event_stream("405 Method Not Allowed");
    let url = format!(r#""url": "{}", "timeout": 5000"#, server.url("/sse"));
    let world = World::new().own_servers(&[("old", &url)]);
    let first = without_durations(&world.run("test old"));
    assert_snapshot!(first, @r#"
    exit 0
    --- stdout
    Connected to "old"
      server         web 3
      transport      sse
      protocol       2025-11-25 (legacy)
      tools          1
      connecting     [time] ms
      listing        [time] ms
    "#);
    assert_eq!(without_durations(&world.run("test old")), first);
    let output = world.run("test old --json");
    assert!(output.contains(r#""transport": "sse""#), "{output}");
}
