//! Splits a byte stream into lines, whatever its chunks; a line over the limit is skipped.
//!
//! Between two lines, bytes are read into another buffer and fed to this one, which copies only
//! what it needs. The rest of a partial line is read directly into this buffer, so most of a large
//! message is never copied. Memory is bounded by the limit and released when the stream is idle.

use bytes::{Buf, Bytes, BytesMut};

/// The space to reserve for the rest of a line that is probably short.
const SMALL_READ: usize = 4 << 10;
/// The space to reserve while much data arrives.
const LARGE_READ: usize = 256 << 10;

/// One line, or the start of one that is too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LimitedLine {
    /// The line without its line end.
    Whole(Bytes),
    /// The start of a line over the limit, for finding its request id.
    TooLong(Bytes),
}

/// Collects bytes and returns them line by line.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    /// Whole lines; each but the last has its line end.
    ready: Option<Bytes>,
    /// The bytes after them.
    buffer: BytesMut,
    /// `buffer` has no line end before this index.
    searched: usize,
    limit: usize,
    /// How many bytes of an oversized line were dropped so far.
    skipped: Option<u64>,
    last_read_was_full: bool,
    /// The length of the longest recent line.
    longest: usize,
}

impl LineBuffer {
    /// Creates a buffer for lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            ready: None,
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            skipped: None,
            last_read_was_full: false,
            longest: 0,
        }
    }

    /// Tells whether the buffer has no part of the next line. Then [`LineBuffer::feed`] is cheaper
    /// than reading into [`LineBuffer::space`].
    pub(crate) fn is_between_lines(&self) -> bool {
        self.buffer.is_empty() && self.skipped.is_none()
    }

    /// Adds bytes from another buffer; `is_full` if that buffer was filled completely.
    ///
    /// All lines that were fed before must have been taken out.
    pub(crate) fn feed(&mut self, piece: &[u8], is_full: bool) {
        let whole = if self.is_between_lines() { memchr::memrchr(b'\n', piece) } else { None };
        let rest = match whole {
            Some(end) => {
                self.ready = Some(Bytes::copy_from_slice(&piece[..end]));
                &piece[end + 1..]
            }
            None => piece,
        };
        if !rest.is_empty() {
            let room = if is_full { self.longest.max(LARGE_READ) } else { SMALL_READ };
            self.buffer.reserve(room.max(rest.len()));
            self.buffer.extend_from_slice(rest);
        }
        self.last_read_was_full = is_full;
    }

    /// Returns the buffer to read into, with free space.
    ///
    /// A server that sent one long line is likely to send another. The buffer grows by doubling for
    /// the first one; from the second one on, all the space is reserved at once.
    pub(crate) fn space(&mut self) -> &mut BytesMut {
        let held = self.buffer.len();
        let (least, wanted) = if held < SMALL_READ && !self.last_read_was_full {
            (SMALL_READ / 4, SMALL_READ)
        } else {
            (LARGE_READ / 4, self.longest.saturating_sub(held).max(held).max(LARGE_READ))
        };
        if self.buffer.capacity() - held < least {
            self.buffer.reserve(wanted);
        }
        &mut self.buffer
    }

    /// Notes the result of a read; a read that filled the space reserves more next time.
    pub(crate) fn note_read(&mut self, count: usize) {
        self.last_read_was_full =
            self.buffer.len() == self.buffer.capacity() && count >= SMALL_READ;
    }

    /// Returns the next line that is complete or over the limit.
    pub(crate) fn next_line(&mut self) -> Option<LimitedLine> {
        if let Some(line) = self.next_ready() {
            return Some(self.check_length(line));
        }
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let Some(end) = found.map(|offset| self.searched + offset) else {
                self.searched = self.buffer.len();
                return self.overflow();
            };
            let line = self.buffer.split_to(end).freeze();
            self.buffer.advance(1);
            self.searched = 0;
            if self.skipped.take().is_some() {
                continue;
            }
            return Some(self.check_length(line));
        }
    }

    fn next_ready(&mut self) -> Option<Bytes> {
        let ready = self.ready.as_mut()?;
        match memchr::memchr(b'\n', ready) {
            Some(end) => {
                let line = ready.split_to(end);
                ready.advance(1);
                Some(line)
            }
            None => self.ready.take(),
        }
    }

    fn check_length(&mut self, line: Bytes) -> LimitedLine {
        // `longest` decays slowly, so one long line raises the estimate for a while.
        self.longest = line.len().max(self.longest - self.longest / 8);
        if line.len() > self.limit {
            return LimitedLine::TooLong(Bytes::copy_from_slice(&line[..line.len().min(256)]));
        }
        LimitedLine::Whole(line)
    }

    /// Returns the rest when the stream has ended: a last line without a line end.
    pub(crate) fn rest(&mut self) -> Option<LimitedLine> {
        let skipped = self.skipped.take().is_some();
        let line = self.buffer.split().freeze();
        self.searched = 0;
        (!skipped && !line.is_empty()).then_some(LimitedLine::Whole(line))
    }

    /// Returns how many bytes of the current line were dropped because it is over the limit.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped.unwrap_or(0)
    }

    /// Releases memory that an idle stream does not need.
    pub(crate) fn release_memory(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }

    fn overflow(&mut self) -> Option<LimitedLine> {
        if self.buffer.len() <= self.limit && self.skipped.is_none() {
            return None;
        }
        let dropped = self.buffer.split().freeze();
        self.searched = 0;
        let length = dropped.len() as u64;
        if let Some(skipped) = &mut self.skipped {
            *skipped += length;
            return None;
        }
        self.skipped = Some(length);
        Some(LimitedLine::TooLong(Bytes::copy_from_slice(&dropped[..dropped.len().min(256)])))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn push(buffer: &mut LineBuffer, piece: &[u8]) {
        if buffer.is_between_lines() {
            buffer.feed(piece, piece.len() > 4);
        } else {
            buffer.space().extend_from_slice(piece);
            buffer.note_read(piece.len());
        }
    }

    fn lines(pieces: &[&[u8]], limit: usize) -> Vec<LimitedLine> {
        let mut buffer = LineBuffer::new(limit);
        let mut lines = Vec::new();
        for piece in pieces {
            push(&mut buffer, piece);
            while let Some(line) = buffer.next_line() {
                lines.push(line);
            }
        }
        lines.extend(buffer.rest());
        lines
    }

    fn whole(text: &str) -> LimitedLine {
        LimitedLine::Whole(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn a_line_may_arrive_in_any_chunks() {
        assert_eq!(lines(&[b"a", b"b\nc", b"\n\nd"], 9), ["ab", "c", "", "d"].map(whole));
    }

    #[test]
    fn a_line_over_the_limit_is_reported_once_and_the_next_line_is_read() {
        let found = lines(&[b"aaaa", b"aaaa", b"aaaa\nok\n"], 6);
        assert_eq!(found, [LimitedLine::TooLong(Bytes::from_static(b"aaaaaaaa")), whole("ok")]);
    }

    #[test]
    fn an_endless_line_on_a_pipe_costs_bounded_memory() {
        let mut buffer = LineBuffer::new(1 << 16);
        for _ in 0..1000 {
            push(&mut buffer, &[b'x'; 10_000]);
            buffer.next_line();
            assert!(buffer.buffer.capacity() < 2 << 20);
        }
        assert!(buffer.skipped() > 9_000_000);
    }

    #[test]
    fn an_idle_stream_keeps_no_buffer() {
        let mut buffer = LineBuffer::new(1 << 20);
        push(&mut buffer, &vec![b'x'; 500_000]);
        push(&mut buffer, b"\n");
        drop(buffer.next_line());
        buffer.release_memory();
        assert_eq!(buffer.buffer.capacity(), 0);
    }

    #[test]
    fn complete_lines_leave_no_spare_capacity() {
        let mut buffer = LineBuffer::new(1 << 20);
        buffer.feed(b"one\n\ntwo\n", true);
        assert_eq!(buffer.buffer.capacity(), 0);
        let found: Vec<_> = std::iter::from_fn(|| buffer.next_line()).collect();
        assert_eq!(found, ["one", "", "two"].map(whole));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(1_usize..9, 0..100),
        ) {
            let expected = lines(&[&text], 1000);
            let mut pieces = Vec::new();
            let mut rest = &text[..];
            for cut in cuts {
                let (piece, more) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = more;
            }
            pieces.push(rest);
            prop_assert_eq!(lines(&pieces, 1000), expected);
        }
    }
}
