//! Retries of a call over HTTP that is refused, and responses that do not belong to the call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;

use crate::http_server::{HttpRequest, HttpServer, LIST_RESULT, json_response, response, write_to};
use crate::server_variants::Era;
use crate::world::World;

/// The methods of the requests that a server received.
type RequestLog = Arc<Mutex<Vec<String>>>;

/// A server with one tool; `answer` makes the response to a call from the number of the call.
fn server(
    era: Era,
    answer: impl Fn(&HttpRequest, usize) -> String + Send + Sync + 'static,
) -> (HttpServer, RequestLog) {
    let (log, calls) = (RequestLog::default(), AtomicUsize::new(0));
    let server_log = Arc::clone(&log);
    let web = HttpServer::start(move |request, client| {
        server_log.lock().unwrap().push(request.method().to_owned());
        match (request.verb.as_str(), request.method()) {
            ("POST", method) if method == era.first_method() => {
                write_to(client, &request.result(era.first_result()));
            }
            ("POST", "tools/list") => write_to(client, &request.result(LIST_RESULT)),
            ("POST", "tools/call") => {
                write_to(client, &answer(request, calls.fetch_add(1, Ordering::SeqCst)));
            }
            ("POST", "server/discover") => write_to(client, &response("400 Bad Request", "", "")),
            ("POST", _) => write_to(client, &response("202 Accepted", "", "")),
            _ => write_to(client, &response("405 Method Not Allowed", "", "")),
        }
    });
    (web, log)
}

fn refusal(request: &HttpRequest, code: i64) -> String {
    let id = request.id();
    let error = format!(r#"{{"code":{code},"message":"Header mismatch"}}"#);
    json_response("400 Bad Request", &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// Calls the tool; returns the output and the `tools/` methods that the server received.
fn call(server: &HttpServer, log: &RequestLog) -> (String, String) {
    let world =
        World::new().own_servers(&[("far", &format!(r#""url": "{}""#, server.url("/mcp")))]);
    let output = world.run("call far/go");
    let log = log.lock().unwrap();
    let log = log.iter().filter(|method| method.starts_with("tools/"));
    (output, log.map(String::as_str).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_call_refused_for_its_headers_is_retried_once_after_listing_the_tools() {
    let (web, log) = server(Era::Modern, |request, _| refusal(request, -32020));
    let (output, methods) = call(&web, &log);
    assert_eq!(methods, "tools/list tools/call tools/list tools/call");
    assert_snapshot!(output, @r#"
    exit 1
    --- stderr
    MCP error: the server answered: Header mismatch (code -32020) (server "far", tool "go", phase protocol)
    The tool did not run; trying again can help.
    "#);
}

#[test]
fn a_call_refused_for_its_revision_is_retried_once() {
    let (web, log) = server(Era::Modern, |request, _| refusal(request, -32022));
    assert_eq!(call(&web, &log).1, "tools/list tools/call tools/call");
}

#[test]
fn a_legacy_server_that_uses_these_codes_gets_no_retry() {
    for code in [-32020, -32022] {
        let (web, log) = server(Era::Legacy, move |request, _| refusal(request, code));
        assert_eq!(call(&web, &log).1, "tools/list tools/call", "{code}");
    }
}

#[test]
fn a_result_with_another_id_is_not_accepted_for_a_call() {
    let output = Era::ALL.map(|era| {
        let (web, log) = server(era, |_, _| {
            let result = r#"{"content":[{"type":"text","text":"of somebody else"}]}"#;
            json_response(
                "200 OK",
                &format!(r#"{{"jsonrpc":"2.0","id":987654321,"result":{result}}}"#),
            )
        });
        let (output, methods) = call(&web, &log);
        assert_eq!(methods, "tools/list tools/call", "{era:?}");
        output
    });
    assert_eq!(output[0], output[1]);
    assert_snapshot!(output[0], @r#"
    exit 1
    --- stderr
    MCP error: the response is invalid: the result has another id (server "far", tool "go", phase decode)
    The outcome is unknown: the tool may have run. Check before calling it again.
    "#);
}
