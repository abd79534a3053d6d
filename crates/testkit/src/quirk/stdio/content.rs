//! Quirks of the results of calls: content blocks, structured content, sizes.

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};
use crate::quirk::responses;

const fn call_result(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, description, expect, StdioBehavior::Result("tools/call", result))
}

/// Returns one unusual block beside the valid one.
macro_rules! with_block {
    ($name:literal, $description:literal, $expect:expr, $block:literal) => {
        call_result(
            $name,
            $description,
            $expect,
            concat!(r#"{"content":["#, $block, r#",{"type":"text","text":$TEXT}]}"#),
        )
    };
}

/// Returns structured content that the client must keep byte for byte.
macro_rules! structured_content {
    ($name:literal, $description:literal, $value:literal) => {
        call_result(
            $name,
            $description,
            ExpectedOutcome::Returns { tools: 2, raw: $value },
            concat!(
                r#"{"content":[{"type":"text","text":$TEXT}],"structuredContent":"#,
                $value,
                "}"
            ),
        )
    };
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    with_block!(
        "content-unknown-type",
        "returns a block of an unknown type",
        WORKS,
        r#"{"type":"hologram","depth":3,"data":{"a":1}}"#
    ),
    with_block!(
        "content-null-text",
        "returns a text block whose text is null",
        WARNS,
        r#"{"type":"text","text":null}"#
    ),
    with_block!(
        "content-number-text",
        "returns a text block whose text is a number",
        WARNS,
        r#"{"type":"text","text":42}"#
    ),
    with_block!(
        "content-no-text",
        "returns a text block without a text",
        WARNS,
        r#"{"type":"text"}"#
    ),
    with_block!(
        "content-no-type",
        "returns a block without a type",
        WARNS,
        r#"{"text":"typeless"}"#
    ),
    with_block!("content-null-block", "returns null among its blocks", WARNS, "null"),
    with_block!("content-text-block", "returns a string among its blocks", WARNS, r#""plain""#),
    with_block!(
        "content-invalid-image",
        "returns an image and audio whose data is not base64, with missing or invalid types",
        WARNS,
        r#"{"type":"image","data":"%%%"},{"type":"audio","data":null,"mimeType":1}"#
    ),
    with_block!(
        "content-invalid-resource",
        "returns resources without required members",
        WARNS,
        r#"{"type":"resource"},{"type":"resource","resource":{"uri":5,"text":null}},{"type":"resource_link","name":[]}"#
    ),
    with_block!(
        "content-invalid-annotations",
        "returns a block whose annotations have wrong types",
        WORKS,
        r#"{"type":"text","text":"x","annotations":{"audience":"user","priority":"high"},"_meta":[]}"#
    ),
    with_block!(
        "content-nul",
        "returns a text with NUL and control characters",
        WORKS,
        r#"{"type":"text","text":"a\u0000b\u001b[2J\u202e"}"#
    ),
    with_block!(
        "content-lone-surrogate",
        "returns a text with a lone surrogate as an escape",
        WORKS,
        r#"{"type":"text","text":"half \ud800 of"}"#
    ),
    StdioQuirk::new(
        "content-not-utf8",
        "returns a text with bytes that are not UTF-8",
        WARNS,
        StdioBehavior::Handler(not_utf8),
    ),
    call_result(
        "content-missing",
        "returns a result without content",
        ExpectedOutcome::Returns { tools: 2, raw: "{" },
        "{}",
    ),
    call_result(
        "content-null",
        "returns null as its content",
        ExpectedOutcome::Returns { tools: 2, raw: "\"content\":null" },
        r#"{"content":null}"#,
    ),
    call_result(
        "content-text",
        "returns a string as its content",
        ExpectedOutcome::Returns { tools: 2, raw: "\"content\":\"" },
        r#"{"content":$TEXT}"#,
    ),
    call_result(
        "content-object",
        "returns one block as its content, without the array",
        ExpectedOutcome::Returns { tools: 2, raw: "\"content\":{" },
        r#"{"content":{"type":"text","text":$TEXT}}"#,
    ),
    call_result(
        "content-old-shape",
        "returns a `toolResult`, like servers before the first release",
        ExpectedOutcome::Returns { tools: 2, raw: "\"toolResult\":\"" },
        r#"{"toolResult":$TEXT}"#,
    ),
    StdioQuirk::new(
        "call-null",
        "returns null as its result",
        call_fails(FailureReason::BadResult),
        StdioBehavior::Response("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"result":null}"#),
    ),
    StdioQuirk::new(
        "call-text",
        "returns a string as its result",
        call_fails(FailureReason::BadResult),
        StdioBehavior::Response("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"result":$TEXT}"#),
    ),
    call_result(
        "is-error",
        "returns a result with `isError: true`",
        ExpectedOutcome::Returns { tools: 2, raw: "\"isError\":true" },
        r#"{"content":[{"type":"text","text":"the crane is broken"}],"isError":true}"#,
    ),
    call_result(
        "is-error-text",
        "returns `isError` as the string \"false\"",
        WARNS,
        r#"{"content":[{"type":"text","text":$TEXT}],"isError":"false"}"#,
    ),
    call_result(
        "is-error-null",
        "returns `isError: null`",
        WORKS,
        r#"{"content":[{"type":"text","text":$TEXT}],"isError":null,"structuredContent":null,"_meta":null}"#,
    ),
    structured_content!(
        "digits-integer",
        "returns an integer of 23 digits",
        r#"{"big":12345678901234567890123}"#
    ),
    structured_content!("digits-minus-zero", "returns minus zero", r#"{"zero":-0.0,"none":-0}"#),
    structured_content!(
        "digits-exponent",
        "returns a number that no double can hold",
        r#"{"far":1e400}"#
    ),
    structured_content!(
        "digits-fraction",
        "returns a fraction with 40 digits and zeros at the end",
        r#"{"tenth":0.1000000000000000055511151231257827021100}"#
    ),
    structured_content!(
        "keys-as-written",
        "returns keys that are unordered, repeated and empty",
        r#"{"z":1,"a":2,"":3,"z":4,"\u0061b":5}"#
    ),
    structured_content!(
        "blanks-as-written",
        "returns white space in its structured content",
        r#"{ "a" : [ 1,  2 ] }"#
    ),
    structured_content!(
        "structured-array",
        "returns an array as its structured content",
        "[1,\"two\",null]"
    ),
    structured_content!(
        "structured-text",
        "returns a string as its structured content",
        r#""just text""#
    ),
    call_result(
        "unknown-fields",
        "returns unknown members",
        ExpectedOutcome::Returns { tools: 2, raw: r#""x-harbour":{"berth":7}"# },
        r#"{"x-harbour":{"berth":7},"content":[{"type":"text","text":$TEXT,"x-lang":"de"}]}"#,
    ),
    StdioQuirk::new(
        "deep-result",
        "returns structured content nested 10 000 deep (`QUIRK_COUNT`)",
        WORKS,
        StdioBehavior::Handler(deep_result),
    ),
    StdioQuirk::new(
        "line-17mb",
        "returns 17 MB (`QUIRK_BYTES`) in one line",
        WORKS,
        StdioBehavior::Handler(|server, event| long_line(server, event, 17 << 20)),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "line-70mb",
        "returns 70 MB (`QUIRK_BYTES`) in one line, more than a client should buffer",
        call_fails(FailureReason::TooLarge),
        StdioBehavior::Handler(|server, event| long_line(server, event, 70 << 20)),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "many-blocks",
        "returns 100 000 blocks (`QUIRK_COUNT`)",
        WORKS,
        StdioBehavior::Handler(many_blocks),
    )
    .tagged(&[ModeTag::Heavy]),
];

fn not_utf8(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let template = r#"{"content":[{"type":"text","text":"$BAD"},{"type":"text","text":$TEXT}]}"#;
    let result = responses::add_modern_members(
        server.era,
        "tools/call",
        &responses::fill_placeholders(template, request),
    );
    let response = responses::rpc_response(request.id(), &Ok(result));
    let (before, after) = response.split_once("$BAD").unwrap_or((&response, ""));
    let bytes = [before.as_bytes(), b"caf\xe9 \xff\xfe \xc3", after.as_bytes(), b"\n"].concat();
    server.write_bytes(&bytes);
    NextStep::Done
}

fn deep_result(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let depth = environment::count(10_000);
    let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let content = r#"{"content":[{"type":"text","text":$TEXT}],"structuredContent":"#;
    server.send_result(request, &format!("{content}{{\"deep\":{value}}}}}"));
    NextStep::Done
}

fn long_line(server: &mut StdioServer, event: &Event<'_>, size: usize) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let filler = "x".repeat(environment::bytes(size));
    server.send_result(
        request,
        &format!(
            r#"{{"content":[{{"type":"text","text":$TEXT}},{{"type":"text","text":"{filler}"}}]}}"#
        ),
    );
    NextStep::Done
}

fn many_blocks(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Some(request) = event.call() else { return NextStep::Default };
    let blocks = r#",{"type":"text","text":"."}"#.repeat(environment::count(100_000));
    server.send_result(
        request,
        &format!(r#"{{"content":[{{"type":"text","text":$TEXT}}{blocks}]}}"#),
    );
    NextStep::Done
}
