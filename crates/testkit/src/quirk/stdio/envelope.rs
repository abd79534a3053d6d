//! Quirks of the message around a result: ids, `jsonrpc`, key order, errors of odd shapes.

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Failure, WARNS, WORKS, call_fails};

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "id-as-text",
        "answers the request 1 with the id \"1\"",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0","id":"$IDTEXT",$BODY}"#),
    ),
    StdioQuirk::new(
        "id-as-float",
        "answers the request 1 with the id 1.0",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0","id":$IDTEXT.0,$BODY}"#),
    ),
    StdioQuirk::new(
        "id-as-exponent",
        "answers the request 1 with the id 1e0",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0","id":$IDTEXTe0,$BODY}"#),
    ),
    StdioQuirk::new(
        "id-missing",
        "answers without an id; only one request is open",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0",$BODY}"#),
    ),
    StdioQuirk::new(
        "id-null",
        "answers with the id null; only one request is open",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0","id":null,$BODY}"#),
    ),
    StdioQuirk::new(
        "id-wrong",
        "answers calls with an id that nobody used",
        call_fails(Failure::TimedOut),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":987654321,"result":{"content":[{"type":"text","text":$TEXT}]}}"#,
        ),
    ),
    StdioQuirk::new(
        "id-never-asked",
        "first answers requests that nobody made",
        WARNS,
        Act::Greet(
            b"{\"jsonrpc\":\"2.0\",\"id\":424242,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-1,\"message\":\"x\"}}\n",
        ),
    ),
    StdioQuirk::new(
        "id-structured",
        "first sends replies whose ids are objects and arrays",
        WARNS,
        Act::Greet(
            b"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":[1],\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":true,\"result\":{}}\n",
        ),
    ),
    StdioQuirk::new(
        "reply-twice",
        "sends every reply twice",
        WORKS,
        Act::Envelope("{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "reply-twice-differently",
        "sends an error with the same id after every reply",
        WORKS,
        Act::Envelope(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32603,\"message\":\"late\"}}",
        ),
    ),
    StdioQuirk::new(
        "keys-in-odd-order",
        "writes the result before the id and `jsonrpc` last",
        WORKS,
        Act::Envelope(r#"{$BODY,"id":$ID,"jsonrpc":"2.0"}"#),
    ),
    StdioQuirk::new(
        "jsonrpc-missing",
        "leaves `jsonrpc` out",
        WARNS,
        Act::Envelope(r#"{"id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "jsonrpc-1",
        "says `jsonrpc` 1.0",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"1.0","id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "jsonrpc-number",
        "says `jsonrpc` 2.0 as a number",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":2.0,"id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "extra-fields",
        "adds fields that nobody knows to every reply",
        WORKS,
        Act::Envelope(
            r#"{"jsonrpc":"2.0","_trace":{"a":[1,{"id":7}]},"id":$ID,$BODY,"elapsed":0.5,"params":null}"#,
        ),
    ),
    StdioQuirk::new(
        "null-beside",
        "writes `error: null` beside a result and `result: null` beside an error",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0","id":$ID,$BODY,$OTHER}"#),
    ),
    StdioQuirk::new(
        "duplicate-keys",
        "repeats keys with the same value",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"2.0","id":$ID,"jsonrpc":"2.0","id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "duplicate-keys-differ",
        "repeats keys with other values; the last counts",
        WARNS,
        Act::Envelope(r#"{"jsonrpc":"1.0","id":987654321,"jsonrpc":"2.0","id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "escaped-keys",
        "writes letters of keys as escapes",
        WORKS,
        Act::Envelope(r#"{"json\u0072pc":"2.0","\u0069d":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "batch",
        "wraps every reply in an array",
        WORKS,
        Act::Envelope(r#"[{"jsonrpc":"2.0","id":$ID,$BODY}]"#),
    ),
    StdioQuirk::new(
        "batch-mixed",
        "sends notifications, junk and the reply in one array",
        WORKS,
        Act::Envelope(
            r#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},7,{"jsonrpc":"2.0","id":$ID,$BODY}]"#,
        ),
    ),
    StdioQuirk::new(
        "result-and-error",
        "answers calls with a result and an error; the error counts",
        call_fails(Failure::Refused),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":$TEXT}]},"error":{"code":-32603,"message":"also this"}}"#,
        ),
    ),
    StdioQuirk::new(
        "neither",
        "answers calls with neither a result nor an error",
        call_fails(Failure::Any),
        Act::Reply("tools/call", r#"{"jsonrpc":"2.0","id":$ID}"#),
    ),
    StdioQuirk::new(
        "error-as-text",
        "answers calls with an error that is a text",
        call_fails(Failure::Refused),
        Act::Reply("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"error":"it broke"}"#),
    ),
    StdioQuirk::new(
        "error-without-code",
        "answers calls with an error without a code",
        call_fails(Failure::Refused),
        Act::Reply("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"error":{"message":"it broke"}}"#),
    ),
    StdioQuirk::new(
        "error-code-as-text",
        "answers calls with an error whose code is a text",
        call_fails(Failure::Refused),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":"-32603","message":"it broke"}}"#,
        ),
    ),
    StdioQuirk::new(
        "error-code-huge",
        "answers calls with an error whose code fits no integer",
        call_fails(Failure::Refused),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":99999999999999999999,"message":"it broke"}}"#,
        ),
    ),
    StdioQuirk::new(
        "error-without-message",
        "answers calls with an error without a message",
        call_fails(Failure::Refused),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":null,"data":[1]}}"#,
        ),
    ),
    StdioQuirk::new(
        "error-empty",
        "answers calls with an empty error",
        call_fails(Failure::Refused),
        Act::Reply("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"error":{}}"#),
    ),
    StdioQuirk::new(
        "error-huge",
        "answers calls with an error message of a megabyte (`QUIRK_BYTES`) full of control characters",
        call_fails(Failure::Refused),
        Act::Code(error_huge),
    ),
    StdioQuirk::new(
        "error-id-null",
        "answers calls with an error whose id is null",
        call_fails(Failure::Any),
        Act::Reply(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"it broke"}}"#,
        ),
    ),
];

fn error_huge(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let message = "\u{1b}[31mno\u{7}\r\n".repeat(settings::bytes(1 << 20) / 10);
    server.refuse(request, -32603, &message);
    Flow::Done
}
