//! Quirks of servers that write too much on stdout or stderr, or stop reading.

use std::io::{self, Write};

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};

const GIGABYTE: usize = 1 << 30;

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "flood-without-end",
        "writes a gigabyte (`QUIRK_BYTES`) without a line end when it is called",
        call_fails(FailureReason::TooLarge),
        StdioBehavior::Handler(|server, event| match event.call() {
            Some(_) => flood(server, b"x", GIGABYTE),
            None => NextStep::Default,
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "flood-at-start",
        "writes a gigabyte (`QUIRK_BYTES`) without a line end before anything else",
        ExpectedOutcome::ConnectFails { because: FailureReason::TooLarge },
        StdioBehavior::Handler(|server, event| match event {
            Event::Start => flood(server, b"y", GIGABYTE),
            _ => NextStep::Default,
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "flood-of-json",
        "writes a gigabyte (`QUIRK_BYTES`) of a result that never ends",
        call_fails(FailureReason::TooLarge),
        StdioBehavior::Handler(|server, event| {
            let Some(request) = event.call() else { return NextStep::Default };
            let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":["#, request.id());
            server.write_bytes(start.as_bytes());
            flood(server, br#"{"type":"text","text":"x"},"#, GIGABYTE)
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "flood-of-junk",
        "writes 100 000 lines (`QUIRK_COUNT`) of text before it responds to a call",
        WARNS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                let line = b"DEBUG lifting one more container from the ship to the quay\n";
                return repeat_line(server, line, environment::count(100_000));
            }
            NextStep::Default
        }),
    ),
    StdioQuirk::new(
        "flood-of-junk-for-ever",
        "writes a gigabyte (`QUIRK_BYTES`) of lines of text instead of a response to a call",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|server, event| match event.call() {
            Some(_) => flood(server, b"DEBUG still lifting\n", GIGABYTE),
            None => NextStep::Default,
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "flood-of-notifications",
        "sends 100 000 notifications (`QUIRK_COUNT`) before it responds to a call",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"debug\",\"data\":\"lifting\"}}\n";
                return repeat_line(server, line, environment::count(100_000));
            }
            NextStep::Default
        }),
    ),
    StdioQuirk::new(
        "flood-of-requests",
        "sends 1 000 pings (`QUIRK_COUNT`) before it responds to a call, and does not read the responses meanwhile",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                for number in 0..environment::count(1_000) {
                    server.send_line(&format!(r#"{{"jsonrpc":"2.0","id":"p{number}","method":"ping"}}"#));
                }
            }
            NextStep::Default
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "flood-of-batch",
        "sends 100 000 notifications (`QUIRK_COUNT`) in one array before it responds to a call",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if event.call().is_some() {
                let one = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
                let all = vec![one; environment::count(100_000)].join(",");
                server.send_line(&format!("[{all}]"));
            }
            NextStep::Default
        }),
    ),
    StdioQuirk::new(
        "flood-on-stderr",
        "writes 64 MB (`QUIRK_BYTES`) of lines on stderr before it responds to a call",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                flood_stderr(b"warning: the crane squeaks\n");
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "flood-on-stderr-without-end",
        "writes 64 MB (`QUIRK_BYTES`) on stderr without a line end, and not UTF-8",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                flood_stderr(b"\xff\x00\xfe\x1b[2J");
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Heavy]),
    StdioQuirk::new(
        "six-list-changed",
        "notifies six times in a row that its tools changed, right after its first response",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            let Event::Request(request) = event else { return NextStep::Default };
            server.respond(request);
            let first = if server.era == crate::quirk::mode::QuirkEra::Legacy {
                "initialize"
            } else {
                "server/discover"
            };
            if request.method == first && server.message_count(first) == 1 {
                for _ in 0..6 {
                    server.notify("notifications/tools/list_changed", "{}");
                }
            }
            NextStep::Done
        }),
    ),
    StdioQuirk::new(
        "stops-reading",
        "stops reading when it is called",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                super::process::stop_reading();
                return NextStep::Exit(0);
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Lingers]),
];

/// Repeats these bytes; the default is the total number of bytes.
fn flood(server: &mut StdioServer, part: &[u8], default: usize) -> NextStep {
    let block = part.repeat((1 << 16) / part.len());
    for _ in 0..environment::bytes(default) / block.len() {
        if !server.write_bytes(&block) {
            return NextStep::Exit(1);
        }
    }
    NextStep::Done
}

/// Writes a line many times, in large blocks.
fn repeat_line(server: &mut StdioServer, line: &[u8], times: usize) -> NextStep {
    let block = line.repeat(100);
    for _ in 0..times / 100 {
        if !server.write_bytes(&block) {
            return NextStep::Exit(1);
        }
    }
    server.write_bytes(&line.repeat(times % 100));
    NextStep::Default
}

fn flood_stderr(part: &[u8]) {
    let block = part.repeat((1 << 16) / part.len());
    let mut output = io::stderr().lock();
    for _ in 0..environment::bytes(64 << 20) / block.len() {
        if output.write_all(&block).is_err() {
            return;
        }
    }
}
