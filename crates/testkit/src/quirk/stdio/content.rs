//! Quirks of what a call returns: content blocks, structured content, sizes.

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::answers;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

const fn called(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    result: &'static str,
) -> StdioQuirk {
    StdioQuirk::new(name, sentence, expect, Act::Result("tools/call", result))
}

/// One odd block beside the good one.
macro_rules! one_odd {
    ($name:literal, $sentence:literal, $expect:expr, $block:literal) => {
        called(
            $name,
            $sentence,
            $expect,
            concat!(r#"{"content":["#, $block, r#",{"type":"text","text":$TEXT}]}"#),
        )
    };
}

/// A result with structured content that must come through as it is written.
macro_rules! exact {
    ($name:literal, $sentence:literal, $value:literal) => {
        called(
            $name,
            $sentence,
            Expect::Returns { tools: 2, raw: $value },
            concat!(
                r#"{"content":[{"type":"text","text":$TEXT}],"structuredContent":"#,
                $value,
                "}"
            ),
        )
    };
}

pub(super) const QUIRKS: &[StdioQuirk] = &[
    one_odd!(
        "content-unknown-type",
        "returns a block of a kind that nobody knows",
        WORKS,
        r#"{"type":"hologram","depth":3,"data":{"a":1}}"#
    ),
    one_odd!(
        "content-null-text",
        "returns a text block whose text is null",
        WARNS,
        r#"{"type":"text","text":null}"#
    ),
    one_odd!(
        "content-number-text",
        "returns a text block whose text is a number",
        WARNS,
        r#"{"type":"text","text":42}"#
    ),
    one_odd!("content-no-text", "returns a text block without a text", WARNS, r#"{"type":"text"}"#),
    one_odd!("content-no-type", "returns a block without a type", WARNS, r#"{"text":"typeless"}"#),
    one_odd!("content-null-block", "returns null among its blocks", WARNS, "null"),
    one_odd!("content-text-block", "returns a text among its blocks", WARNS, r#""plain""#),
    one_odd!(
        "content-odd-image",
        "returns an image that is no base64 and has no type",
        WARNS,
        r#"{"type":"image","data":"%%%"},{"type":"audio","data":null,"mimeType":1}"#
    ),
    one_odd!(
        "content-odd-resource",
        "returns resources without what they need",
        WARNS,
        r#"{"type":"resource"},{"type":"resource","resource":{"uri":5,"text":null}},{"type":"resource_link","name":[]}"#
    ),
    one_odd!(
        "content-odd-annotations",
        "returns a block whose annotations are of wrong types",
        WORKS,
        r#"{"type":"text","text":"x","annotations":{"audience":"user","priority":"high"},"_meta":[]}"#
    ),
    one_odd!(
        "content-nul",
        "returns a text with NUL and control characters",
        WORKS,
        r#"{"type":"text","text":"a\u0000b\u001b[2J\u202e"}"#
    ),
    one_odd!(
        "content-lone-surrogate",
        "returns a text with half a character as an escape",
        WORKS,
        r#"{"type":"text","text":"half \ud800 of"}"#
    ),
    StdioQuirk::new(
        "content-not-utf8",
        "returns a text with bytes that are not UTF-8",
        WARNS,
        Act::Code(not_utf8),
    ),
    called(
        "content-missing",
        "returns a result without content",
        Expect::Returns { tools: 2, raw: "{" },
        "{}",
    ),
    called(
        "content-null",
        "returns null as its content",
        Expect::Returns { tools: 2, raw: "\"content\":null" },
        r#"{"content":null}"#,
    ),
    called(
        "content-text",
        "returns a text as its content",
        Expect::Returns { tools: 2, raw: "\"content\":\"" },
        r#"{"content":$TEXT}"#,
    ),
    called(
        "content-object",
        "returns one block as its content, without the array",
        Expect::Returns { tools: 2, raw: "\"content\":{" },
        r#"{"content":{"type":"text","text":$TEXT}}"#,
    ),
    called(
        "content-old-shape",
        "returns a `toolResult` like servers before the first release",
        Expect::Returns { tools: 2, raw: "\"toolResult\":\"" },
        r#"{"toolResult":$TEXT}"#,
    ),
    StdioQuirk::new(
        "call-null",
        "returns null",
        call_fails(Failure::BadResult),
        Act::Reply("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"result":null}"#),
    ),
    StdioQuirk::new(
        "call-text",
        "returns a text",
        call_fails(Failure::BadResult),
        Act::Reply("tools/call", r#"{"jsonrpc":"2.0","id":$ID,"result":$TEXT}"#),
    ),
    called(
        "is-error",
        "returns a result that says the tool failed",
        Expect::Returns { tools: 2, raw: "\"isError\":true" },
        r#"{"content":[{"type":"text","text":"the crane is broken"}],"isError":true}"#,
    ),
    called(
        "is-error-text",
        "says \"false\" as a text where it means that all is well",
        WARNS,
        r#"{"content":[{"type":"text","text":$TEXT}],"isError":"false"}"#,
    ),
    called(
        "is-error-null",
        "says null where it means that all is well",
        WORKS,
        r#"{"content":[{"type":"text","text":$TEXT}],"isError":null,"structuredContent":null,"_meta":null}"#,
    ),
    exact!(
        "digits-integer",
        "returns an integer of 23 digits",
        r#"{"big":12345678901234567890123}"#
    ),
    exact!("digits-minus-zero", "returns minus zero", r#"{"zero":-0.0,"none":-0}"#),
    exact!("digits-exponent", "returns a number that no double can hold", r#"{"far":1e400}"#),
    exact!(
        "digits-fraction",
        "returns a fraction with 40 digits and zeros at the end",
        r#"{"tenth":0.1000000000000000055511151231257827021100}"#
    ),
    exact!(
        "keys-as-written",
        "returns keys that are out of order, repeated and empty",
        r#"{"z":1,"a":2,"":3,"z":4,"\u0061b":5}"#
    ),
    exact!(
        "blanks-as-written",
        "returns blanks between the parts of its structured content",
        r#"{ "a" : [ 1,  2 ] }"#
    ),
    exact!("structured-array", "returns an array as its structured content", "[1,\"two\",null]"),
    exact!("structured-text", "returns a text as its structured content", r#""just text""#),
    called(
        "unknown-fields",
        "returns fields that nobody knows",
        Expect::Returns { tools: 2, raw: r#""x-harbour":{"berth":7}"# },
        r#"{"x-harbour":{"berth":7},"content":[{"type":"text","text":$TEXT,"x-lang":"de"}]}"#,
    ),
    StdioQuirk::new(
        "deep-result",
        "returns structured content nested 10 000 deep (`QUIRK_COUNT`)",
        WORKS,
        Act::Code(deep_result),
    ),
    StdioQuirk::new(
        "line-17mb",
        "returns 17 MB (`QUIRK_BYTES`) in one line",
        WORKS,
        Act::Code(|server, event| long_line(server, event, 17 << 20)),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "line-70mb",
        "returns 70 MB (`QUIRK_BYTES`) in one line, more than anybody should keep",
        call_fails(Failure::TooLarge),
        Act::Code(|server, event| long_line(server, event, 70 << 20)),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "many-blocks",
        "returns 100 000 blocks (`QUIRK_COUNT`)",
        WORKS,
        Act::Code(many_blocks),
    )
    .tagged(&[Tag::Heavy]),
];

fn not_utf8(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let template = r#"{"content":[{"type":"text","text":"$BAD"},{"type":"text","text":$TEXT}]}"#;
    let result = answers::dress(server.era, "tools/call", &answers::fill(template, request));
    let reply = answers::reply(request.id(), &Ok(result));
    let (before, after) = reply.split_once("$BAD").unwrap_or((&reply, ""));
    let bytes = [before.as_bytes(), b"caf\xe9 \xff\xfe \xc3", after.as_bytes(), b"\n"].concat();
    server.write(&bytes);
    Flow::Done
}

fn deep_result(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let depth = settings::count(10_000);
    let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let content = r#"{"content":[{"type":"text","text":$TEXT}],"structuredContent":"#;
    server.result(request, &format!("{content}{{\"deep\":{value}}}}}"));
    Flow::Done
}

fn long_line(server: &mut Server, event: &Event<'_>, size: usize) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let filler = "x".repeat(settings::bytes(size));
    server.result(
        request,
        &format!(
            r#"{{"content":[{{"type":"text","text":$TEXT}},{{"type":"text","text":"{filler}"}}]}}"#
        ),
    );
    Flow::Done
}

fn many_blocks(server: &mut Server, event: &Event<'_>) -> Flow {
    let Some(request) = event.call() else { return Flow::Usual };
    let blocks = r#",{"type":"text","text":"."}"#.repeat(settings::count(100_000));
    server.result(request, &format!(r#"{{"content":[{{"type":"text","text":$TEXT}}{blocks}]}}"#));
    Flow::Done
}
