//! Redirects: followed while connecting, never by a call, and never with what belongs to one origin.

use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;

use crate::bridge::Era;
use crate::web::{Asked, TOOLS, Web, response, say};
use crate::world::World;

const SECRET: &str = "s3cret-4711-value";

/// What a server was asked: the verb, the path, the method, and whether it got our header.
type Heard = Arc<Mutex<Vec<String>>>;

fn note(heard: &Heard, asked: &Asked) {
    let header = if asked.head.contains(SECRET) { " with the token" } else { "" };
    heard.lock().unwrap().push(format!("{} {} {}{header}", asked.verb, asked.path, asked.method()));
}

fn count(heard: &Heard, what: &str) -> usize {
    heard.lock().unwrap().iter().filter(|line| line.contains(what)).count()
}

fn moved(location: &str) -> String {
    response("307 Temporary Redirect", &format!("location: {location}\r\n"), "")
}

/// Answers like a server with one tool.
fn serve(era: Era, asked: &Asked, client: &mut TcpStream) {
    match (asked.verb.as_str(), asked.method()) {
        ("POST", method) if method == era.first() => say(client, &asked.result(era.hello())),
        ("POST", "tools/list") => say(client, &asked.result(TOOLS)),
        ("POST", "tools/call") => {
            say(client, &asked.result(r#"{"content":[{"type":"text","text":"gone"}]}"#));
        }
        ("POST", "server/discover") => say(client, &response("400 Bad Request", "", "")),
        ("POST", _) => say(client, &response("202 Accepted", "", "")),
        _ => say(client, &response("405 Method Not Allowed", "", "")),
    }
}

fn entry(server: &Web) -> String {
    format!(
        r#""url": "{}", "headers": {{ "Authorization": "Bearer {SECRET}" }}"#,
        server.url("/mcp")
    )
}

#[test]
fn an_address_that_is_found_while_connecting_is_used_for_calls() {
    for era in Era::ALL {
        let heard = Heard::default();
        let kept = Arc::clone(&heard);
        let server = Web::start(move |asked, client| {
            note(&kept, asked);
            match asked.path.as_str() {
                "/mcp/" => serve(era, asked, client),
                _ => say(client, &moved("/mcp/")),
            }
        });
        let world = World::new().own_servers(&[("far", &entry(&server))]);
        assert_eq!(world.run("call far/go"), "exit 0\n--- stdout\ngone", "{era:?}");
        assert_eq!(count(&heard, "POST /mcp/ tools/call with the token"), 1, "{era:?} {heard:?}");
        assert_eq!(count(&heard, "tools/call"), 1, "{era:?} {heard:?}");
    }
}

#[test]
fn a_redirect_of_a_call_is_not_followed_and_leaves_its_outcome_unknown() {
    let said = Era::ALL.map(|era| {
        let heard = Heard::default();
        let kept = Arc::clone(&heard);
        let server = Web::start(move |asked, client| {
            note(&kept, asked);
            match asked.method() {
                "tools/call" => say(client, &moved("/elsewhere")),
                _ => serve(era, asked, client),
            }
        });
        let world = World::new().own_servers(&[("far", &entry(&server))]);
        let said = world.run("call far/go");
        assert_eq!(count(&heard, "tools/call"), 1, "{era:?} {heard:?}");
        let told = world.run("call far/go --json");
        assert!(told.contains(r#""outcomeKnown": false"#), "{era:?} {told}");
        assert!(!told.contains(SECRET), "{told}");
        assert_eq!(count(&heard, "/elsewhere"), 0, "{era:?} {heard:?}");
        said
    });
    assert_eq!(said[0], said[1]);
    assert_snapshot!(said[0], @r#"
    exit 1
    --- stderr
    MCP error: the server answered 307 Temporary Redirect (server "far", tool "go", phase protocol)
    The outcome is unknown: the tool may have run. Check before calling it again.
    hint: a call is not sent again where a redirect leads; reconnect, or put that address into the entry
    "#);
}

#[test]
fn a_redirect_to_another_origin_gets_no_header_and_repeats_none_in_its_hint() {
    let said = Era::ALL.map(|era| {
        let heard = Heard::default();
        let kept = Arc::clone(&heard);
        let other = Web::start(move |asked, client| {
            note(&kept, asked);
            serve(era, asked, client);
        });
        let location = other.url(&format!("/{SECRET}"));
        let server = Web::start(move |_, client| say(client, &moved(&location)));
        let world = World::new().own_servers(&[("far", &entry(&server))]);
        let shown = |line: &str| {
            let said = world.run(line);
            assert!(!said.contains(SECRET), "{line}: {said}");
            said.replace(&server.url(""), "[server]").replace(&other.url(""), "[other]")
        };
        for line in ["test far --json", "call far/go", "call far/go --json", "tools", "doctor"] {
            shown(line);
        }
        assert_eq!(count(&heard, "with the token"), 0, "{era:?} {heard:?}");
        shown("test far")
    });
    assert_eq!(said[0], said[1]);
    assert_snapshot!(said[0], @r#"
    exit 3
    --- stderr
    error: Failed to connect to "far": [server]/mcp redirects to [other]/•••, which was not followed: the request carries credentials that are meant for the first address only
      hint: if you trust [other]/••• with the credentials, put that address into the configuration (wharf get far)
    "#);
}
