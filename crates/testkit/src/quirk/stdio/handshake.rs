//! Quirks of the legacy handshake: the result of `initialize`, and when the server is ready.

use serde_json::Value;

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS};

/// A quirk in the result of `initialize`.
const fn initialize_result(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Result("initialize", result)).legacy()
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    initialize_result(
        "capabilities-true",
        "declares `tools: true`",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":true},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "capabilities-null",
        "declares `capabilities: null`",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":null,"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "capabilities-missing",
        "declares no capabilities",
        WARNS,
        r#"{"protocolVersion":"$VERSION","serverInfo":$INFO}"#,
    ),
    initialize_result(
        "capabilities-array",
        "declares its capabilities as an array of names",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":["tools"],"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "capabilities-without-tools",
        "has tools but does not declare the capability",
        ExpectedOutcome::Works { tools: 2, warnings: false },
        r#"{"protocolVersion":"$VERSION","capabilities":{},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "capabilities-invalid",
        "declares capabilities with values of wrong types",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{"listChanged":"yes"},"resources":false,"prompts":null,"logging":[],"experimental":3},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "info-missing",
        "sends no `serverInfo`",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}}}"#,
    ),
    initialize_result(
        "info-null",
        "sends `serverInfo: null`",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":null}"#,
    ),
    initialize_result(
        "info-text",
        "sends `serverInfo` as a string",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":"wharf-quirk 1.0"}"#,
    ),
    initialize_result(
        "info-without-version",
        "sends `serverInfo` without a version",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"name":"wharf-quirk"}}"#,
    ),
    initialize_result(
        "info-without-name",
        "sends `serverInfo` without a name",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"version":"1"}}"#,
    ),
    initialize_result(
        "info-version-number",
        "sends `serverInfo` with a version, title and icons of wrong types",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"name":"wharf-quirk","version":1.0,"title":7,"icons":"none"}}"#,
    ),
    initialize_result(
        "instructions-invalid",
        "sends instructions that are not a string",
        WARNS,
        r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":$INFO,"instructions":["be","kind"]}"#,
    ),
    initialize_result(
        "version-missing",
        "sends no protocol version",
        WARNS,
        r#"{"capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-number",
        "sends the protocol version as a number",
        WARNS,
        r#"{"protocolVersion":20250618,"capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-unknown",
        "sends a protocol version of the far future",
        WARNS,
        r#"{"protocolVersion":"2099-01-01","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-early",
        "sends a protocol version from before the first release",
        WARNS,
        r#"{"protocolVersion":"2024-10-07","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-modern",
        "responds to `initialize` with the modern version, newer than requested",
        WARNS,
        r#"{"protocolVersion":"2026-07-28","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-2024-11-05",
        "speaks 2024-11-05",
        WORKS,
        r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-2025-03-26",
        "speaks 2025-03-26",
        WORKS,
        r#"{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-2025-06-18",
        "speaks 2025-06-18",
        WORKS,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    initialize_result(
        "version-2025-11-25",
        "speaks 2025-11-25",
        WORKS,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":$INFO}"#,
    ),
    StdioQuirk::new(
        "version-refused",
        "rejects every version but 2024-11-05, which it names in the error",
        WORKS,
        StdioBehavior::Handler(reject_version),
    )
    .legacy(),
    initialize_result("initialize-empty", "responds to `initialize` with an empty result", WARNS, "{}"),
    initialize_result(
        "initialize-null",
        "responds to `initialize` with null",
        ExpectedOutcome::ConnectFails { because: FailureReason::BadResult },
        "null",
    ),
    initialize_result(
        "initialize-text",
        "responds to `initialize` with a string",
        ExpectedOutcome::ConnectFails { because: FailureReason::BadResult },
        "\"ok\"",
    ),
    StdioQuirk::new(
        "initialize-refused",
        "responds to `initialize` with an error",
        ExpectedOutcome::ConnectFails { because: FailureReason::ErrorResponse },
        StdioBehavior::Response(
            "initialize",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"no database"}}"#,
        ),
    )
    .legacy(),
    StdioQuirk::new(
        "initialize-error-first",
        "responds to the first `initialize` with an error and to the second correctly",
        WORKS,
        StdioBehavior::Handler(|server, event| match event.request("initialize") {
            Some(request) if server.message_count("initialize") == 1 => {
                server.send_error(request, -32603, "still starting");
                NextStep::Done
            }
            _ => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "initialize-garbage-first",
        "responds to the first `initialize` like a failed call and to the second correctly; a client may continue or retry",
        WARNS,
        StdioBehavior::Handler(|server, event| match event.request("initialize") {
            Some(request) if server.message_count("initialize") == 1 => {
                server.send_result(request, r#"{"isError":true,"content":[]}"#);
                NextStep::Done
            }
            _ => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "needs-initialized",
        "rejects everything until it receives `notifications/initialized`",
        WORKS,
        StdioBehavior::Handler(|server, event| match event {
            Event::Request(request) if is_too_early(server, &request.method) => {
                server.send_error(request, -32002, "Server not initialized");
                NextStep::Done
            }
            _ => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "silent-until-initialized",
        "ignores everything until it receives `notifications/initialized`",
        WORKS,
        StdioBehavior::Handler(|server, event| match event {
            Event::Request(request) if is_too_early(server, &request.method) => NextStep::Done,
            _ => NextStep::Default,
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "refuses-notifications",
        "responds to notifications with an error whose id is null",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            if let Event::Notification = event {
                server.send_line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}"#);
            }
            NextStep::Default
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "slow-first-answer",
        "sends its first response after 12 s (`QUIRK_DELAY_MS`), as if it were downloaded first",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if let Event::Start = event {
                environment::pause(12_000);
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Waits]),
    StdioQuirk::new(
        "tools-by-capabilities",
        "has an additional tool for each of roots, sampling and elicitation that the client declares",
        WORKS,
        StdioBehavior::Handler(tools_by_capabilities),
    )
    // With all capabilities.
    .with_tools(5),
];

fn is_too_early(server: &StdioServer, method: &str) -> bool {
    server.message_count("notifications/initialized") == 0
        && method != "initialize"
        && method != "server/discover"
}

fn reject_version(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.request("initialize") else { return NextStep::Default };
    if request.params.get("protocolVersion").and_then(Value::as_str) == Some("2024-11-05") {
        return NextStep::Default;
    }
    server.send_line(&crate::quirk::responses::fill_placeholders(
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"other"}}}"#,
        request,
    ));
    NextStep::Done
}

fn tools_by_capabilities(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.request("tools/list") else { return NextStep::Default };
    let declared = ["roots", "sampling", "elicitation"];
    let more = declared.into_iter().filter(|name| server.client_has(&format!("/{name}")));
    let tool = |name| format!(r#",{{"name":"use-{name}","inputSchema":{{"type":"object"}}}}"#);
    let more: String = more.map(tool).collect();
    server.send_result(request, &format!(r#"{{"tools":[$TOOLS{more}]}}"#));
    NextStep::Done
}
