//! Quirks of the modern era: caching hints, result types, required input, subscriptions.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};
use crate::quirk::responses::{self, ClientMessage};

/// Responds to one method with this text.
const fn response(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    method_and_text: (&'static str, &'static str),
) -> StdioQuirk {
    StdioQuirk::new(
        name,
        description,
        expect,
        StdioBehavior::Response(method_and_text.0, method_and_text.1),
    )
    .modern()
}

const fn handler(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    handle: fn(&mut StdioServer, &Event<'_>) -> NextStep,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Handler(handle)).modern()
}

/// Makes a response to `server/discover` with these members.
macro_rules! discover_response {
    ($members:literal) => {
        ("server/discover", concat!(r#"{"jsonrpc":"2.0","id":$ID,"result":{"#, $members, "}}"))
    };
}

/// Makes a response to `tools/list` with these members.
macro_rules! list_response {
    ($members:literal) => {
        (
            "tools/list",
            concat!(r#"{"jsonrpc":"2.0","id":$ID,"result":{"tools":[$TOOLS]"#, $members, "}}"),
        )
    };
}

/// Makes a response to `tools/call` with these members.
macro_rules! call_response {
    ($members:literal) => {
        (
            "tools/call",
            concat!(
                r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":$TEXT}]"#,
                $members,
                "}}"
            ),
        )
    };
}

/// Handles `subscriptions/listen`.
macro_rules! subscription {
    ($name:literal, $description:literal, |$server:ident, $request:ident| $block:block) => {
        handler($name, $description, WORKS, |$server, event| {
            let Some($request) = event.request("subscriptions/listen") else { return NextStep::Default };
            $block
            NextStep::Done
        })
        .tagged(&[ModeTag::NeedsListening])
    };
}

const ELICIT: &str = r#""berth":{"method":"elicitation/create","params":{"mode":"form","message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}}}}}"#;
const ROOTS: &str = r#""roots":{"method":"roots/list","params":{}}"#;

/// A state that changes if a client trims, escapes or normalizes it.
const STATE: &str = "  \u{1F6A2} e\u{301} \"quoted\" \\ / \u{0}\u{7f}\r\n\t<&> %20=?base64?eA==?= ";

pub(super) const QUIRKS: &[StdioQuirk] = &[
    response(
        "ttl-missing",
        "sends no caching hints",
        WORKS,
        list_response!(r#","resultType":"complete""#),
    ),
    response(
        "ttl-negative",
        "sends a negative time to live",
        WORKS,
        list_response!(r#","resultType":"complete","ttlMs":-5,"cacheScope":"public""#),
    ),
    response(
        "ttl-text",
        "sends a time to live that is a string, and an unknown scope",
        WORKS,
        list_response!(r#","resultType":"complete","ttlMs":"5s","cacheScope":"galaxy""#),
    ),
    response(
        "ttl-huge",
        "sends a time to live that overflows an integer",
        WORKS,
        list_response!(r#","resultType":"complete","ttlMs":1e30,"cacheScope":"private""#),
    ),
    response(
        "result-type-missing",
        "sends results without `resultType`",
        WORKS,
        call_response!(""),
    ),
    response(
        "result-type-null",
        "sends results with `resultType: null`",
        WORKS,
        call_response!(r#","resultType":null"#),
    ),
    response(
        "result-type-unknown",
        "returns an unknown `resultType`",
        call_fails(FailureReason::BadResult),
        call_response!(r#","resultType":"hologram""#),
    ),
    response(
        "versions-all",
        "supports all five versions",
        WORKS,
        discover_response!(
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"],"capabilities":{"tools":{}}"#
        ),
    ),
    response(
        "versions-invalid",
        "lists a number, null and an unknown version among its versions",
        WARNS,
        discover_response!(
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":[5,null,"2099-01-01","2026-07-28"],"capabilities":{"tools":{}}"#
        ),
    ),
    response(
        "versions-text",
        "sends one version instead of a list",
        WARNS,
        discover_response!(
            r#""resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":"2026-07-28","capabilities":{"tools":{}}"#
        ),
    ),
    response(
        "discover-bare",
        "responds to `server/discover` with its versions only",
        WARNS,
        discover_response!(r#""supportedVersions":["2026-07-28"]"#),
    ),
    response(
        "discover-invalid",
        "responds to `server/discover` with capabilities, instructions and `serverInfo` of wrong types",
        WARNS,
        discover_response!(
            r#""resultType":"complete","ttlMs":"x","cacheScope":1,"supportedVersions":["2026-07-28"],"capabilities":{"tools":true,"extensions":[]},"instructions":{},"_meta":{"io.modelcontextprotocol/serverInfo":"quirk"}"#
        ),
    ),
    handler("legacy-shapes", "responds to everything like a legacy server", WARNS, legacy_shapes),
    handler(
        "dual-era",
        "supports `initialize` as well, and lists only the modern version",
        WORKS,
        |server, event| {
            let Some(request) = event.request("initialize") else { return NextStep::Default };
            server.send_result(request, r#"{"resultType":"complete","protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":$INFO}"#);
            NextStep::Done
        },
    ),
    handler("input-once", "requires input before it responds to a call", WORKS, |server, event| {
        require_input(server, event, &[("berth", ELICIT)], Some("state-1"))
    })
    .tagged(&[ModeTag::NeedsInput]),
    handler("input-without-state", "requires input and sends no state", WORKS, |server, event| {
        require_input(server, event, &[("berth", ELICIT)], None)
    })
    .tagged(&[ModeTag::NeedsInput]),
    handler("input-twofold", "requires two inputs at once", WORKS, |server, event| {
        require_input(server, event, &[("berth", ELICIT), ("roots", ROOTS)], Some("state-2"))
    })
    .tagged(&[ModeTag::NeedsInput]),
    handler(
        "input-state-only",
        "requires a second request with its state, and no input",
        WORKS,
        |server, event| require_input(server, event, &[], Some("state-3")),
    ),
    handler(
        "input-exact-state",
        "requires its state back byte for byte; it has special characters",
        WORKS,
        |server, event| require_input(server, event, &[], Some(STATE)),
    ),
    handler("input-empty-state", "requires its empty state back", WORKS, |server, event| {
        require_input(server, event, &[], Some(""))
    }),
    response(
        "input-for-ever",
        "requires another request endlessly",
        call_fails(FailureReason::TooManyRounds),
        call_response!(r#","resultType":"input_required","requestState":"again""#),
    ),
    response(
        "input-of-nothing",
        "requires input, but sends neither input requests nor a state, endlessly",
        call_fails(FailureReason::TooManyRounds),
        call_response!(r#","resultType":"input_required""#),
    ),
    response(
        "input-unknown",
        "requires input with an unknown method",
        call_fails(FailureReason::InputUnavailable),
        call_response!(
            r#","resultType":"input_required","inputRequests":{"a":{"method":"harbour/pilot","params":{}}},"requestState":"s""#
        ),
    ),
    response(
        "input-invalid",
        "sends input requests and a state of wrong types",
        call_fails(FailureReason::TooManyRounds),
        call_response!(
            r#","resultType":"input_required","inputRequests":[{"method":7},null],"requestState":5"#
        ),
    ),
    response(
        "input-for-list",
        "requires input before it lists its tools, which is not allowed",
        ExpectedOutcome::ListFails { because: FailureReason::BadResult },
        (
            "tools/list",
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","requestState":"s"}}"#,
        ),
    ),
    subscription!(
        "listen-notifies",
        "notifies a subscription that its tools changed",
        |server, request| {
            server.acknowledge_subscription(request);
            notify_list_changed(server, request.id());
        }
    ),
    subscription!(
        "listen-early",
        "sends notifications of a subscription before the acknowledgement",
        |server, request| {
            notify_list_changed(server, request.id());
            server.acknowledge_subscription(request);
        }
    ),
    subscription!("listen-without-ack", "never acknowledges a subscription", |server, request| {
        notify_list_changed(server, request.id());
    }),
    subscription!(
        "listen-wrong-id",
        "sends notifications with an unknown and with no subscription id",
        |server, request| {
            server.acknowledge_subscription(request);
            notify_list_changed(server, "987654");
            server.notify("notifications/tools/list_changed", "{}");
        }
    ),
    subscription!(
        "listen-nothing-honoured",
        "acknowledges a subscription with an empty filter",
        |server, request| {
            let id = request.id();
            server.notify(
            "notifications/subscriptions/acknowledged",
            &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{}}}}"#),
        );
        }
    ),
    subscription!(
        "listen-ends-by-result",
        "ends the subscription with a result",
        |server, request| {
            server.acknowledge_subscription(request);
            let id = request.id();
            server.send_result(
            request,
            &format!(r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
        );
        }
    ),
    subscription!(
        "listen-ends-by-cancel",
        "ends the subscription by cancelling it",
        |server, request| {
            server.acknowledge_subscription(request);
            let id = request.id();
            server.notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#));
        }
    ),
    subscription!(
        "listen-refused",
        "does not support `subscriptions/listen`",
        |server, request| {
            server.send_error(request, -32601, "Method not found");
        }
    ),
];

fn notify_list_changed(server: &mut StdioServer, id: &str) {
    server.notify(
        "notifications/tools/list_changed",
        &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
    );
}

fn legacy_shapes(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Event::Request(request) = event else { return NextStep::Default };
    let plain = match request.method.as_str() {
        "server/discover" => {
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":$INFO}"#
        }
        "tools/list" => r#"{"tools":[$TOOLS]}"#,
        "tools/call" => r#"{"content":[{"type":"text","text":$TEXT}]}"#,
        _ => return NextStep::Default,
    };
    let result = responses::fill_placeholders(plain, request);
    server.send_line(&responses::rpc_response(request.id(), &Ok(result)));
    NextStep::Done
}

/// Requires input once, and checks the second request.
fn require_input(
    server: &mut StdioServer,
    event: &Event<'_>,
    inputs: &[(&str, &str)],
    state: Option<&str>,
) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let can_request = server.client_has("/elicitation") && server.client_has("/roots");
    if !inputs.is_empty() && !can_request {
        return NextStep::Default;
    }
    let Some(first) = server.held_requests.pop_front() else {
        server.held_requests.push_back(request.clone());
        let requests = inputs.iter().map(|(_, request)| *request).collect::<Vec<_>>().join(",");
        let requests = (!inputs.is_empty()).then(|| format!(r#","inputRequests":{{{requests}}}"#));
        let state = state.map(|state| format!(r#","requestState":{}"#, Value::from(state)));
        let (requests, state) = (requests.unwrap_or_default(), state.unwrap_or_default());
        server.send_result(
            request,
            &format!(r#"{{"resultType":"input_required"{requests}{state}}}"#),
        );
        return NextStep::Done;
    };
    match retry_error(&first, request, inputs, state) {
        Some(what) => {
            server.send_error(request, -32602, what);
            NextStep::Done
        }
        None => NextStep::Default,
    }
}

/// Returns what is wrong with the second request.
fn retry_error(
    first: &ClientMessage,
    second: &ClientMessage,
    inputs: &[(&str, &str)],
    state: Option<&str>,
) -> Option<&'static str> {
    let same = |name: &str| first.params.get(name) == second.params.get(name);
    let responses = second.params.get("inputResponses").and_then(Value::as_object);
    let is_answered = match responses {
        Some(responses) => {
            responses.len() == inputs.len()
                && inputs.iter().all(|(key, _)| responses.contains_key(*key))
        }
        None => inputs.is_empty(),
    };
    if first.id == second.id {
        Some("the second request has the id of the first")
    } else if !same("name") || !same("arguments") {
        Some("the second request has another tool or other arguments")
    } else if second.params.get("requestState") != state.map(Value::from).as_ref() {
        Some("the state was changed")
    } else if !is_answered {
        Some("the input does not match the requested input")
    } else {
        None
    }
}
