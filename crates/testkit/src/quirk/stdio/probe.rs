//! Quirks in the answer to the first question, `server/discover`.
//!
//! Most of these servers know only `initialize`; a client has to find that out on the same pipe,
//! or with a new process if the question ended the old one.

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS};

/// A legacy server that answers `server/discover` with this line.
const fn probed(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    reply: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Reply("server/discover", reply)).legacy()
}

/// A legacy server that answers `server/discover` with this code.
macro_rules! coded {
    ($name:literal, $code:literal, $message:literal) => {
        probed(
            $name,
            concat!("answers `server/discover` with the error ", $code),
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
    coded!("probe-code-32601", "-32601", "Method not found"),
    coded!("probe-code-32602", "-32602", "Invalid request parameters"),
    coded!("probe-code-32600", "-32600", "Invalid Request"),
    coded!("probe-code-32603", "-32603", "Internal error"),
    coded!("probe-code-32700", "-32700", "Parse error"),
    coded!("probe-code-32000", "-32000", "Bad Request: Server not initialized"),
    coded!("probe-code-32002", "-32002", "Server not initialized"),
    coded!("probe-code-0", "0", "unknown"),
    StdioQuirk::new(
        "probe-exit-0",
        "exits with 0 on `server/discover`",
        WORKS,
        Act::Code(|_, event| match event.asks("server/discover") {
            Some(_) => Flow::Exit(0),
            None => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-exit-1",
        "exits with 1 and a word on stderr on `server/discover`",
        WORKS,
        Act::Code(|_, event| match event.asks("server/discover") {
            Some(_) => {
                super::life::complain("error: expected initialize, got server/discover\n");
                Flow::Exit(1)
            }
            None => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-error-then-exit",
        "answers `server/discover` with an error and then exits",
        WORKS,
        Act::Code(|server, event| match event.asks("server/discover") {
            Some(request) => {
                server.answer(request);
                Flow::Exit(1)
            }
            None => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-silent",
        "never answers `server/discover`",
        WORKS,
        Act::Code(|_, event| match event.asks("server/discover") {
            Some(_) => Flow::Done,
            None => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-late-error",
        "answers `server/discover` with an error after it answered `initialize`",
        WORKS,
        Act::Code(|server, event| probe_later(server, event, None)),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-late-result",
        "answers `server/discover` like a modern server after it answered `initialize`; the first usable answer counts",
        WORKS,
        Act::Code(|server, event| {
            probe_later(
                server,
                event,
                Some(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#),
            )
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "probe-slow-modern",
        "answers `server/discover` as a modern server, but after 4 s (`QUIRK_DELAY_MS`)",
        WORKS,
        Act::Code(|_, event| {
            if event.asks("server/discover").is_some() {
                settings::pause(4_000);
            }
            Flow::Usual
        }),
    )
    .modern()
    .tagged(&[Tag::Waits]),
    probed(
        "probe-text",
        "answers `server/discover` with a line of text only",
        WARNS,
        "unknown method: server/discover",
    ),
    probed(
        "probe-empty-result",
        "answers `server/discover` with an empty result",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#,
    ),
    probed(
        "probe-null-result",
        "answers `server/discover` with null",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":null}"#,
    ),
    probed(
        "probe-text-result",
        "answers `server/discover` with a text as the result",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":"unknown method"}"#,
    ),
    probed(
        "probe-error-in-result",
        "answers `server/discover` with an error inside a result",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"isError":true,"content":[{"type":"text","text":"unknown method"}]}}"#,
    ),
    probed(
        "probe-without-versions",
        "answers `server/discover` without the supported versions",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"capabilities":{"tools":{}},"serverInfo":$INFO}}"#,
    ),
    probed(
        "probe-no-versions",
        "answers `server/discover` with an empty list of versions",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"supportedVersions":[],"capabilities":{"tools":{}}}}"#,
    ),
    probed(
        "probe-legacy-versions",
        "answers `server/discover` with legacy versions only",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"supportedVersions":["2025-06-18","2025-11-25"],"capabilities":{"tools":{}}}}"#,
    ),
    probed(
        "probe-error-id-null",
        "answers `server/discover` with an error whose id is null",
        WORKS,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}"#,
    ),
    probed(
        "probe-error-without-id",
        "answers `server/discover` with nothing but an error",
        WORKS,
        r#"{"error":{"code":-32601,"message":"Method not found"}}"#,
    ),
    probed(
        "probe-error-as-text",
        "answers `server/discover` with an error that is a text",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":"Method not found"}"#,
    ),
    probed(
        "probe-error-without-code",
        "answers `server/discover` with an error without a code",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"message":"Method not found"}}"#,
    ),
    probed(
        "probe-error-code-as-text",
        "answers `server/discover` with an error whose code is a text",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":"METHOD_NOT_FOUND","message":"no"}}"#,
    ),
    probed(
        "probe-32022-legacy",
        "answers `server/discover` with -32022 and legacy versions only",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2025-06-18","2025-11-25"],"requested":"2026-07-28"}}}"#,
    ),
    probed(
        "probe-32022-without-data",
        "answers `server/discover` with -32022 and does not say what it supports",
        WORKS,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"Unsupported protocol version"}}"#,
    ),
    StdioQuirk::new(
        "probe-32022-future",
        "refuses every request with -32022 and supports a version of the far future only",
        Expect::ConnectFails { because: Failure::NoCommonVersion },
        Act::Code(|server, event| match event {
            Event::Asked(request) => {
                server.say(&crate::quirk::answers::fill(
                    r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2099-01-01"],"requested":"2026-07-28"}}}"#,
                    request,
                ));
                Flow::Done
            }
            _ => Flow::Usual,
        }),
    )
    .modern(),
    StdioQuirk::new(
        "probe-32022-once",
        "answers the first `server/discover` with -32022 although it supports the version",
        WORKS,
        Act::Code(|server, event| {
            once(
                server,
                event,
                r#"{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}"#,
            )
        }),
    )
    .modern(),
    StdioQuirk::new(
        "probe-32020-once",
        "answers the first `server/discover` with -32020, which is about headers",
        WORKS,
        Act::Code(|server, event| {
            once(server, event, r#"{"code":-32020,"message":"Header mismatch"}"#)
        }),
    )
    .modern(),
    StdioQuirk::new(
        "probe-32021",
        "answers `server/discover` with -32021, yet serves every other modern request",
        WORKS,
        Act::Reply(
            "server/discover",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{}}}}}"#,
        ),
    )
    .modern(),
];

/// Answers the first `server/discover` with an error.
fn once(server: &mut Server, event: &Event<'_>, error: &str) -> Flow {
    match event.asks("server/discover") {
        Some(request) if server.times("server/discover") == 1 => {
            server.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, request.id()));
            Flow::Done
        }
        _ => Flow::Usual,
    }
}

/// Keeps `server/discover` open until `initialize` is answered.
fn probe_later(server: &mut Server, event: &Event<'_>, result: Option<&str>) -> Flow {
    if let Some(request) = event.asks("server/discover") {
        server.held.push_back(request.clone());
        return Flow::Done;
    }
    let Some(request) = event.asks("initialize") else { return Flow::Usual };
    server.answer(request);
    while let Some(probe) = server.held.pop_front() {
        match result {
            Some(result) => server.result(&probe, result),
            None => server.answer(&probe),
        }
    }
    Flow::Done
}
