//! Quirks of the lines: what stands between, before and around messages on stdout.

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS};

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new("well-behaved", "has no quirk at all", WORKS, Act::Behave),
    StdioQuirk::new(
        "banner",
        "prints a line of text before its first message",
        WARNS,
        Act::Greet(b"Starting the harbour server, please wait ...\n"),
    ),
    StdioQuirk::new(
        "banner-between",
        "prints a line of text before every reply",
        WARNS,
        Act::Envelope("INFO: handling a request\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "banner-in-colour",
        "greets with colours and pictures",
        WARNS,
        Act::Greet("\u{1b}[32m✔ ready\u{1b}[0m \u{1F6A2}\r\n\u{1b}[2K\u{7}\n".as_bytes()),
    ),
    StdioQuirk::new(
        "json-log",
        "prints a JSON log line before every reply",
        WARNS,
        Act::Envelope(
            "{\"level\":\"info\",\"time\":1,\"message\":\"handled\"}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "json-log-with-id",
        "prints a JSON log line that has the id of the request, but no result",
        WARNS,
        Act::Envelope(
            "{\"level\":\"info\",\"id\":$ID,\"msg\":\"handled\"}\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}",
        ),
    ),
    StdioQuirk::new(
        "json-scalars",
        "prints lines that are JSON, but no objects",
        WARNS,
        Act::Envelope("true\n42\n\"text\"\nnull\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "json-arrays",
        "prints arrays that are no batches",
        WARNS,
        Act::Envelope("[]\n[1,2]\n[null,\"x\",{}]\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "half-json",
        "prints lines that only start like JSON",
        WARNS,
        Act::Envelope("{starting: server}\n[info] x\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "empty-lines",
        "prints empty lines and blanks around its messages",
        WORKS,
        Act::Envelope("\n\n  \t\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n\n"),
    ),
    StdioQuirk::new(
        "crlf",
        "ends its lines with carriage return and line feed",
        WORKS,
        Act::Envelope("{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\r"),
    ),
    StdioQuirk::new("bom", "starts with a byte-order mark", WARNS, Act::Greet(b"\xef\xbb\xbf")),
    StdioQuirk::new(
        "bom-every",
        "puts a byte-order mark before every message",
        WARNS,
        Act::Envelope("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "padded",
        "pads its JSON with blanks",
        WORKS,
        Act::Envelope(" \t { \"jsonrpc\" : \"2.0\" ,\t\"id\" : $ID , $BODY } \t "),
    ),
    StdioQuirk::new(
        "nul-bytes",
        "puts a NUL byte after every message and a line of them between",
        WARNS,
        Act::Envelope("{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\0\n\0\0\0"),
    ),
    StdioQuirk::new(
        "binary-lines",
        "prints lines that are not UTF-8",
        WARNS,
        Act::Greet(b"\xff\xfe\x00s\x00t\n\xc3\x28\n\x80\n"),
    ),
    StdioQuirk::new(
        "header-framing",
        "frames like a language server: a Content-Length header and an empty line",
        WARNS,
        Act::Envelope("Content-Length: 100\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}"),
    ),
    StdioQuirk::new(
        "two-on-a-line",
        "puts a notification on the line of every reply",
        WARNS,
        Act::Envelope(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}",
        ),
    ),
    StdioQuirk::new(
        "pretty-printed",
        "spreads its JSON over lines",
        WARNS,
        Act::Envelope("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  $BODY\n}"),
    ),
    StdioQuirk::new(
        "newline-first",
        "puts the line end before a message and not after, so its first answer never ends",
        Expect::ConnectFails { because: Failure::TimedOut },
        Act::Code(newline_first),
    )
    .legacy(),
    StdioQuirk::new(
        "newline-first-modern",
        "does the same; the answer to the second probe ends that to the first one",
        Expect::ListFails { because: Failure::TimedOut },
        Act::Code(newline_first),
    )
    .modern(),
    StdioQuirk::new(
        "event-stream",
        "writes server-sent events on stdout",
        WARNS,
        Act::Envelope("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,$BODY}\n"),
    ),
    StdioQuirk::new(
        "single-quotes",
        "writes something that only looks like JSON, for ever",
        Expect::ConnectFails { because: Failure::Any },
        Act::Envelope("{'jsonrpc': '2.0', 'id': $ID, 'result': None}"),
    ),
    StdioQuirk::new(
        "long-junk-line",
        "prints a megabyte (`QUIRK_BYTES`) of text in one line before its first message",
        WARNS,
        Act::Code(long_junk_line),
    ),
    StdioQuirk::new(
        "deep-junk",
        "prints a line of 100 000 opening brackets (`QUIRK_COUNT`)",
        WARNS,
        Act::Code(deep_junk),
    ),
    StdioQuirk::new(
        "drip",
        "writes its replies in small pieces with pauses (`QUIRK_DELAY_MS`, 2)",
        WORKS,
        Act::Code(drip),
    )
    .tagged(&[Tag::Waits]),
];

fn newline_first(server: &mut Server, event: &Event<'_>) -> Flow {
    let Event::Asked(request) = event else { return Flow::Usual };
    let answer = crate::quirk::answers::answer(server.era, request);
    let reply = crate::quirk::answers::reply(request.id(), &answer);
    server.write(format!("\n{reply}").as_bytes());
    Flow::Done
}

fn long_junk_line(server: &mut Server, event: &Event<'_>) -> Flow {
    if matches!(event, Event::Start) {
        server.say(&"loading ".repeat(settings::bytes(1 << 20) / 8));
    }
    Flow::Usual
}

fn deep_junk(server: &mut Server, event: &Event<'_>) -> Flow {
    if matches!(event, Event::Start) {
        server.say(&"[".repeat(settings::count(100_000)));
    }
    Flow::Usual
}

fn drip(server: &mut Server, event: &Event<'_>) -> Flow {
    let Event::Asked(request) = event else { return Flow::Usual };
    let answer = crate::quirk::answers::answer(server.era, request);
    let reply = crate::quirk::answers::reply(request.id(), &answer) + "\n";
    // Seven bytes cut names, escapes and characters of several bytes in two.
    for piece in reply.as_bytes().chunks(7) {
        if !server.write(piece) {
            return Flow::Exit(0);
        }
        settings::pause(2);
    }
    Flow::Done
}
