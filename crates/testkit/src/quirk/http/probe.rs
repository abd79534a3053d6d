//! Quirks in the answer to the first question, `server/discover`, of legacy servers.

use super::Entry;
use super::script::{Script, Step, event, html, json, plain, send, stream};
use super::site::{Act, accepted};
use super::wire::Incoming;
use crate::quirk::answers::{self, Refusal, Request};
use crate::quirk::mode::WORKS;

/// Answers `server/discover` like this.
macro_rules! probed {
    ($name:literal, $sentence:literal, $expect:expr, |$request:pat_param| $script:expr) => {
        Entry::new(
            $name,
            concat!("answers `server/discover` with ", $sentence),
            $expect,
            Act::Code(|_, incoming| {
                let $request = probe(incoming)?;
                Some($script)
            }),
        )
        .legacy()
    };
}

pub(super) const QUIRKS: &[Entry] = &[
    probed!("probe-400-text", "400 \"Missing sessionId\"", WORKS, |_| {
        vec![send(plain("400 Bad Request", "Missing sessionId"))]
    }),
    probed!("probe-400-empty", "400 and nothing", WORKS, |_| {
        vec![send(plain("400 Bad Request", ""))]
    }),
    probed!("probe-404-page", "404 and a page", WORKS, |_| vec![send(html("404 Not Found"))]),
    probed!("probe-405-text", "405", WORKS, |_| {
        vec![send(plain("405 Method Not Allowed", "Method Not Allowed"))]
    }),
    probed!("probe-406", "406", WORKS, |_| vec![send(plain("406 Not Acceptable", "no"))]),
    probed!("probe-415", "415", WORKS, |_| vec![send(plain("415 Unsupported Media Type", ""))]),
    probed!("probe-422", "422 and details that are no JSON-RPC", WORKS, |_| {
        vec![send(json("422 Unprocessable Content", r#"{"detail":[{"msg":"field required"}]}"#))]
    }),
    probed!("probe-500-page", "500 and a page", WORKS, |_| {
        vec![send(html("500 Internal Server Error"))]
    }),
    probed!("probe-501", "501", WORKS, |_| vec![send(plain("501 Not Implemented", ""))]),
    probed!("probe-200-32601", "200 and the error -32601", WORKS, |request| {
        refused(request, "200 OK", -32601)
    }),
    probed!("probe-404-32601", "404 and the error -32601", WORKS, |request| {
        refused(request, "404 Not Found", -32601)
    }),
    probed!("probe-400-32602", "400 and the error -32602", WORKS, |request| {
        refused(request, "400 Bad Request", -32602)
    }),
    probed!("probe-200-empty-result", "200 and an empty result", WORKS, |request| {
        vec![send(json("200 OK", &answers::reply(request.id(), &Ok("{}".to_owned()))))]
    }),
    probed!("probe-stream-error", "an event stream with an error", WORKS, |request| {
        let refusal = Refusal::new(-32601, "Method not found");
        stream(&event(answers::reply(request.id(), &Err(refusal))))
    }),
    probed!("probe-stream-empty", "an event stream without any event", WORKS, |_| stream(":\n\n")),
    probed!("probe-202", "202 and nothing more", WORKS, |_| accepted()),
    probed!("probe-empty", "200 and nothing", WORKS, |_| vec![send(json("200 OK", ""))]),
    probed!("probe-page", "200 and a page", WORKS, |_| vec![send(html("200 OK"))]),
    probed!("probe-400-32022", "400 and the error -32022 with legacy versions", WORKS, |request| {
        let refusal = answers::unsupported_version(&["2025-06-18", "2025-11-25"]);
        vec![send(json("400 Bad Request", &answers::reply(request.id(), &Err(refusal))))]
    }),
    probed!("probe-stalls", "silence", WORKS, |_| vec![Step::Hang]),
    probed!("probe-drops", "a closed connection", WORKS, |_| vec![Step::Close]),
];

fn probe(incoming: &Incoming) -> Option<&Request> {
    incoming.request().filter(|request| request.method == "server/discover")
}

fn refused(request: &Request, status: &str, code: i64) -> Script {
    let refusal = Refusal::new(code, "no such method");
    vec![send(json(status, &answers::reply(request.id(), &Err(refusal))))]
}
