//! The incremental parser for Server-Sent Events.
//!
//! A line within one chunk is not copied: its payload is a slice of the chunk. A line that spans
//! chunks is collected in one buffer, which then becomes the payload. No byte is searched twice for
//! a line end. The result does not depend on how the stream is split into chunks.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use bytestring::ByteString;
use memchr::memchr2;

use super::event::{EventTooLarge, SseEvent};

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Turns the chunks of one stream into events.
#[derive(Debug)]
pub(crate) struct EventParser {
    limit: usize,
    /// Bytes that were pushed and are not parsed yet.
    input: Bytes,
    /// The beginning of a line whose end has not arrived.
    partial_line: BytesMut,
    event: PartialEvent,
    /// How many bytes of a byte-order mark were found at the start; `None` once that is decided.
    mark: Option<usize>,
    /// The last line ended with a carriage return, so a line feed now belongs to that line end.
    after_return: bool,
    /// The current line is a comment, which is not buffered.
    in_comment: bool,
    has_failed: bool,
}

impl EventParser {
    /// Starts a stream whose events may have up to `limit` bytes each.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            input: Bytes::new(),
            partial_line: BytesMut::new(),
            event: PartialEvent::default(),
            mark: Some(0),
            after_return: false,
            in_comment: false,
            has_failed: false,
        }
    }

    /// Adds a chunk of the stream.
    ///
    /// Before the next chunk is pushed, call [`Self::next_event`] until it returns `None`;
    /// otherwise the rest of the chunk is copied.
    pub(crate) fn push(&mut self, piece: Bytes) {
        if self.has_failed {
            return;
        }
        if self.input.is_empty() {
            self.input = piece;
        } else {
            let mut both = BytesMut::with_capacity(self.input.len() + piece.len());
            both.extend_from_slice(&self.input);
            both.extend_from_slice(&piece);
            self.input = both.freeze();
        }
    }

    /// Returns the next complete event, or `None` if it needs more input.
    ///
    /// After an error the parser ignores the rest of the stream, because it has lost its position.
    pub(crate) fn next_event(&mut self) -> Result<Option<SseEvent>, EventTooLarge> {
        self.skip_byte_order_mark();
        while let Some(line) = self.next_line()? {
            if let ParsedLine::Content(line) = line
                && let Some(event) = self.event.add_line(&line)
            {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Ends the stream and returns the last event if no empty line terminated it.
    ///
    /// The specification drops such an event. Some servers forget the last empty line, so the
    /// caller decides: data that is a whole JSON text is probably not truncated.
    pub(crate) fn finish(&mut self) -> Result<Option<SseEvent>, EventTooLarge> {
        if self.has_failed {
            return Ok(None);
        }
        self.keep_partial_mark();
        if !self.partial_line.is_empty() {
            self.check_limit(self.partial_line.len())?;
            let line = self.partial_line.split().freeze();
            self.event.add_line(&line);
        }
        Ok(std::mem::take(&mut self.event).finish())
    }

    /// Returns the next whole line.
    fn next_line(&mut self) -> Result<Option<ParsedLine>, EventTooLarge> {
        if self.after_return && !self.input.is_empty() {
            self.after_return = false;
            if self.input[0] == b'\n' {
                self.input.advance(1);
            }
        }
        if self.partial_line.is_empty() && self.input.first() == Some(&b':') {
            self.in_comment = true;
        }
        let Some(end) = memchr2(b'\n', b'\r', &self.input) else {
            let rest = std::mem::take(&mut self.input);
            if !self.in_comment {
                self.check_limit(self.partial_line.len() + rest.len())?;
                self.partial_line.extend_from_slice(&rest);
            }
            return Ok(None);
        };
        let piece = self.input.split_to(end);
        self.after_return = self.input[0] == b'\r';
        self.input.advance(1);
        if std::mem::take(&mut self.in_comment) {
            return Ok(Some(ParsedLine::Comment));
        }
        self.check_limit(self.partial_line.len() + piece.len())?;
        if self.partial_line.is_empty() {
            return Ok(Some(ParsedLine::Content(piece)));
        }
        self.partial_line.extend_from_slice(&piece);
        Ok(Some(ParsedLine::Content(self.partial_line.split().freeze())))
    }

    /// Fails if a line of this many bytes would make the event too large.
    fn check_limit(&mut self, line: usize) -> Result<(), EventTooLarge> {
        if !self.has_failed && self.event.size.saturating_add(line) <= self.limit {
            return Ok(());
        }
        self.has_failed = true;
        self.input = Bytes::new();
        self.partial_line = BytesMut::new();
        self.event = PartialEvent::default();
        Err(EventTooLarge { limit: self.limit })
    }

    /// Drops a byte-order mark at the start of the stream; it may arrive one byte at a time.
    fn skip_byte_order_mark(&mut self) {
        while let (Some(seen), Some(byte)) = (self.mark, self.input.first()) {
            if *byte == BYTE_ORDER_MARK[seen] {
                self.input.advance(1);
                self.mark = (seen < 2).then_some(seen + 1);
            } else {
                self.keep_partial_mark();
            }
        }
    }

    /// Treats the bytes that looked like a byte-order mark as the start of the first line.
    fn keep_partial_mark(&mut self) {
        if let Some(seen) = self.mark.take() {
            self.partial_line.extend_from_slice(&BYTE_ORDER_MARK[..seen]);
        }
    }
}

enum ParsedLine {
    Content(Bytes),
    Comment,
}

/// The event that is being parsed.
#[derive(Debug, Default)]
struct PartialEvent {
    id: Option<ByteString>,
    name: Option<ByteString>,
    data: EventData,
    retry: Option<Duration>,
    /// How many bytes are buffered for it.
    size: usize,
}

impl PartialEvent {
    /// Adds a line; returns the event if the line terminates it.
    fn add_line(&mut self, line: &Bytes) -> Option<SseEvent> {
        if line.is_empty() {
            return std::mem::take(self).finish();
        }
        let colon = memchr::memchr(b':', &line[..line.len().min(LONGEST_FIELD + 1)]);
        let (field, value) = match colon {
            Some(at) if line.get(at + 1) == Some(&b' ') => (&line[..at], line.slice(at + 2..)),
            Some(at) => (&line[..at], line.slice(at + 1..)),
            None => (&line[..], Bytes::new()),
        };
        match field {
            b"data" => {
                self.size += value.len() + 1;
                self.data.push(value);
            }
            b"event" => {
                self.size += value.len();
                self.name = Some(to_text(&value));
            }
            b"id" if memchr::memchr(0, &value).is_none() => {
                self.size += value.len();
                self.id = Some(to_text(&value));
            }
            b"retry" => self.retry = to_duration(&value).or(self.retry),
            _ => {}
        }
        None
    }

    fn finish(self) -> Option<SseEvent> {
        let Self { id, name, data, retry, .. } = self;
        if matches!(data, EventData::None) && id.is_none() && retry.is_none() {
            return None;
        }
        Some(SseEvent { id, name, data: data.into_bytes(), retry })
    }
}

/// The length of the longest known field name (`event`, `retry`). A colon after that is irrelevant.
const LONGEST_FIELD: usize = 5;

/// The data lines of an event. Nearly always there is only one, which is not copied.
#[derive(Debug, Default)]
enum EventData {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

impl EventData {
    fn push(&mut self, line: Bytes) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(line),
            Self::One(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + line.len() + 1);
                lines.extend_from_slice(&first);
                Self::Many(append_line(lines, &line))
            }
            Self::Many(lines) => Self::Many(append_line(lines, &line)),
        };
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::None => Bytes::new(),
            Self::One(line) => line,
            Self::Many(lines) => lines.freeze(),
        }
    }
}

fn append_line(mut lines: BytesMut, line: &[u8]) -> BytesMut {
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(line);
    lines
}

fn to_text(value: &[u8]) -> ByteString {
    String::from_utf8_lossy(value).into_owned().into()
}

fn to_duration(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok().map(Duration::from_millis)
}
