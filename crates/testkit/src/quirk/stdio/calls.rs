//! Quirks in time: late, early, out of order, cancelled, with progress of all kinds.

use serde_json::Value;

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::answers::Request;
use crate::quirk::mode::{Failure, Tag, WARNS, WORKS, call_fails};

/// Tells these lines while a call runs, and then answers it.
const fn telling(name: &'static str, sentence: &'static str, lines: &'static str) -> StdioQuirk {
    StdioQuirk::new(name, sentence, WORKS, Act::Reply("tools/call", lines))
}

/// Lines before the answer of a call, which is right for both eras.
macro_rules! before_answer {
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
        "collects calls for 50 ms (`QUIRK_DELAY_MS`) and answers the last first",
        WORKS,
        Act::Code(out_of_order),
    )
    .tagged(&[Tag::Waits]),
    StdioQuirk::new(
        "slow-call",
        "answers a call after 300 ms (`QUIRK_DELAY_MS`)",
        WORKS,
        Act::Code(|_, event| {
            if event.call().is_some() {
                settings::pause(300);
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Waits]),
    StdioQuirk::new(
        "silent-call",
        "never answers a call",
        call_fails(Failure::TimedOut),
        Act::Code(|_, event| match event.call() {
            Some(_) => Flow::Done,
            None => Flow::Usual,
        }),
    ),
    StdioQuirk::new(
        "late-reply",
        "answers its first call only once that was cancelled; later calls work",
        call_fails(Failure::TimedOut),
        Act::Code(late_reply),
    ),
    StdioQuirk::new(
        "server-cancels",
        "cancels the request of the client and never answers it",
        call_fails(Failure::Any),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID,"reason":"no"}}"#,
        ),
    ),
    telling(
        "server-cancels-and-answers",
        "cancels the request of the client and answers it all the same",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID}}"#
        ),
    ),
    telling(
        "cancels-nonsense",
        "cancels requests that nobody made",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":987654}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#
        ),
    ),
    telling(
        "progress",
        "tells the progress of a call",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"total":2,"message":"half"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":2,"total":2}}"#
        ),
    ),
    StdioQuirk::new(
        "progress-token-as-text",
        "tells the progress with the token in quotes",
        WORKS,
        Act::Code(|server, event| {
            if let Some(request) = event.call() {
                let token = request.progress_token().unwrap_or_else(|| "0".to_owned());
                let token = Value::from(token.trim_matches('"'));
                server.notify(
                    "notifications/progress",
                    &format!(r#"{{"progressToken":{token},"progress":1}}"#),
                );
            }
            Flow::Usual
        }),
    ),
    telling(
        "progress-wrong-token",
        "tells the progress of something else",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody's","progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":null}"#
        ),
    ),
    telling(
        "progress-decreasing",
        "tells progress that goes back",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":9,"total":10}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":-1,"total":0}}"#
        ),
    ),
    telling(
        "progress-odd",
        "tells progress that is no number",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":"half","total":null,"message":7}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1e999}}"#
        ),
    ),
    StdioQuirk::new(
        "progress-after-reply",
        "tells the progress of a call that is already answered",
        WORKS,
        Act::Code(|server, event| {
            let Some(request) = event.call() else { return Flow::Usual };
            server.answer(request);
            progress(server, request, 1);
            Flow::Done
        }),
    ),
    StdioQuirk::new(
        "progress-keeps-alive",
        "tells progress five times, 200 ms apart (`QUIRK_DELAY_MS`), before it answers",
        WORKS,
        Act::Code(|server, event| {
            if let Some(request) = event.call() {
                for step in 1..=5 {
                    progress(server, request, step);
                    settings::pause(200);
                }
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Waits]),
    StdioQuirk::new(
        "progress-endless",
        "tells progress every 20 ms (`QUIRK_DELAY_MS`) until it is cancelled, and never answers",
        call_fails(Failure::TimedOut),
        Act::Code(progress_endless),
    )
    .tagged(&[Tag::Waits]),
    telling(
        "logs",
        "logs during a call",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"crane","data":{"load":3}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"lifting"}}"#
        ),
    ),
    telling(
        "logs-odd",
        "logs with levels that nobody knows and without data",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"shout"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":3,"data":null}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message"}"#
        ),
    ),
    telling(
        "unknown-notifications",
        "sends notifications that nobody knows",
        before_answer!(
            r#"{"jsonrpc":"2.0","method":"notifications/tides","params":{"high":true}}"#,
            r#"{"jsonrpc":"2.0","method":"","params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#
        ),
    ),
    StdioQuirk::new(
        "notifications-odd",
        "sends notifications without a method, with a method that is no text, and with the id null",
        WARNS,
        Act::Reply(
            "tools/call",
            before_answer!(
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
        Act::Code(|server, event| {
            if event.call().is_some() {
                server.notify(&"notifications/".repeat(settings::bytes(1 << 20) / 14), "{}");
            }
            Flow::Usual
        }),
    ),
];

fn progress(server: &mut Server, request: &Request, step: u32) -> bool {
    let Some(token) = request.progress_token() else { return true };
    server.notify(
        "notifications/progress",
        &format!(r#"{{"progressToken":{token},"progress":{step}}}"#),
    )
}

fn is_cancelled(message: &Value) -> bool {
    message.get("method").and_then(Value::as_str) == Some("notifications/cancelled")
}

fn out_of_order(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let mut calls = vec![request.clone()];
    let is_call =
        |message: &Value| message.get("method").and_then(Value::as_str) == Some("tools/call");
    while let Some(message) = server.wait_for(settings::delay(50), is_call) {
        calls.extend(Request::of(&message));
    }
    for call in calls.iter().rev() {
        server.answer(call);
    }
    Flow::Done
}

fn late_reply(server: &mut Server, event: &Event<'_>) -> Flow {
    if event.call().is_some() && server.times("tools/call") == 1 {
        server.wait_for(settings::lifetime(), is_cancelled);
    }
    Flow::Usual
}

fn progress_endless(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let steps = settings::lifetime().as_millis() / settings::delay(20).as_millis().max(1);
    for step in 1..=u32::try_from(steps).unwrap_or(u32::MAX) {
        let somebody_reads = progress(server, request, step);
        if !somebody_reads || server.wait_for(settings::delay(20), is_cancelled).is_some() {
            break;
        }
    }
    Flow::Done
}
