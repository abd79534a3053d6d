//! Quirks of the time and order of messages: late, cancelled and unordered responses, progress,
//! logs, unknown notifications.

use serde_json::Value;

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{FailureReason, ModeTag, WARNS, WORKS, call_fails};
use crate::quirk::responses::ClientMessage;

/// Sends these lines during a call.
const fn notifying(
    name: &'static str,
    description: &'static str,
    lines: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, description, WORKS, StdioBehavior::Response("tools/call", lines))
}

/// Makes lines followed by the response to a call, which is correct for both eras.
macro_rules! before_response {
    ($($line:literal),+) => {
        concat!(
            $($line, "\n",)+
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[{"type":"text","text":$TEXT}]}}"#
        )
    };
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "out-of-order",
        "collects calls for 50 ms (`QUIRK_DELAY_MS`) and responds to the last one first",
        WORKS,
        StdioBehavior::Handler(out_of_order),
    )
    .tagged(&[ModeTag::Waits]),
    StdioQuirk::new(
        "slow-call",
        "responds to a call after 300 ms (`QUIRK_DELAY_MS`)",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                environment::pause(300);
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Waits]),
    StdioQuirk::new(
        "silent-call",
        "never responds to a call",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Handler(|_, event| match event.call() {
            Some(_) => NextStep::Done,
            None => NextStep::Default,
        }),
    ),
    StdioQuirk::new(
        "late-reply",
        "responds to its first call only after it was cancelled; later calls work",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Handler(late_reply),
    ),
    StdioQuirk::new(
        "server-cancels",
        "cancels the request of the client and never responds to it",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID,"reason":"no"}}"#,
        ),
    ),
    notifying(
        "server-cancels-and-answers",
        "cancels the request of the client but responds to it",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID}}"#
        ),
    ),
    notifying(
        "cancels-nonsense",
        "cancels requests that do not exist",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":987654}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#
        ),
    ),
    notifying(
        "progress",
        "sends progress of a call",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"total":2,"message":"half"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":2,"total":2}}"#
        ),
    ),
    StdioQuirk::new(
        "progress-token-as-text",
        "sends progress with the token as a string",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if let Some(request) = event.call() {
                let token = request.progress_token().unwrap_or_else(|| "0".to_owned());
                let token = Value::from(token.trim_matches('"'));
                server.notify(
                    "notifications/progress",
                    &format!(r#"{{"progressToken":{token},"progress":1}}"#),
                );
            }
            NextStep::Default
        }),
    ),
    notifying(
        "progress-wrong-token",
        "sends progress with unknown, missing and null tokens",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody's","progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":null}"#
        ),
    ),
    notifying(
        "progress-decreasing",
        "sends progress that decreases",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":9,"total":10}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":-1,"total":0}}"#
        ),
    ),
    notifying(
        "progress-invalid",
        "sends progress that is not a valid number",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":"half","total":null,"message":7}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1e999}}"#
        ),
    ),
    StdioQuirk::new(
        "progress-after-reply",
        "sends progress of a call after the response",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            let Some(request) = event.call() else { return NextStep::Default };
            server.respond(request);
            send_progress(server, request, 1);
            NextStep::Done
        }),
    ),
    StdioQuirk::new(
        "progress-keeps-alive",
        "sends progress five times, 200 ms apart (`QUIRK_DELAY_MS`), before it responds",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if let Some(request) = event.call() {
                for step in 1..=5 {
                    send_progress(server, request, step);
                    environment::pause(200);
                }
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Waits]),
    StdioQuirk::new(
        "progress-endless",
        "sends progress every 20 ms (`QUIRK_DELAY_MS`) until it is cancelled, and never responds",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Handler(endless_progress),
    )
    .tagged(&[ModeTag::Waits]),
    notifying(
        "logs",
        "logs during a call",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"crane","data":{"load":3}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"lifting"}}"#
        ),
    ),
    notifying(
        "logs-invalid",
        "logs with unknown levels and without data",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"shout"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":3,"data":null}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message"}"#
        ),
    ),
    notifying(
        "unknown-notifications",
        "sends unknown notifications",
        before_response!(
            r#"{"jsonrpc":"2.0","method":"notifications/tides","params":{"high":true}}"#,
            r#"{"jsonrpc":"2.0","method":"","params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#
        ),
    ),
    StdioQuirk::new(
        "notifications-invalid",
        "sends notifications without a method, with a method that is not a string, and with the id null",
        WARNS,
        StdioBehavior::Response(
            "tools/call",
            before_response!(
                r#"{"jsonrpc":"2.0","params":{}}"#,
                r#"{"jsonrpc":"2.0","method":5}"#,
                r#"{"jsonrpc":"2.0","id":null,"method":"notifications/message","params":{"level":"info","data":"x"}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":"x"}"#
            ),
        ),
    ),
    StdioQuirk::new(
        "long-method",
        "sends a notification whose method has a megabyte (`QUIRK_BYTES`)",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                server.notify(&"notifications/".repeat(environment::bytes(1 << 20) / 14), "{}");
            }
            NextStep::Default
        }),
    ),
];

fn send_progress(server: &mut StdioServer, request: &ClientMessage, step: u32) -> bool {
    let Some(token) = request.progress_token() else { return true };
    server.notify(
        "notifications/progress",
        &format!(r#"{{"progressToken":{token},"progress":{step}}}"#),
    )
}

fn is_cancelled(message: &Value) -> bool {
    message.get("method").and_then(Value::as_str) == Some("notifications/cancelled")
}

fn out_of_order(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let mut calls = vec![request.clone()];
    let is_call =
        |message: &Value| message.get("method").and_then(Value::as_str) == Some("tools/call");
    while let Some(message) = server.wait_for(environment::delay(50), is_call) {
        calls.extend(ClientMessage::parse(&message));
    }
    for call in calls.iter().rev() {
        server.respond(call);
    }
    NextStep::Done
}

fn late_reply(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    if event.call().is_some() && server.message_count("tools/call") == 1 {
        server.wait_for(environment::lifetime(), is_cancelled);
    }
    NextStep::Default
}

fn endless_progress(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let steps = environment::lifetime().as_millis() / environment::delay(20).as_millis().max(1);
    for step in 1..=u32::try_from(steps).unwrap_or(u32::MAX) {
        let is_open = send_progress(server, request, step);
        if !is_open || server.wait_for(environment::delay(20), is_cancelled).is_some() {
            break;
        }
    }
    NextStep::Done
}
