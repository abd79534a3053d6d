//! The fuzz targets: each takes arbitrary bytes and panics if an invariant does not hold.
//!
//! `tests` runs all targets briefly on every change. The folder `fuzz` in the root runs the same
//! targets for hours with libFuzzer, which sets `cfg(fuzzing)`. To add a target, list it in
//! [`TARGETS`] and in `fuzz/Cargo.toml`.

#[cfg(test)]
mod tests;
mod views;

use bytes::Bytes;
use http::HeaderValue;

use crate::envelope::{self, Id, Message, Received};
use crate::era::{HeaderParameter, header_text, header_value};
use crate::transport::{LimitedLine, LineBuffer, check_events};
use crate::{Json, Members};

/// One fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct ProtocolFuzzTarget {
    /// The name of the target.
    pub name: &'static str,
    /// Runs it once.
    pub run: fn(&[u8]),
    /// Seed inputs for mutation.
    pub samples: &'static [&'static str],
}

/// All fuzz targets.
pub const TARGETS: &[ProtocolFuzzTarget] = &[
    ProtocolFuzzTarget { name: "lines", run: lines, samples: &["a\nbb\n\nccc", "{}\r\n{}"] },
    ProtocolFuzzTarget { name: "events", run: check_events, samples: EVENTS },
    ProtocolFuzzTarget { name: "envelope", run: envelopes, samples: ENVELOPES },
    ProtocolFuzzTarget { name: "headers", run: headers, samples: HEADERS },
    ProtocolFuzzTarget { name: "views", run: views::views, samples: views::SAMPLES },
];

const EVENTS: &[&str] = &[
    "id: 1\nretry: 500\ndata: \n\nevent: message\ndata: {\"a\":1}\ndata: more\n\n",
    "\u{feff}:comment\r\rdata:x\r\n\r\ndata: unfinished",
];
const ENVELOPES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
    r#"{"jsonrpc":"2.0","id":"1","result":{"content":[{"type":"text","text":"\ud83d\ude00"}]}}"#,
    r#"[{"id":1.0,"error":{"code":"-32601","message":"m","data":[1]}},5,{"method":"n"}]"#,
];
const HEADERS: &[&str] = &[
    "plain",
    " padded ",
    "=?base64?YQ==?=",
    r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}"#,
];

/// Runs the target with this name; returns `false` if there is none.
///
/// # Panics
///
/// If an invariant does not hold.
pub fn run(name: &str, bytes: &[u8]) -> bool {
    let target = TARGETS.iter().find(|target| target.name == name);
    if let Some(target) = target {
        (target.run)(bytes);
    }
    target.is_some()
}

/// The lines do not depend on the chunks of the input, and no line below the limit is lost.
fn lines(bytes: &[u8]) {
    let limit = usize::from(bytes.first().copied().unwrap_or(7)) + 1;
    let whole = cut(bytes, limit, bytes.len().max(1));
    for size in [1, 3, 7] {
        // The chunks decide where an oversized line is detected, but not what the lines are.
        let pieces = cut(bytes, limit, size);
        let kept = |lines: &[LimitedLine]| -> Vec<Bytes> {
            let lines = lines.iter();
            lines
                .filter_map(
                    |it| if let LimitedLine::Whole(it) = it { Some(it.clone()) } else { None },
                )
                .collect()
        };
        assert_eq!(kept(&pieces), kept(&whole), "pieces of {size}");
        assert_eq!(pieces.len(), whole.len(), "pieces of {size}");
    }
    let lengths =
        whole.iter().all(|line| !matches!(line, LimitedLine::Whole(it) if it.len() > limit));
    assert!(lengths, "a line over the limit was kept");
}

fn cut(bytes: &[u8], limit: usize, size: usize) -> Vec<LimitedLine> {
    let mut buffer = LineBuffer::new(limit);
    let mut lines = Vec::new();
    for piece in bytes.chunks(size) {
        if buffer.is_between_lines() {
            buffer.feed(piece, piece.len() == size);
        } else {
            buffer.space().extend_from_slice(piece);
            buffer.note_read(piece.len());
        }
        while let Some(line) = buffer.next_line() {
            lines.push(line);
        }
        buffer.release_memory();
    }
    lines.extend(buffer.rest());
    lines
}

/// A message that was read and written again is the same message.
fn envelopes(bytes: &[u8]) {
    let Ok(received) = envelope::read(Bytes::copy_from_slice(bytes)) else { return };
    let messages = match received {
        Received::One(message) => vec![message],
        Received::Many { messages, .. } => messages,
    };
    for message in messages {
        let written = match &message {
            Message::Notification(it) => envelope::notification(&it.method, it.params.as_ref()),
            Message::Response(it) => match (&it.id, &it.outcome) {
                (Some(id), Ok(result)) => envelope::success(id, result),
                (id, Err(error)) => envelope::failure(id.as_ref(), error),
                (None, Ok(_)) => continue,
            },
            Message::Request(it) => {
                match it.id.as_sent_number().filter(|id| Id::from(*id) == it.id) {
                    Some(id) => envelope::request(id, &it.method, it.params.as_ref()),
                    None => continue,
                }
            }
        };
        let again = envelope::read(written.into());
        assert_eq!(again, Ok(Received::One(message)), "the written message is different");
    }
}

/// Any text can be encoded as a header and decoded again; reading headers or schemas never panics.
fn headers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = header_value(&text);
    assert_eq!(value.as_ref().and_then(header_text).as_deref(), Some(&*text), "the text differs");
    if let Ok(value) = HeaderValue::from_bytes(bytes) {
        drop(header_text(&value));
    }
    if let Ok(schema) = Json::parse(text.into_owned())
        && let Ok(parameters) = HeaderParameter::read(&schema)
    {
        for parameter in parameters {
            drop(parameter.header(&schema));
        }
        drop(Members::of(schema.as_str()));
    }
}
