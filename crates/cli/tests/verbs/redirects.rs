//! HTTP redirects: followed while connecting, never by a call, never with credentials of another
//! origin.

use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;

use crate::http_server::{HttpRequest, HttpServer, LIST_RESULT, response, write_to};
use crate::server_variants::Era;
use crate::world::World;

const SECRET: &str = "s3cret-4711-value";

/// The requests of a server: HTTP verb, path, MCP method, and whether our header was sent.
type RequestLog = Arc<Mutex<Vec<String>>>;

fn note(log: &RequestLog, request: &HttpRequest) {
    let header = if request.head.contains(SECRET) { " with the token" } else { "" };
    log.lock().unwrap().push(format!(
        "{} {} {}{header}",
        request.verb,
        request.path,
        request.method()
    ));
}

fn count(log: &RequestLog, what: &str) -> usize {
    log.lock().unwrap().iter().filter(|line| line.contains(what)).count()
}

fn redirect_to(location: &str) -> String {
    response("307 Temporary Redirect", &format!("location: {location}\r\n"), "")
}

/// Serves an MCP server with one tool.
fn serve(era: Era, request: &HttpRequest, client: &mut TcpStream) {
    match (request.verb.as_str(), request.method()) {
        ("POST", method) if method == era.first_method() => {
            write_to(client, &request.result(era.first_result()));
        }
        ("POST", "tools/list") => write_to(client, &request.result(LIST_RESULT)),
        ("POST", "tools/call") => {
            write_to(client, &request.result(r#"{"content":[{"type":"text","text":"gone"}]}"#));
        }
        ("POST", "server/discover") => write_to(client, &response("400 Bad Request", "", "")),
        ("POST", _) => write_to(client, &response("202 Accepted", "", "")),
        _ => write_to(client, &response("405 Method Not Allowed", "", "")),
    }
}

fn entry(server: &HttpServer) -> String {
    format!(
        r#""url": "{}", "headers": {{ "Authorization": "Bearer {SECRET}" }}"#,
        server.url("/mcp")
    )
}

#[test]
fn a_redirect_followed_while_connecting_applies_to_calls() {
    for era in Era::ALL {
        let log = RequestLog::default();
        let server_log = Arc::clone(&log);
        let server = HttpServer::start(move |request, client| {
            note(&server_log, request);
            match request.path.as_str() {
                "/mcp/" => serve(era, request, client),
                _ => write_to(client, &redirect_to("/mcp/")),
            }
        });
        let world = World::new().own_servers(&[("far", &entry(&server))]);
        assert_eq!(world.run("call far/go"), "exit 0\n--- stdout\ngone", "{era:?}");
        assert_eq!(count(&log, "POST /mcp/ tools/call with the token"), 1, "{era:?} {log:?}");
        assert_eq!(count(&log, "tools/call"), 1, "{era:?} {log:?}");
    }
}

#[test]
fn a_redirect_of_a_call_is_not_followed_and_leaves_its_outcome_unknown() {
    let said = Era::ALL.map(|era| {
        let log = RequestLog::default();
        let server_log = Arc::clone(&log);
        let server = HttpServer::start(move |request, client| {
            note(&server_log, request);
            match request.method() {
                "tools/call" => write_to(client, &redirect_to("/elsewhere")),
                _ => serve(era, request, client),
            }
        });
        let world = World::new().own_servers(&[("far", &entry(&server))]);
        let said = world.run("call far/go");
        assert_eq!(count(&log, "tools/call"), 1, "{era:?} {log:?}");
        let output = world.run("call far/go --json");
        assert!(output.contains(r#""outcomeKnown": false"#), "{era:?} {output}");
        assert!(!output.contains(SECRET), "{output}");
        assert_eq!(count(&log, "/elsewhere"), 0, "{era:?} {log:?}");
        said
    });
    assert_eq!(said[0], said[1]);
    assert_snapshot!(said[0], @r#"
    exit 1
    --- stderr
    MCP error: the server answered 307 Temporary Redirect (server "far", tool "go", phase protocol)
    The outcome is unknown: the tool may have run. Check before calling it again.
    hint: redirects are not followed for a call; reconnect, or put the new address into the entry
    "#);
}

#[test]
fn a_redirect_to_another_origin_gets_no_credentials_and_the_hint_shows_none() {
    let said = Era::ALL.map(|era| {
        let log = RequestLog::default();
        let server_log = Arc::clone(&log);
        let other = HttpServer::start(move |request, client| {
            note(&server_log, request);
            serve(era, request, client);
        });
        let location = other.url(&format!("/{SECRET}"));
        let server = HttpServer::start(move |_, client| write_to(client, &redirect_to(&location)));
        let world = World::new().own_servers(&[("far", &entry(&server))]);
        let run = |line: &str| {
            let said = world.run(line);
            assert!(!said.contains(SECRET), "{line}: {said}");
            said.replace(&server.url(""), "[server]").replace(&other.url(""), "[other]")
        };
        for line in ["test far --json", "call far/go", "call far/go --json", "tools", "doctor"] {
            run(line);
        }
        assert_eq!(count(&log, "with the token"), 0, "{era:?} {log:?}");
        run("test far")
    });
    assert_eq!(said[0], said[1]);
    assert_snapshot!(said[0], @r#"
    exit 3
    --- stderr
    error: Failed to connect to "far": [server]/mcp redirects to [other]/•••, which was not followed: the request carries credentials that are meant for the first address only
      hint: if you trust [other]/••• with the credentials, put that address into the configuration (`wharf get far`)
    "#);
}
