//! Quirks of whole lists: their shape, their pages, their size.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::answers::Request;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS};

/// Connects, and lists nothing.
const NOTHING: Expect = Expect::Works { tools: 0, warnings: true };
const THREE: Expect = Expect::Works { tools: 3, warnings: false };

const fn listed(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Result("tools/list", result))
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    listed(
        "tools-as-object",
        "lists its tools as an object with the names as keys; a client may take them from there",
        NOTHING,
        r#"{"tools":{"echo":$ECHO,"add":$ADD}}"#,
    ),
    listed("tools-missing", "answers `tools/list` with an empty result", NOTHING, "{}"),
    listed("tools-null", "lists null as its tools", NOTHING, r#"{"tools":null}"#),
    listed(
        "tools-empty",
        "has no tools",
        Expect::Works { tools: 0, warnings: false },
        r#"{"tools":[]}"#,
    ),
    StdioQuirk::new(
        "list-null",
        "answers `tools/list` with null",
        Expect::ListFails { because: Failure::BadResult },
        Act::Reply("tools/list", r#"{"jsonrpc":"2.0","id":$ID,"result":null}"#),
    ),
    StdioQuirk::new(
        "list-array",
        "answers `tools/list` with the tools and nothing around them",
        WARNS,
        Act::Reply("tools/list", r#"{"jsonrpc":"2.0","id":$ID,"result":[$TOOLS]}"#),
    ),
    StdioQuirk::new(
        "list-unknown",
        "declares tools but does not know `tools/list`",
        NOTHING,
        Act::Reply(
            "tools/list",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}"#,
        ),
    ),
    StdioQuirk::new(
        "list-refused",
        "answers `tools/list` with an internal error",
        Expect::ListFails { because: Failure::Refused },
        Act::Reply(
            "tools/list",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no database"}}"#,
        ),
    ),
    StdioQuirk::new(
        "list-silent",
        "never answers `tools/list`",
        Expect::ListFails { because: Failure::TimedOut },
        Act::Code(|_, event| match event.asks("tools/list") {
            Some(_) => Flow::Done,
            None => Flow::Usual,
        }),
    ),
    listed(
        "cursor-null",
        "ends its list with the cursor null",
        WORKS,
        r#"{"tools":[$TOOLS],"nextCursor":null}"#,
    ),
    listed(
        "cursor-empty",
        "ends its list with an empty cursor, and starts again for who follows it",
        WORKS,
        r#"{"tools":[$TOOLS],"nextCursor":""}"#,
    ),
    listed(
        "cursor-same",
        "gives the same page and the same cursor for ever",
        WARNS,
        r#"{"tools":[$TOOLS],"nextCursor":"again"}"#,
    ),
    StdioQuirk::new(
        "cursor-number",
        "gives the number 2 as its cursor",
        WARNS,
        Act::Code(|server, event| {
            paged(server, event, |cursor| match cursor {
                Some(_) => page(THIRD, ""),
                None => page("$TOOLS", r#","nextCursor":2"#),
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-odd-text",
        "gives a cursor with quotes, blanks and pictures, and wants it back as it was",
        THREE,
        Act::Code(|server, event| {
            paged(server, event, |cursor| match cursor {
                Some(Value::String(text)) if text == ODD_CURSOR => page(THIRD, ""),
                Some(_) => None,
                None => page("$TOOLS", &format!(r#","nextCursor":{}"#, Value::from(ODD_CURSOR))),
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-cycle",
        "gives two cursors in turn for ever",
        Expect::Works { tools: 3, warnings: true },
        Act::Code(|server, event| {
            paged(server, event, |cursor| match cursor.and_then(Value::as_str) {
                Some("b") => page(THIRD, r#","nextCursor":"a""#),
                _ => page("$TOOLS", r#","nextCursor":"b""#),
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-refused",
        "does not know its own cursor",
        WARNS,
        Act::Code(|server, event| {
            paged(server, event, |cursor| match cursor {
                Some(_) => None,
                None => page("$TOOLS", r#","nextCursor":"lost""#),
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-endless",
        "has a fresh cursor and a new tool on every page, for ever; a client stops at its limit",
        WARNS,
        Act::Code(|server, event| {
            paged(server, event, |cursor| {
                let number = number_of(cursor);
                page(&tool(number), &format!(r#","nextCursor":"{}""#, number + 1))
            })
        }),
    ),
    StdioQuirk::new(
        "cursor-endless-empty",
        "has a fresh cursor and no tool on every page, for ever; a client stops at its limit",
        NOTHING,
        Act::Code(|server, event| {
            paged(server, event, |cursor| {
                page("", &format!(r#","nextCursor":"{}""#, number_of(cursor) + 1))
            })
        }),
    ),
    StdioQuirk::new(
        "page-empty",
        "has an empty page in the middle",
        THREE,
        Act::Code(|server, event| {
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
        Expect::Works { tools: 10_000, warnings: false },
        Act::Code(|server, event| {
            paged(server, event, |cursor| {
                let (first, all) = (number_of(cursor), settings::count(10_000));
                let end = all.min(first + 100);
                let next = format!(r#","nextCursor":"{end}""#);
                page(&tools(first, end), if end < all { &next } else { "" })
            })
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "many-at-once",
        "has 10 000 tools (`QUIRK_COUNT`) on one page",
        Expect::Works { tools: 10_000, warnings: false },
        Act::Code(|server, event| {
            paged(server, event, |_| page(&tools(0, settings::count(10_000)), ""))
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "list-changes-always",
        "says that its list changed after every list, for ever; a client must not run in circles",
        WORKS,
        Act::Code(|server, event| {
            let Some(request) = event.asks("tools/list") else { return Flow::Usual };
            server.answer(request);
            server.notify("notifications/tools/list_changed", "{}");
            Flow::Done
        }),
    ),
];

const THIRD: &str = r#"{"name":"third","inputSchema":{"type":"object"}}"#;
const ODD_CURSOR: &str = " \"page\\2\" \u{e9}\u{1F6A2}\n=&? ";

/// Answers `tools/list` with the page of a cursor, or with a refusal.
fn paged(
    server: &mut Server,
    event: &Event<'_>,
    make: impl Fn(Option<&Value>) -> Option<String>,
) -> Flow {
    let Some(request) = event.asks("tools/list") else { return Flow::Usual };
    match make(cursor(request)) {
        Some(result) => server.result(request, &result),
        None => server.refuse(request, -32602, "Invalid cursor"),
    }
    Flow::Done
}

fn cursor(request: &Request) -> Option<&Value> {
    request.params.get("cursor").filter(|cursor| !cursor.is_null())
}

fn number_of(cursor: Option<&Value>) -> usize {
    cursor.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where a page may also be refused")]
fn page(tools: &str, rest: &str) -> Option<String> {
    Some(format!(r#"{{"tools":[{tools}]{rest}}}"#))
}

/// The first two are the good ones.
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
