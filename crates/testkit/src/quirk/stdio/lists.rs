//! Quirks of the result of `tools/list`: its shape, cursors, pages, sizes.

use serde_json::Value;

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS};
use crate::quirk::responses::ClientMessage;

/// Connects, and lists no tools.
const NO_TOOLS: ExpectedOutcome = ExpectedOutcome::Works { tools: 0, warnings: true };
const THREE_TOOLS: ExpectedOutcome = ExpectedOutcome::Works { tools: 3, warnings: false };

const fn tools_list_result(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Result("tools/list", result))
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    tools_list_result(
        "tools-as-object",
        "lists its tools as an object with the names as keys; a client may take them from there",
        WARNS,
        r#"{"tools":{"echo":$ECHO,"add":$ADD}}"#,
    ),
    tools_list_result(
        "tools-missing",
        "responds to `tools/list` with an empty result",
        NO_TOOLS,
        "{}",
    ),
    tools_list_result("tools-null", "lists null as its tools", NO_TOOLS, r#"{"tools":null}"#),
    tools_list_result(
        "tools-empty",
        "has no tools",
        ExpectedOutcome::Works { tools: 0, warnings: false },
        r#"{"tools":[]}"#,
    ),
    StdioQuirk::new(
        "list-null",
        "responds to `tools/list` with null",
        ExpectedOutcome::ListFails { because: FailureReason::BadResult },
        StdioBehavior::Response("tools/list", r#"{"jsonrpc":"2.0","id":$ID,"result":null}"#),
    ),
    StdioQuirk::new(
        "list-array",
        "responds to `tools/list` with an array of tools instead of an object",
        WARNS,
        StdioBehavior::Response("tools/list", r#"{"jsonrpc":"2.0","id":$ID,"result":[$TOOLS]}"#),
    ),
    StdioQuirk::new(
        "list-unknown",
        "declares tools but does not support `tools/list`",
        NO_TOOLS,
        StdioBehavior::Response(
            "tools/list",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}"#,
        ),
    ),
    StdioQuirk::new(
        "list-refused",
        "responds to `tools/list` with an internal error",
        ExpectedOutcome::ListFails { because: FailureReason::ErrorResponse },
        StdioBehavior::Response(
            "tools/list",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no database"}}"#,
        ),
    ),
    StdioQuirk::new(
        "list-silent",
        "never responds to `tools/list`",
        ExpectedOutcome::ListFails { because: FailureReason::TimedOut },
        StdioBehavior::Handler(|_, event| match event.request("tools/list") {
            Some(_) => NextStep::Done,
            None => NextStep::Default,
        }),
    ),
    tools_list_result(
        "cursor-null",
        "ends its list with the cursor null",
        WORKS,
        r#"{"tools":[$TOOLS],"nextCursor":null}"#,
    ),
    tools_list_result(
        "cursor-empty",
        "ends its list with an empty cursor; a client that follows it gets the first page again",
        WORKS,
        r#"{"tools":[$TOOLS],"nextCursor":""}"#,
    ),
    tools_list_result(
        "cursor-same",
        "sends the same page and the same cursor endlessly",
        WARNS,
        r#"{"tools":[$TOOLS],"nextCursor":"again"}"#,
    ),
    StdioQuirk::new(
        "cursor-number",
        "sends the number 2 as its cursor",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| match cursor {
                Some(_) => page(THIRD, ""),
                None => page("$TOOLS", r#","nextCursor":2"#),
            })
        }),
    )
    .with_tools(3),
    StdioQuirk::new(
        "cursor-unusual-text",
        "sends a cursor with quotes, white space and emoji, and requires it unchanged",
        THREE_TOOLS,
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| match cursor {
                Some(Value::String(text)) if text == SPECIAL_CURSOR => page(THIRD, ""),
                Some(_) => None,
                None => {
                    page("$TOOLS", &format!(r#","nextCursor":{}"#, Value::from(SPECIAL_CURSOR)))
                }
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-cycle",
        "sends two cursors in turn endlessly",
        ExpectedOutcome::Works { tools: 3, warnings: true },
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| match cursor.and_then(Value::as_str) {
                Some("b") => page(THIRD, r#","nextCursor":"a""#),
                _ => page("$TOOLS", r#","nextCursor":"b""#),
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-refused",
        "rejects its own cursor",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| match cursor {
                Some(_) => None,
                None => page("$TOOLS", r#","nextCursor":"lost""#),
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-endless",
        "has a fresh cursor and a new tool on every page, endlessly; a client stops at its limit",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| {
                let number = number_of(cursor);
                page(&tool(number), &format!(r#","nextCursor":"{}""#, number + 1))
            })
        }),
    )
    // For a client that reads at most 500 pages, as the tests do.
    .with_tools(500),
    StdioQuirk::new(
        "cursor-endless-empty",
        "has a fresh cursor and no tool on every page, endlessly; a client stops at its limit",
        NO_TOOLS,
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| {
                page("", &format!(r#","nextCursor":"{}""#, number_of(cursor) + 1))
            })
        }),
    ),
    StdioQuirk::new(
        "page-empty",
        "has an empty page in the middle",
        THREE_TOOLS,
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| match number_of(cursor) {
                0 => page("$TOOLS", r#","nextCursor":"1""#),
                1 => page("", r#","nextCursor":"2""#),
                _ => page(THIRD, ""),
            })
        }),
    ),
    StdioQuirk::new(
        "many-pages",
        "has 10 000 tools (`QUIRK_COUNT`) on pages of 100",
        ExpectedOutcome::Works { tools: 10_000, warnings: false },
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |cursor| {
                let (first, all) = (number_of(cursor), environment::count(10_000));
                let end = all.min(first + 100);
                let next = format!(r#","nextCursor":"{end}""#);
                page(&tools(first, end), if end < all { &next } else { "" })
            })
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "many-at-once",
        "has 10 000 tools (`QUIRK_COUNT`) on one page",
        ExpectedOutcome::Works { tools: 10_000, warnings: false },
        StdioBehavior::Handler(|server, event| {
            paged(server, event, |_| page(&tools(0, environment::count(10_000)), ""))
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "list-changes-always",
        "notifies after every list that the list changed; a client must not list in a loop",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            let Some(request) = event.request("tools/list") else { return NextStep::Default };
            server.respond(request);
            server.notify("notifications/tools/list_changed", "{}");
            NextStep::Done
        }),
    ),
];

const THIRD: &str = r#"{"name":"third","inputSchema":{"type":"object"}}"#;
const SPECIAL_CURSOR: &str = " \"page\\2\" \u{e9}\u{1F6A2}\n=&? ";

/// Responds to `tools/list` with the page of a cursor, or with an error.
fn paged(
    server: &mut StdioServer,
    event: &Event<'_>,
    page_of: impl Fn(Option<&Value>) -> Option<String>,
) -> NextStep {
    let Some(request) = event.request("tools/list") else { return NextStep::Default };
    match page_of(cursor(request)) {
        Some(result) => server.send_result(request, &result),
        None => server.send_error(request, -32602, "Invalid cursor"),
    }
    NextStep::Done
}

fn cursor(request: &ClientMessage) -> Option<&Value> {
    request.params.get("cursor").filter(|cursor| !cursor.is_null())
}

fn number_of(cursor: Option<&Value>) -> usize {
    cursor.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[expect(clippy::unnecessary_wraps, reason = "its callers return `None` for an invalid cursor")]
fn page(tools: &str, rest: &str) -> Option<String> {
    Some(format!(r#"{{"tools":[{tools}]{rest}}}"#))
}

/// Returns a range of tools; the first two are `echo` and `add`.
fn tools(first: usize, end: usize) -> String {
    (first..end).map(tool).collect::<Vec<_>>().join(",")
}

fn tool(number: usize) -> String {
    match number {
        0 => "$ECHO".to_owned(),
        1 => "$ADD".to_owned(),
        _ => format!(
            r#"{{"name":"tool-{number}","description":"Does thing number {number}.","inputSchema":{{"type":"object","properties":{{"value":{{"type":"string"}}}}}}}}"#
        ),
    }
}
