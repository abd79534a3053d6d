//! Quirks of the legacy handshake: what `initialize` returns, and when the server is ready.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS};

/// A quirk in the result of `initialize`.
const fn hello(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Result("initialize", result)).legacy()
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    hello(
        "capabilities-true",
        "declares `tools: true`",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":true},"serverInfo":$INFO}"#,
    ),
    hello(
        "capabilities-null",
        "declares `capabilities: null`",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":null,"serverInfo":$INFO}"#,
    ),
    hello(
        "capabilities-missing",
        "declares no capabilities",
        WARNS,
        r#"{"protocolVersion":"$VERSION","serverInfo":$INFO}"#,
    ),
    hello(
        "capabilities-array",
        "declares its capabilities as an array of names",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":["tools"],"serverInfo":$INFO}"#,
    ),
    hello(
        "capabilities-without-tools",
        "has tools that it does not declare",
        Expect::Works { tools: 2, warnings: false },
        r#"{"protocolVersion":"$VERSION","capabilities":{},"serverInfo":$INFO}"#,
    ),
    hello(
        "capabilities-odd",
        "declares capabilities with values of other types",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{"listChanged":"yes"},"resources":false,"prompts":null,"logging":[],"experimental":3},"serverInfo":$INFO}"#,
    ),
    hello(
        "info-missing",
        "does not say who it is",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}}}"#,
    ),
    hello(
        "info-null",
        "says that it is null",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":null}"#,
    ),
    hello(
        "info-text",
        "says who it is with a text",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":"wharf-quirk 1.0"}"#,
    ),
    hello(
        "info-without-version",
        "does not say its version",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"name":"wharf-quirk"}}"#,
    ),
    hello(
        "info-without-name",
        "does not say its name",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"version":"1"}}"#,
    ),
    hello(
        "info-version-number",
        "has a number as its version, and a title and icons of odd types",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"name":"wharf-quirk","version":1.0,"title":7,"icons":"none"}}"#,
    ),
    hello(
        "instructions-odd",
        "has instructions that are no text",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":$INFO,"instructions":["be","kind"]}"#,
    ),
    hello(
        "version-missing",
        "does not say the protocol version",
        WARNS,
        r#"{"capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-number",
        "says the protocol version as a number",
        WARNS,
        r#"{"protocolVersion":20250618,"capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-unknown",
        "says a protocol version of the far future",
        WARNS,
        r#"{"protocolVersion":"2099-01-01","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-early",
        "says a protocol version from before the first release",
        WARNS,
        r#"{"protocolVersion":"2024-10-07","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-modern",
        "answers `initialize` with the modern version, newer than asked",
        WARNS,
        r#"{"protocolVersion":"2026-07-28","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-2024-11-05",
        "speaks 2024-11-05",
        WORKS,
        r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-2025-03-26",
        "speaks 2025-03-26",
        WORKS,
        r#"{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-2025-06-18",
        "speaks 2025-06-18",
        WORKS,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    hello(
        "version-2025-11-25",
        "speaks 2025-11-25",
        WORKS,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    StdioQuirk::new(
        "version-refused",
        "refuses every version but 2024-11-05, and says so in the error",
        WORKS,
        Act::Code(version_refused),
    )
    .legacy(),
    hello("initialize-empty", "answers `initialize` with an empty result", WARNS, "{}"),
    hello(
        "initialize-null",
        "answers `initialize` with null",
        Expect::ConnectFails { because: Failure::BadResult },
        "null",
    ),
    hello(
        "initialize-text",
        "answers `initialize` with a text",
        Expect::ConnectFails { because: Failure::BadResult },
        "\"ok\"",
    ),
    StdioQuirk::new(
        "initialize-refused",
        "answers `initialize` with an error",
        Expect::ConnectFails { because: Failure::Refused },
        Act::Reply(
            "initialize",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no database"}}"#,
        ),
    )
    .legacy(),
    StdioQuirk::new(
        "initialize-error-first",
        "answers the first `initialize` with an error and the second well",
        WORKS,
        Act::Code(|server, event| match event.asks("initialize") {
            Some(request) if server.times("initialize") == 1 => {
                server.refuse(request, -32603, "still starting");
                Flow::Done
            }
            _ => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "initialize-garbage-first",
        "answers the first `initialize` like a failed call and the second well; a client may go on or try again",
        WARNS,
        Act::Code(|server, event| match event.asks("initialize") {
            Some(request) if server.times("initialize") == 1 => {
                server.result(request, r#"{"isError":true,"content":[]}"#);
                Flow::Done
            }
            _ => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "needs-initialized",
        "refuses everything until it got `notifications/initialized`",
        WORKS,
        Act::Code(|server, event| match event {
            Event::Asked(request) if is_too_early(server, &request.method) => {
                server.refuse(request, -32002, "Server not initialized");
                Flow::Done
            }
            _ => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "silent-until-initialized",
        "ignores everything until it got `notifications/initialized`",
        WORKS,
        Act::Code(|server, event| match event {
            Event::Asked(request) if is_too_early(server, &request.method) => Flow::Done,
            _ => Flow::Usual,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "refuses-notifications",
        "answers notifications with an error without an id",
        WARNS,
        Act::Code(|server, event| {
            if let Event::Told = event {
                server.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}"#);
            }
            Flow::Usual
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "slow-first-answer",
        "downloads itself first: no answer for 12 s (`QUIRK_DELAY_MS`)",
        WORKS,
        Act::Code(|_, event| {
            if let Event::Start = event {
                settings::pause(12_000);
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Waits]),
    StdioQuirk::new(
        "tools-by-capabilities",
        "has a tool more for each of roots, sampling and elicitation that the client declares",
        WORKS,
        Act::Code(tools_by_capabilities),
    ),
];

fn is_too_early(server: &Server, method: &str) -> bool {
    server.times("notifications/initialized") == 0
        && method != "initialize"
        && method != "server/discover"
}

fn version_refused(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.asks("initialize") else { return Flow::Usual };
    if request.params.get("protocolVersion").and_then(Value::as_str) == Some("2024-11-05") {
        return Flow::Usual;
    }
    server.say(&crate::quirk::answers::fill(
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"other"}}}"#,
        request,
    ));
    Flow::Done
}

fn tools_by_capabilities(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.asks("tools/list") else { return Flow::Usual };
    let declared = ["roots", "sampling", "elicitation"];
    let more = declared.into_iter().filter(|name| server.can(&format!("/{name}")));
    let tool = |name| format!(r#",{{"name":"use-{name}","inputSchema":{{"type":"object"}}}}"#);
    let more: String = more.map(tool).collect();
    server.result(request, &format!(r#"{{"tools":[$TOOLS{more}]}}"#));
    Flow::Done
}
