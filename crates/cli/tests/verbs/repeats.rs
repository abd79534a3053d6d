//! How often a call is sent over HTTP when it is refused, and what is not taken for its answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;

use crate::bridge::Era;
use crate::web::{Asked, TOOLS, Web, json, response, say};
use crate::world::World;

/// Which requests a server got, by their methods.
type Heard = Arc<Mutex<Vec<String>>>;

/// A server with one tool that answers calls with what `answer` makes of the call's number.
fn server(
    era: Era,
    answer: impl Fn(&Asked, usize) -> String + Send + Sync + 'static,
) -> (Web, Heard) {
    let (heard, calls) = (Heard::default(), AtomicUsize::new(0));
    let kept = Arc::clone(&heard);
    let web = Web::start(move |asked, client| {
        kept.lock().unwrap().push(asked.method().to_owned());
        match (asked.verb.as_str(), asked.method()) {
            ("POST", method) if method == era.first() => say(client, &asked.result(era.hello())),
            ("POST", "tools/list") => say(client, &asked.result(TOOLS)),
            ("POST", "tools/call") => {
                say(client, &answer(asked, calls.fetch_add(1, Ordering::SeqCst)));
            }
            ("POST", "server/discover") => say(client, &response("400 Bad Request", "", "")),
            ("POST", _) => say(client, &response("202 Accepted", "", "")),
            _ => say(client, &response("405 Method Not Allowed", "", "")),
        }
    });
    (web, heard)
}

fn refusal(asked: &Asked, code: i64) -> String {
    let id = asked.id();
    let error = format!(r#"{{"code":{code},"message":"Header mismatch"}}"#);
    json("400 Bad Request", &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// Calls the tool; returns what was said, and which requests of calls and lists there were.
fn call(server: &Web, heard: &Heard) -> (String, String) {
    let world =
        World::new().own_servers(&[("far", &format!(r#""url": "{}""#, server.url("/mcp")))]);
    let said = world.run("call far/go");
    let heard = heard.lock().unwrap();
    let heard = heard.iter().filter(|method| method.starts_with("tools/"));
    (said, heard.map(String::as_str).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_call_that_is_refused_for_its_headers_is_sent_once_more_after_listing_the_tools() {
    let (web, heard) = server(Era::Modern, |asked, _| refusal(asked, -32020));
    let (said, asked) = call(&web, &heard);
    assert_eq!(asked, "tools/list tools/call tools/list tools/call");
    assert_snapshot!(said, @r#"
    exit 1
    --- stderr
    MCP error: the server answered: Header mismatch (code -32020) (server "far", tool "go", phase protocol)
    The tool did not run; trying again can help.
    "#);
}

#[test]
fn a_call_that_is_refused_for_its_revision_is_sent_once_more() {
    let (web, heard) = server(Era::Modern, |asked, _| refusal(asked, -32022));
    assert_eq!(call(&web, &heard).1, "tools/list tools/call tools/call");
}

#[test]
fn a_legacy_server_that_uses_these_codes_gets_the_call_once() {
    for code in [-32020, -32022] {
        let (web, heard) = server(Era::Legacy, move |asked, _| refusal(asked, code));
        assert_eq!(call(&web, &heard).1, "tools/list tools/call", "{code}");
    }
}

#[test]
fn a_result_with_another_id_is_not_the_answer_to_a_call() {
    let said = Era::ALL.map(|era| {
        let (web, heard) = server(era, |_, _| {
            let result = r#"{"content":[{"type":"text","text":"of somebody else"}]}"#;
            json("200 OK", &format!(r#"{{"jsonrpc":"2.0","id":987654321,"result":{result}}}"#))
        });
        let (said, asked) = call(&web, &heard);
        assert_eq!(asked, "tools/list tools/call", "{era:?}");
        said
    });
    assert_eq!(said[0], said[1]);
    assert_snapshot!(said[0], @r#"
    exit 1
    --- stderr
    MCP error: the answer makes no sense: a result with another id (server "far", tool "go", phase decode)
    The outcome is unknown: the tool may have run. Check before calling it again.
    "#);
}
