//! Quirks of servers that write too much, or stop reading.

use std::io::{self, Write};

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

const GIGABYTE: usize = 1 << 30;

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "flood-without-end",
        "writes a gigabyte (`QUIRK_BYTES`) without a line end when it is called",
        call_fails(Failure::TooLarge),
        Act::Code(|server, event| match event.call() {
            Some(_) => pour(server, b"x", GIGABYTE),
            None => Flow::Usual,
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "flood-at-start",
        "writes a gigabyte (`QUIRK_BYTES`) without a line end before anything else",
        Expect::ConnectFails { because: Failure::TooLarge },
        Act::Code(|server, event| match event {
            Event::Start => pour(server, b"y", GIGABYTE),
            _ => Flow::Usual,
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "flood-of-json",
        "writes a gigabyte (`QUIRK_BYTES`) of a result that never ends",
        call_fails(Failure::TooLarge),
        Act::Code(|server, event| {
            let Some(request) = event.call() else { return Flow::Usual };
            let start = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":["#, request.id());
            server.write(start.as_bytes());
            pour(server, br#"{"type":"text","text":"x"},"#, GIGABYTE)
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "flood-of-junk",
        "writes 100 000 lines (`QUIRK_COUNT`) of text before it answers a call",
        WARNS,
        Act::Code(|server, event| {
            if event.call().is_some() {
                let line = b"DEBUG lifting one more container from the ship to the quay\n";
                return many(server, line, settings::count(100_000));
            }
            Flow::Usual
        }),
    ),
    StdioQuirk::new(
        "flood-of-junk-for-ever",
        "writes a gigabyte (`QUIRK_BYTES`) of lines of text instead of answering a call",
        call_fails(Failure::Any),
        Act::Code(|server, event| match event.call() {
            Some(_) => pour(server, b"DEBUG still lifting\n", GIGABYTE),
            None => Flow::Usual,
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "flood-of-notifications",
        "sends 100 000 notifications (`QUIRK_COUNT`) before it answers a call",
        WORKS,
        Act::Code(|server, event| {
            if event.call().is_some() {
                let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"debug\",\"data\":\"lifting\"}}\n";
                return many(server, line, settings::count(100_000));
            }
            Flow::Usual
        }),
    ),
    StdioQuirk::new(
        "flood-of-requests",
        "sends 1 000 pings (`QUIRK_COUNT`) before it answers a call, and does not read the answers meanwhile",
        WORKS,
        Act::Code(|server, event| {
            if event.call().is_some() {
                for number in 0..settings::count(1_000) {
                    server.say(&format!(r#"{{"jsonrpc":"2.0","id":"p{number}","method":"ping"}}"#));
                }
            }
            Flow::Usual
        }),
    )
    .legacy(),
    StdioQuirk::new(
        "flood-of-batch",
        "sends 100 000 notifications (`QUIRK_COUNT`) in one array before it answers a call",
        WORKS,
        Act::Code(|server, event| {
            if event.call().is_some() {
                let one = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
                let all = vec![one; settings::count(100_000)].join(",");
                server.say(&format!("[{all}]"));
            }
            Flow::Usual
        }),
    ),
    StdioQuirk::new(
        "flood-on-stderr",
        "writes 64 MB (`QUIRK_BYTES`) of lines on stderr before it answers a call",
        WORKS,
        Act::Code(|_, event| {
            if event.call().is_some() {
                pour_on_stderr(b"warning: the crane squeaks\n");
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "flood-on-stderr-without-end",
        "writes 64 MB (`QUIRK_BYTES`) on stderr without a line end, and not UTF-8",
        WORKS,
        Act::Code(|_, event| {
            if event.call().is_some() {
                pour_on_stderr(b"\xff\x00\xfe\x1b[2J");
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Heavy]),
    StdioQuirk::new(
        "six-list-changed",
        "says six times in a row that its tools changed, right after its first answer",
        WORKS,
        Act::Code(|server, event| {
            let Event::Asked(request) = event else { return Flow::Usual };
            server.answer(request);
            let first = if server.era == crate::quirk::mode::Era::Legacy {
                "initialize"
            } else {
                "server/discover"
            };
            if request.method == first && server.times(first) == 1 {
                for _ in 0..6 {
                    server.notify("notifications/tools/list_changed", "{}");
                }
            }
            Flow::Done
        }),
    ),
    StdioQuirk::new(
        "stops-reading",
        "never reads again after it got a call",
        call_fails(Failure::TimedOut),
        Act::Code(|_, event| {
            if event.call().is_some() {
                super::life::stop_reading();
                return Flow::Exit(0);
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Lingers]),
];

/// Writes the piece again and again, up to this many bytes.
fn pour(server: &mut Server, piece: &[u8], default: usize) -> Flow {
    let block = piece.repeat((1 << 16) / piece.len());
    for _ in 0..settings::bytes(default) / block.len() {
        if !server.write(&block) {
            return Flow::Exit(1);
        }
    }
    Flow::Done
}

/// Writes a line many times, in large blocks.
fn many(server: &mut Server, line: &[u8], times: usize) -> Flow {
    let block = line.repeat(100);
    for _ in 0..times / 100 {
        if !server.write(&block) {
            return Flow::Exit(1);
        }
    }
    server.write(&line.repeat(times % 100));
    Flow::Usual
}

fn pour_on_stderr(piece: &[u8]) {
    let block = piece.repeat((1 << 16) / piece.len());
    let mut output = io::stderr().lock();
    for _ in 0..settings::bytes(64 << 20) / block.len() {
        if output.write_all(&block).is_err() {
            return;
        }
    }
}
