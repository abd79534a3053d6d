//! Servers that have only the oldest transport, HTTP+SSE, although their entry does not say so.

use std::net::TcpStream;
use std::sync::Mutex;

use insta::assert_snapshot;

use crate::web::{Asked, EVENTS, HELLO, TOOLS, Web, response, say};
use crate::world::{World, timeless};

/// A server with an event stream at `/sse`, which refuses every POST there with `refusal`.
fn event_stream(refusal: &'static str) -> Web {
    let stream: Mutex<Option<TcpStream>> = Mutex::new(None);
    Web::start(move |asked: &Asked, client| match (asked.verb.as_str(), asked.path.as_str()) {
        ("GET", "/sse") => {
            // Before the address is named, since the first message comes at once.
            *stream.lock().unwrap() = Some(client.try_clone().unwrap());
            say(client, EVENTS);
            say(client, "event: endpoint\ndata: /messages?session=1\n\n");
        }
        ("POST", "/messages?session=1") => {
            say(client, &response("202 Accepted", "", ""));
            let result = match asked.method() {
                "initialize" => HELLO,
                "tools/list" => TOOLS,
                _ => return,
            };
            if let Some(stream) = &mut *stream.lock().unwrap() {
                say(stream, &format!("event: message\ndata: {}\n\n", asked.reply(result)));
            }
        }
        _ => say(client, &response(refusal, "", "")),
    })
}

#[test]
fn a_server_with_only_an_event_stream_connects_every_time() {
    for refusal in ["405 Method Not Allowed", "404 Not Found", "400 Bad Request"] {
        let server = event_stream(refusal);
        let url = format!(r#""url": "{}", "timeout": 5000"#, server.url("/sse"));
        let world = World::new().own_servers(&[("old", &url)]);
        for run in 1..=3 {
            let said = world.run("tools --fresh");
            assert!(said.contains("mcp_old_go"), "{refusal}, run {run}: {said}");
        }
    }
}

#[test]
fn test_names_the_transport_that_was_used() {
    let server = event_stream("405 Method Not Allowed");
    let url = format!(r#""url": "{}", "timeout": 5000"#, server.url("/sse"));
    let world = World::new().own_servers(&[("old", &url)]);
    let first = timeless(&world.run("test old"));
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
    assert_eq!(timeless(&world.run("test old")), first);
    let told = world.run("test old --json");
    assert!(told.contains(r#""transport": "sse""#), "{told}");
}
