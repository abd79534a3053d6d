//! Quirks of the modern era: caching hints, result types, input that is required, subscriptions.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use crate::quirk::answers::{self, Request};
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

/// A whole reply to one method.
const fn says(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: (&'static str, &'static str),
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Reply(act.0, act.1)).modern()
}

const fn does(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Server, &Event<'_>) -> Flow,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Code(act)).modern()
}

/// The answer to `server/discover`, with these fields.
macro_rules! discovered {
    ($fields:literal) => {
        ("server/discover", concat!(r#"{"jsonrpc":"2.0","id":$ID,"result":{"#, $fields, "}}"))
    };
}

/// The answer to `tools/list`, with these fields.
macro_rules! listed {
    ($fields:literal) => {
        (
            "tools/list",
            concat!(r#"{"jsonrpc":"2.0","id":$ID,"result":{"tools":[$TOOLS]"#, $fields, "}}"),
        )
    };
}

/// The answer to `tools/call`, with these fields.
macro_rules! called {
    ($fields:literal) => {
        (
            "tools/call",
            concat!(
                r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":$TEXT}]"#,
                $fields,
                "}}"
            ),
        )
    };
}

/// A quirk that shows to who listens.
macro_rules! listens {
    ($name:literal, $sentence:literal, |$server:ident, $request:ident| $act:block) => {
        does($name, $sentence, WORKS, |$server, event| {
            let Some($request) = event.asks("subscriptions/listen") else { return Flow::Usual };
            $act
            Flow::Done
        })
        .tagged(&[Tag::NeedsListening])
    };
}

const ELICIT: &str = r#""berth":{"method":"elicitation/create","params":{"mode":"form","message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}}}}}"#;
const ROOTS: &str = r#""roots":{"method":"roots/list","params":{}}"#;

/// A state that breaks if anybody trims, escapes or normalises it.
const STATE: &str = "  \u{1F6A2} e\u{301} \"quoted\" \\ / \u{0}\u{7f}\r\n\t<&> %20=?base64?eA==?= ";

pub(super) const QUIRKS: &[StdioQuirk] = &[
    says("ttl-missing", "gives no caching hints", WORKS, listed!(r#","resultType":"complete""#)),
    says(
        "ttl-negative",
        "gives a negative time to live",
        WORKS,
        listed!(r#","resultType":"complete","ttlMs":-5,"cacheScope":"public""#),
    ),
    says(
        "ttl-text",
        "gives a time to live that is a text, and a scope that nobody knows",
        WORKS,
        listed!(r#","resultType":"complete","ttlMs":"5s","cacheScope":"galaxy""#),
    ),
    says(
        "ttl-huge",
        "gives a time to live that fits nothing",
        WORKS,
        listed!(r#","resultType":"complete","ttlMs":1e30,"cacheScope":"private""#),
    ),
    says("result-type-missing", "does not say the type of its results", WORKS, called!("")),
    says(
        "result-type-null",
        "says null as the type of its results",
        WORKS,
        called!(r#","resultType":null"#),
    ),
    says(
        "result-type-unknown",
        "returns a type of result that nobody knows",
        call_fails(Failure::BadResult),
        called!(r#","resultType":"hologram""#),
    ),
    says(
        "versions-all",
        "supports all five versions",
        WORKS,
        discovered!(
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"],"capabilities":{"tools":{}}"#
        ),
    ),
    says(
        "versions-odd",
        "has numbers, null and the far future among its versions",
        WARNS,
        discovered!(
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":[5,null,"2099-01-01","2026-07-28"],"capabilities":{"tools":{}}"#
        ),
    ),
    says(
        "versions-text",
        "has one version where a list should be",
        WARNS,
        discovered!(
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":"2026-07-28","capabilities":{"tools":{}}"#
        ),
    ),
    says(
        "discover-bare",
        "discovers nothing but its versions",
        WARNS,
        discovered!(r#""supportedVersions":["2026-07-28"]"#),
    ),
    says(
        "discover-odd",
        "discovers capabilities, instructions and a name of wrong types",
        WARNS,
        discovered!(
            r#""resultType":"complete","ttlMs":"x","cacheScope":1,"supportedVersions":["2026-07-28"],"capabilities":{"tools":true,"extensions":[]},"instructions":{},"_meta":{"io.modelcontextprotocol/serverInfo":"quirk"}"#
        ),
    ),
    does("legacy-shapes", "answers everything like a legacy server", WARNS, legacy_shapes),
    does(
        "dual-era",
        "answers `initialize` as well, and lists only the modern version",
        WORKS,
        |server, event| {
            let Some(request) = event.asks("initialize") else { return Flow::Usual };
            server.result(request, r#"{"resultType":"complete","protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":$INFO}"#);
            Flow::Done
        },
    ),
    does("input-once", "wants to know something before it answers a call", WORKS, |s, e| {
        input(s, e, &[("berth", ELICIT)], Some("state-1"))
    })
    .tagged(&[Tag::NeedsInput]),
    does("input-without-state", "wants to know something and has no state", WORKS, |s, e| {
        input(s, e, &[("berth", ELICIT)], None)
    })
    .tagged(&[Tag::NeedsInput]),
    does("input-twofold", "wants to know two things at once", WORKS, |s, e| {
        input(s, e, &[("berth", ELICIT), ("roots", ROOTS)], Some("state-2"))
    })
    .tagged(&[Tag::NeedsInput]),
    does("input-state-only", "only wants to be asked again, with its state", WORKS, |s, e| {
        input(s, e, &[], Some("state-3"))
    }),
    does(
        "input-exact-state",
        "wants its state back byte for byte, and it is full of traps",
        WORKS,
        |s, e| input(s, e, &[], Some(STATE)),
    ),
    does("input-empty-state", "wants its empty state back", WORKS, |s, e| {
        input(s, e, &[], Some(""))
    }),
    says(
        "input-for-ever",
        "wants to be asked again for ever",
        call_fails(Failure::Any),
        called!(r#","resultType":"input_required","requestState":"again""#),
    ),
    says(
        "input-of-nothing",
        "wants input, but neither says which nor gives a state; for ever",
        call_fails(Failure::Any),
        called!(r#","resultType":"input_required""#),
    ),
    says(
        "input-unknown",
        "wants something that nobody knows",
        call_fails(Failure::Any),
        called!(
            r#","resultType":"input_required","inputRequests":{"a":{"method":"harbour/pilot","params":{}}},"requestState":"s""#
        ),
    ),
    says(
        "input-odd",
        "wants input in shapes that make no sense",
        call_fails(Failure::Any),
        called!(
            r#","resultType":"input_required","inputRequests":[{"method":7},null],"requestState":5"#
        ),
    ),
    says(
        "input-for-list",
        "wants input before it lists its tools, which is not allowed",
        Expect::ListFails { because: Failure::BadResult },
        (
            "tools/list",
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","requestState":"s"}}"#,
        ),
    ),
    listens!("listen-notifies", "tells who listens that its tools changed", |server, request| {
        server.acknowledge(request);
        changed(server, request.id());
    }),
    listens!(
        "listen-early",
        "tells of changes before it says that it listens",
        |server, request| {
            changed(server, request.id());
            server.acknowledge(request);
        }
    ),
    listens!("listen-without-ack", "never says that it listens", |server, request| {
        changed(server, request.id());
    }),
    listens!(
        "listen-wrong-id",
        "tells of changes of a subscription that nobody has",
        |server, request| {
            server.acknowledge(request);
            changed(server, "987654");
            server.notify("notifications/tools/list_changed", "{}");
        }
    ),
    listens!("listen-nothing-honoured", "honours nothing of what is asked", |server, request| {
        let id = request.id();
        server.notify(
            "notifications/subscriptions/acknowledged",
            &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{}}}}"#),
        );
    }),
    listens!("listen-ends-by-result", "ends the subscription with a result", |server, request| {
        server.acknowledge(request);
        let id = request.id();
        server.result(
            request,
            &format!(r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
        );
    }),
    listens!(
        "listen-ends-by-cancel",
        "ends the subscription by cancelling it",
        |server, request| {
            server.acknowledge(request);
            let id = request.id();
            server.notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#));
        }
    ),
    listens!("listen-refused", "does not know `subscriptions/listen`", |server, request| {
        server.refuse(request, -32601, "Method not found");
    }),
];

fn changed(server: &mut Server, id: &str) {
    server.notify(
        "notifications/tools/list_changed",
        &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
    );
}

fn legacy_shapes(server: &mut Server, event: &Event<'_>) -> Flow {
    let Event::Asked(request) = event else { return Flow::Usual };
    let plain = match request.method.as_str() {
        "server/discover" => {
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":$INFO}"#
        }
        "tools/list" => r#"{"tools":[$TOOLS]}"#,
        "tools/call" => r#"{"content":[{"type":"text","text":$TEXT}]}"#,
        _ => return Flow::Usual,
    };
    let result = answers::fill(plain, request);
    server.say(&answers::reply(request.id(), &Ok(result)));
    Flow::Done
}

/// Wants input once, and looks at what comes back.
fn input(
    server: &mut Server,
    event: &Event<'_>,
    wanted: &[(&str, &str)],
    state: Option<&str>,
) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let can_ask = server.can("/elicitation") && server.can("/roots");
    if !wanted.is_empty() && !can_ask {
        return Flow::Usual;
    }
    let Some(first) = server.held.pop_front() else {
        server.held.push_back(request.clone());
        let requests = wanted.iter().map(|(_, request)| *request).collect::<Vec<_>>().join(",");
        let requests = (!wanted.is_empty()).then(|| format!(r#","inputRequests":{{{requests}}}"#));
        let state = state.map(|state| format!(r#","requestState":{}"#, Value::from(state)));
        let (requests, state) = (requests.unwrap_or_default(), state.unwrap_or_default());
        server.result(request, &format!(r#"{{"resultType":"input_required"{requests}{state}}}"#));
        return Flow::Done;
    };
    match wrong_retry(&first, request, wanted, state) {
        Some(what) => {
            server.refuse(request, -32602, what);
            Flow::Done
        }
        None => Flow::Usual,
    }
}

/// Says what is wrong with the second try.
fn wrong_retry(
    first: &Request,
    second: &Request,
    wanted: &[(&str, &str)],
    state: Option<&str>,
) -> Option<&'static str> {
    let same = |name: &str| first.params.get(name) == second.params.get(name);
    let responses = second.params.get("inputResponses").and_then(Value::as_object);
    let is_answered = match responses {
        Some(responses) => {
            responses.len() == wanted.len()
                && wanted.iter().all(|(key, _)| responses.contains_key(*key))
        }
        None => wanted.is_empty(),
    };
    if first.id == second.id {
        Some("the second try has the id of the first")
    } else if !same("name") || !same("arguments") {
        Some("the second try calls something else")
    } else if second.params.get("requestState") != state.map(Value::from).as_ref() {
        Some("the state did not come back as it was")
    } else if !is_answered {
        Some("the input is not what was asked for")
    } else {
        None
    }
}
