//! The body of the fuzz target for the event parser; the tests run it on the stable compiler.
//!
//! It compares the parser with a simple reference parser, which gets the whole stream at once and
//! reads it line by line as the specification describes.

use std::time::Duration;

use bytes::Bytes;

use super::{EventParser, SseEvent};

/// Parses a stream in one chunk, in single bytes and in chunks whose sizes come from its own bytes.
///
/// # Panics
///
/// If the results differ from each other or from those of the reference parser.
pub(crate) fn check(stream: &[u8]) {
    let limit = match stream.first() {
        Some(byte) if byte % 3 == 0 => usize::from(*byte),
        _ => usize::MAX,
    };
    let expected = parse_reference(stream, limit);
    let sizes = stream.iter().rev().map(|byte| usize::from(*byte % 17));
    assert_eq!(parse(stream, limit, std::iter::empty()), expected, "in one chunk");
    assert_eq!(parse(stream, limit, std::iter::repeat(1)), expected, "byte by byte");
    assert_eq!(parse(stream, limit, sizes), expected, "in chunks");
}

/// The events of a stream, the unterminated event at its end, and whether an event was too large.
pub(super) type Parsed = (Vec<SseEvent>, Option<SseEvent>, bool);

/// Parses a stream that arrives in chunks of these sizes; the rest is the last chunk.
pub(super) fn parse(stream: &[u8], limit: usize, sizes: impl IntoIterator<Item = usize>) -> Parsed {
    let mut parser = EventParser::new(limit);
    let mut events = Vec::new();
    let mut rest = Bytes::copy_from_slice(stream);
    let mut sizes = sizes.into_iter();
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(usize::MAX).min(rest.len());
        parser.push(rest.split_to(size));
        loop {
            match parser.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(_) => return (events, None, true),
            }
        }
    }
    match parser.finish() {
        Ok(last) => (events, last, false),
        Err(_) => (events, None, true),
    }
}

/// Parses a stream exactly as the specification describes, without regard for speed.
fn parse_reference(stream: &[u8], limit: usize) -> Parsed {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut events = Vec::new();
    let mut event = ReferenceEvent::default();
    for line in lines(stream) {
        if line.first() == Some(&b':') {
            continue;
        }
        if event.size.saturating_add(line.len()) > limit {
            return (events, None, true);
        }
        if line.is_empty() {
            events.extend(std::mem::take(&mut event).finish());
        } else {
            event.add_line(&line);
        }
    }
    (events, event.finish(), false)
}

/// Splits at CR LF, LF and CR; the rest after the last line end is a line unless it is empty.
fn lines(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = vec![Vec::new()];
    let mut before = 0;
    for &byte in stream {
        match byte {
            b'\n' if before == b'\r' => {}
            b'\n' | b'\r' => lines.push(Vec::new()),
            _ => lines.last_mut().into_iter().for_each(|line| line.push(byte)),
        }
        before = byte;
    }
    lines.pop_if(|last| last.is_empty());
    lines
}

#[derive(Default)]
struct ReferenceEvent {
    id: Option<String>,
    name: Option<String>,
    data: Option<Vec<u8>>,
    retry: Option<u64>,
    size: usize,
}

impl ReferenceEvent {
    fn add_line(&mut self, line: &[u8]) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => {
                self.size += value.len() + 1;
                match &mut self.data {
                    Some(data) => data.extend([b"\n", value].concat()),
                    None => self.data = Some(value.to_vec()),
                }
            }
            b"event" => {
                self.size += value.len();
                self.name = Some(text);
            }
            b"id" if !value.contains(&0) => {
                self.size += value.len();
                self.id = Some(text);
            }
            b"retry" if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = text.parse().ok().or(self.retry);
            }
            _ => {}
        }
    }

    fn finish(self) -> Option<SseEvent> {
        let is_returned = self.data.is_some() || self.id.is_some() || self.retry.is_some();
        is_returned.then(|| SseEvent {
            id: self.id.map(Into::into),
            name: self.name.map(Into::into),
            data: self.data.unwrap_or_default().into(),
            retry: self.retry.map(Duration::from_millis),
        })
    }
}
