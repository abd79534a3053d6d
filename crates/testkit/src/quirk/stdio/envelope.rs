//! Quirks of the JSON-RPC envelope: ids, `jsonrpc`, order of keys, invalid errors.

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{FailureReason, WARNS, WORKS, call_fails};

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "id-as-text",
        "responds to the request 1 with the id \"1\"",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0","id":"$IDTEXT",$BODY}"#),
    ),
    StdioQuirk::new(
        "id-as-float",
        "responds to the request 1 with the id 1.0",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0","id":$IDTEXT.0,$BODY}"#),
    ),
    StdioQuirk::new(
        "id-as-exponent",
        "responds to the request 1 with the id 1e0",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0","id":$IDTEXTe0,$BODY}"#),
    ),
    StdioQuirk::new(
        "id-missing",
        "responds without an id; only one request is open",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0",$BODY}"#),
    ),
    StdioQuirk::new(
        "id-null",
        "responds with the id null; only one request is open",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0","id":null,$BODY}"#),
    ),
    StdioQuirk::new(
        "id-wrong",
        "responds to calls with an unknown id",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":987654321,"result":{"content":[{"type":"text","text":$TEXT}]}}"#,
        ),
    ),
    StdioQuirk::new(
        "id-never-asked",
        "first sends responses to requests that do not exist",
        WARNS,
        StdioBehavior::StartWith(
            b"{\"jsonrpc\":\"2.0\",\"id\":424242,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-1,\"message\":\"x\"}}\n",
        ),
    ),
    StdioQuirk::new(
        "id-structured",
        "first sends responses whose ids are objects, arrays and booleans",
        WARNS,
        StdioBehavior::StartWith(
            b"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":[1],\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":true,\"result\":{}}\n",
        ),
    ),
    StdioQuirk::new(
        "reply-twice",
        "sends every response twice",
        WORKS,
        StdioBehavior::Envelope("{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "reply-twice-differently",
        "sends an error with the same id after every response",
        WORKS,
        StdioBehavior::Envelope(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32603,\"message\":\"late\"}}",
        ),
    ),
    StdioQuirk::new(
        "keys-in-unusual-order",
        "writes the result before the id and `jsonrpc` last",
        WORKS,
        StdioBehavior::Envelope(r#"{$BODY,"id":$ID,"jsonrpc":"2.0"}"#),
    ),
    StdioQuirk::new(
        "jsonrpc-missing",
        "leaves out `jsonrpc`",
        WARNS,
        StdioBehavior::Envelope(r#"{"id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "jsonrpc-1",
        "sends `jsonrpc` 1.0",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"1.0","id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "jsonrpc-number",
        "sends `jsonrpc` 2.0 as a number",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":2.0,"id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "extra-fields",
        "adds unknown members to every response",
        WORKS,
        StdioBehavior::Envelope(
            r#"{"jsonrpc":"2.0","_trace":{"a":[1,{"id":7}]},"id":$ID,$BODY,"elapsed":0.5,"params":null}"#,
        ),
    ),
    StdioQuirk::new(
        "null-beside",
        "writes `error: null` beside a result and `result: null` beside an error",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0","id":$ID,$BODY,$OTHER}"#),
    ),
    StdioQuirk::new(
        "duplicate-keys",
        "repeats keys with the same value",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"2.0","id":$ID,"jsonrpc":"2.0","id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "duplicate-keys-differ",
        "repeats keys with other values; the last one is correct",
        WARNS,
        StdioBehavior::Envelope(r#"{"jsonrpc":"1.0","id":987654321,"jsonrpc":"2.0","id":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "escaped-keys",
        "writes letters of keys as escapes",
        WORKS,
        StdioBehavior::Envelope(r#"{"json\u0072pc":"2.0","\u0069d":$ID,$BODY}"#),
    ),
    StdioQuirk::new(
        "batch",
        "wraps every response in an array",
        WORKS,
        StdioBehavior::Envelope(r#"[{"jsonrpc":"2.0","id":$ID,$BODY}]"#),
    ),
    StdioQuirk::new(
        "batch-mixed",
        "sends notifications, invalid items and the response in one array",
        WORKS,
        StdioBehavior::Envelope(
            r#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},7,{"jsonrpc":"2.0","id":$ID,$BODY}]"#,
        ),
    ),
    StdioQuirk::new(
        "result-and-error",
        "responds to calls with a result and an error; the error takes precedence",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":$TEXT}]},"error":{"code":-32603,"message":"also this"}}"#,
        ),
    ),
    StdioQuirk::new(
        "neither",
        "responds to calls with neither a result nor an error",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Response("tools/call", r#"{"jsonrpc":"2.0","id":$ID}"#),
    ),
    StdioQuirk::new(
        "error-as-text",
        "responds to calls with an error that is a string",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"error":"it broke"}"#),
    ),
    StdioQuirk::new(
        "error-without-code",
        "responds to calls with an error without a code",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"error":{"message":"it broke"}}"#),
    ),
    StdioQuirk::new(
        "error-code-as-text",
        "responds to calls with an error whose code is a string",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":"-32603","message":"it broke"}}"#,
        ),
    ),
    StdioQuirk::new(
        "error-code-huge",
        "responds to calls with an error whose code overflows an integer",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":99999999999999999999,"message":"it broke"}}"#,
        ),
    ),
    StdioQuirk::new(
        "error-without-message",
        "responds to calls with an error whose message is null",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":null,"data":[1]}}"#,
        ),
    ),
    StdioQuirk::new(
        "error-empty",
        "responds to calls with an empty error",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"error":{}}"#),
    ),
    StdioQuirk::new(
        "error-huge",
        "responds to calls with an error message of a megabyte (`QUIRK_BYTES`) full of control characters",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Handler(huge_error_message),
    ),
    StdioQuirk::new(
        "error-id-null",
        "responds to calls with an error whose id is null",
        call_fails(FailureReason::ErrorResponse),
        StdioBehavior::Response(
            "tools/call",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"it broke"}}"#,
        ),
    ),
];

fn huge_error_message(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let message = "\u{1b}[31mno\u{7}\r\n".repeat(environment::bytes(1 << 20) / 10);
    server.send_error(request, -32603, &message);
    NextStep::Done
}
