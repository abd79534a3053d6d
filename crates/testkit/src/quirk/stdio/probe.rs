//! Quirks of how servers respond to the probe, the first request `server/discover`.
//!
//! Most of these servers support only `initialize`. A client must find that out on the same pipe,
//! or with a new process if the probe ended the first one.

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS};

/// Responds to `server/discover` with this line, as a legacy server.
const fn probe_response(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    response: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Response("server/discover", response))
        .legacy()
}

/// Responds to `server/discover` with this error code, as a legacy server.
macro_rules! error_code {
    ($name:literal, $code:literal, $message:literal) => {
        probe_response(
            $name,
            concat!("responds to `server/discover` with the error ", $code),
            WORKS,
            concat!(
                r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":"#,
                $code,
                r#","message":""#,
                $message,
                r#""}}"#
            ),
        )
    };
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    error_code!("probe-code-32601", "-32601", "Method not found"),
    error_code!("probe-code-32602", "-32602", "Invalid request parameters"),
    error_code!("probe-code-32600", "-32600", "Invalid Request"),
    error_code!("probe-code-32603", "-32603", "Internal error"),
    error_code!("probe-code-32700", "-32700", "Parse error"),
    error_code!("probe-code-32000", "-32000", "Bad Request: Server not initialized"),
    error_code!("probe-code-32002", "-32002", "Server not initialized"),
    error_code!("probe-code-0", "0", "unknown"),
    StdioQuirk::new(
        "probe-exit-0",
        "exits with 0 on `server/discover`",
        WORKS,
        StdioBehavior::Handler(|_, event| match event.request("server/discover") {
            Some(_) => NextStep::Exit(0),
            None => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-exit-1",
        "exits with 1 and a message on stderr on `server/discover`",
        WORKS,
        StdioBehavior::Handler(|_, event| match event.request("server/discover") {
            Some(_) => {
                super::process::write_stderr("error: expected initialize, got server/discover\n");
                NextStep::Exit(1)
            }
            None => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-error-then-exit",
        "responds to `server/discover` with an error and then exits",
        WORKS,
        StdioBehavior::Handler(|server, event| match event.request("server/discover") {
            Some(request) => {
                server.respond(request);
                NextStep::Exit(1)
            }
            None => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-silent",
        "never responds to `server/discover`",
        WORKS,
        StdioBehavior::Handler(|_, event| match event.request("server/discover") {
            Some(_) => NextStep::Done,
            None => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-late-error",
        "responds to `server/discover` with an error after the response to `initialize`",
        WORKS,
        StdioBehavior::Handler(|server, event| respond_later(server, event, None)),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-late-result",
        "responds to `server/discover` like a modern server after the response to `initialize`; the first usable response takes precedence",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            respond_later(
                server,
                event,
                Some(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#),
            )
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-slow-modern",
        "responds to `server/discover` like a modern server, but after 4 s (`QUIRK_DELAY_MS`)",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if event.request("server/discover").is_some() {
                environment::pause(4_000);
            }
            NextStep::Default
        }),
    )
    .modern()
    .tagged(&[ModeTag::Waits]),
    probe_response(
        "probe-text",
        "responds to `server/discover` with a line of text only",
        WARNS,
        "unknown method: server/discover",
    ),
    probe_response(
        "probe-empty-result",
        "responds to `server/discover` with an empty result",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#,
    ),
    probe_response(
        "probe-null-result",
        "responds to `server/discover` with null",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":null}"#,
    ),
    probe_response(
        "probe-text-result",
        "responds to `server/discover` with a string as the result",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":"unknown method"}"#,
    ),
    probe_response(
        "probe-error-in-result",
        "responds to `server/discover` with an error inside a result",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"isError":true,"content":[{"type":"text","text":"unknown method"}]}}"#,
    ),
    probe_response(
        "probe-without-versions",
        "responds to `server/discover` without the supported versions",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"capabilities":{"tools":{}},"serverInfo":$INFO}}"#,
    ),
    probe_response(
        "probe-no-versions",
        "responds to `server/discover` with an empty list of versions",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"supportedVersions":[],"capabilities":{"tools":{}}}}"#,
    ),
    probe_response(
        "probe-legacy-versions",
        "responds to `server/discover` with legacy versions only",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"supportedVersions":["2025-06-18","2025-11-25"],"capabilities":{"tools":{}}}}"#,
    ),
    probe_response(
        "probe-error-id-null",
        "responds to `server/discover` with an error whose id is null",
        WORKS,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}"#,
    ),
    probe_response(
        "probe-error-without-id",
        "responds to `server/discover` with an error without an id",
        WORKS,
        r#"{"error":{"code":-32601,"message":"Method not found"}}"#,
    ),
    probe_response(
        "probe-error-as-text",
        "responds to `server/discover` with an error that is a string",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":"Method not found"}"#,
    ),
    probe_response(
        "probe-error-without-code",
        "responds to `server/discover` with an error without a code",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"message":"Method not found"}}"#,
    ),
    probe_response(
        "probe-error-code-as-text",
        "responds to `server/discover` with an error whose code is a string",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":"METHOD_NOT_FOUND","message":"no"}}"#,
    ),
    probe_response(
        "probe-32022-legacy",
        "responds to `server/discover` with -32022 and legacy versions only",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2025-06-18","2025-11-25"],"requested":"2026-07-28"}}}"#,
    ),
    probe_response(
        "probe-32022-without-data",
        "responds to `server/discover` with -32022 without the supported versions",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"Unsupported protocol version"}}"#,
    ),
    StdioQuirk::new(
        "probe-32022-future",
        "rejects every request with -32022 and supports only a version of the far future",
        ExpectedOutcome::ConnectFails { because: FailureReason::NoCommonVersion },
        StdioBehavior::Handler(|server, event| match event {
            Event::Request(request) => {
                server.send_line(&crate::quirk::responses::fill_placeholders(
                    r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2099-01-01"],"requested":"2026-07-28"}}}"#,
                    request,
                ));
                NextStep::Done
            }
            _ => NextStep::Default,
        }),
    )
    .modern(),
    StdioQuirk::new(
        "probe-32022-once",
        "responds to the first `server/discover` with -32022 although it supports the version",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            error_once(
                server,
                event,
                r#"{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}"#,
            )
        }),
    )
    .modern(),
    StdioQuirk::new(
        "probe-32020-once",
        "responds to the first `server/discover` with -32020, which is about HTTP headers",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            error_once(server, event, r#"{"code":-32020,"message":"Header mismatch"}"#)
        }),
    )
    .modern(),
    StdioQuirk::new(
        "probe-32021",
        "responds to `server/discover` with -32021, but handles every other modern request",
        WORKS,
        StdioBehavior::Response(
            "server/discover",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{}}}}}"#,
        ),
    )
    .modern(),
];

/// Responds to the first `server/discover` with an error.
fn error_once(server: &mut StdioServer, event: &Event<'_>, error: &str) -> NextStep {
    match event.request("server/discover") {
        Some(request) if server.message_count("server/discover") == 1 => {
            server.send_line(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#,
                request.id()
            ));
            NextStep::Done
        }
        _ => NextStep::Default,
    }
}

/// Delays the response to `server/discover` until after the response to `initialize`.
fn respond_later(server: &mut StdioServer, event: &Event<'_>, result: Option<&str>) -> NextStep {
    if let Some(request) = event.request("server/discover") {
        server.held_requests.push_back(request.clone());
        return NextStep::Done;
    }
    let Some(request) = event.request("initialize") else { return NextStep::Default };
    server.respond(request);
    while let Some(probe) = server.held_requests.pop_front() {
        match result {
            Some(result) => server.send_result(&probe, result),
            None => server.respond(&probe),
        }
    }
    NextStep::Done
}
