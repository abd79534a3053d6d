//! Quirks of the framing: text between, before and around the JSON lines on stdout.

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS};

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new("well-behaved", "has no quirk at all", WORKS, StdioBehavior::Correct),
    StdioQuirk::new(
        "banner",
        "prints a line of text before its first message",
        WARNS,
        StdioBehavior::StartWith(b"Starting the harbour server, please wait ...\n"),
    ),
    StdioQuirk::new(
        "banner-between",
        "prints a line of text before every response",
        WARNS,
        StdioBehavior::Envelope("INFO: handling a request\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "banner-in-colour",
        "prints colors and emoji before its first message",
        WARNS,
        StdioBehavior::StartWith(
            "\u{1b}[32m✔ ready\u{1b}[0m \u{1F6A2}\r\n\u{1b}[2K\u{7}\n".as_bytes(),
        ),
    ),
    StdioQuirk::new(
        "json-log",
        "prints a JSON log line before every response",
        WARNS,
        StdioBehavior::Envelope(
            "{\"level\":\"info\",\"time\":1,\"message\":\"handled\"}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "json-log-with-id",
        "prints a JSON log line with the id of the request before every response",
        WARNS,
        StdioBehavior::Envelope(
            "{\"level\":\"info\",\"id\":$ID,\"msg\":\"handled\"}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "json-scalars",
        "prints lines of JSON that are not objects",
        WARNS,
        StdioBehavior::Envelope("true\n42\n\"text\"\nnull\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "json-arrays",
        "prints arrays that are not batches",
        WARNS,
        StdioBehavior::Envelope(
            "[]\n[1,2]\n[null,\"x\",{}]\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "half-json",
        "prints lines that start like JSON but are not JSON",
        WARNS,
        StdioBehavior::Envelope(
            "{starting: server}\n[info] x\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "empty-lines",
        "prints empty lines and white space around its messages",
        WORKS,
        StdioBehavior::Envelope("\n\n  \t\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n\n"),
    ),
    StdioQuirk::new(
        "crlf",
        "ends its lines with carriage return and line feed",
        WORKS,
        StdioBehavior::Envelope("{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\r"),
    ),
    StdioQuirk::new(
        "bom",
        "starts with a byte-order mark",
        WARNS,
        StdioBehavior::StartWith(b"\xef\xbb\xbf"),
    ),
    StdioQuirk::new(
        "bom-every",
        "writes a byte-order mark before every message",
        WARNS,
        StdioBehavior::Envelope("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "padded",
        "pads its JSON with white space",
        WORKS,
        StdioBehavior::Envelope(" \t { \"jsonrpc\" : \"2.0\" ,\t\"id\" : $ID , $BODY } \t "),
    ),
    StdioQuirk::new(
        "nul-bytes",
        "writes a NUL byte after every message and a line of NUL bytes after that",
        WARNS,
        StdioBehavior::Envelope("{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\0\n\0\0\0"),
    ),
    StdioQuirk::new(
        "binary-lines",
        "prints lines that are not UTF-8",
        WARNS,
        StdioBehavior::StartWith(b"\xff\xfe\x00s\x00t\n\xc3\x28\n\x80\n"),
    ),
    StdioQuirk::new(
        "header-framing",
        "writes a `Content-Length` header and an empty line before every message, as in LSP",
        WARNS,
        StdioBehavior::Envelope(
            "Content-Length: 100\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "two-on-a-line",
        "writes a notification on the line of every response",
        WARNS,
        StdioBehavior::Envelope(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}",
        ),
    ),
    StdioQuirk::new(
        "pretty-printed",
        "splits its JSON over several lines",
        WARNS,
        StdioBehavior::Envelope("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  $BODY\n}"),
    ),
    StdioQuirk::new(
        "newline-first",
        "writes the line end before a message and not after it, so its first response never ends",
        ExpectedOutcome::ConnectFails { because: FailureReason::TimedOut },
        StdioBehavior::Handler(newline_first),
    )
    .legacy(),
    StdioQuirk::new(
        "newline-first-modern",
        "does the same; the response to the second probe ends that to the first one",
        ExpectedOutcome::ListFails { because: FailureReason::TimedOut },
        StdioBehavior::Handler(newline_first),
    )
    .modern(),
    StdioQuirk::new(
        "event-stream",
        "writes server-sent events on stdout",
        WARNS,
        StdioBehavior::Envelope("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n"),
    ),
    StdioQuirk::new(
        "single-quotes",
        "writes all responses with single quotes, which is not JSON",
        ExpectedOutcome::ConnectFails { because: FailureReason::Ended },
        StdioBehavior::Envelope("{'jsonrpc': '2.0', 'id': $ID, 'result': None}"),
    ),
    StdioQuirk::new(
        "long-junk-line",
        "prints a megabyte (`QUIRK_BYTES`) of text in one line before its first message",
        WARNS,
        StdioBehavior::Handler(long_junk_line),
    ),
    StdioQuirk::new(
        "deep-junk",
        "prints a line of 100 000 opening brackets (`QUIRK_COUNT`)",
        WARNS,
        StdioBehavior::Handler(deep_junk),
    ),
    StdioQuirk::new(
        "drip",
        "writes its responses in small parts with pauses of 2 ms (`QUIRK_DELAY_MS`)",
        WORKS,
        StdioBehavior::Handler(drip),
    )
    .tagged(&[ModeTag::Waits]),
];

fn newline_first(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Event::Request(request) = event else { return NextStep::Default };
    let outcome = crate::quirk::responses::correct_result(server.era, request);
    let response = crate::quirk::responses::rpc_response(request.id(), &outcome);
    server.write_bytes(format!("\n{response}").as_bytes());
    NextStep::Done
}

fn long_junk_line(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    if matches!(event, Event::Start) {
        server.send_line(&"loading ".repeat(environment::bytes(1 << 20) / 8));
    }
    NextStep::Default
}

fn deep_junk(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    if matches!(event, Event::Start) {
        server.send_line(&"[".repeat(environment::count(100_000)));
    }
    NextStep::Default
}

fn drip(server: &mut StdioServer, event: &Event<'_>) -> NextStep {
    let Event::Request(request) = event else { return NextStep::Default };
    let outcome = crate::quirk::responses::correct_result(server.era, request);
    let response = crate::quirk::responses::rpc_response(request.id(), &outcome) + "\n";
    // Parts of seven bytes split names, escapes and multi-byte characters.
    for part in response.as_bytes().chunks(7) {
        if !server.write_bytes(part) {
            return NextStep::Exit(0);
        }
        environment::pause(2);
    }
    NextStep::Done
}
