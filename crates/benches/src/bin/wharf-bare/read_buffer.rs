//! The bytes that came and are not used yet.
//!
//! They are read straight to where they stay: an answer is a part of this buffer, and a page of
//! tools is the buffer itself, handed over.

use std::io::{self, BufRead as _, Read};

/// The first size of the buffer: a connection at rest should be small, and so are most answers.
const INITIAL_BYTES: usize = 16 << 10;
/// What is added for a longer answer; also what a pipe holds.
const GROWTH_BYTES: usize = 64 << 10;
/// A read into less space than this is not worth its call.
const MIN_READ_BYTES: usize = 4 << 10;
/// The longest answer that is taken.
const MAX_BYTES: usize = 256 << 20;

/// A buffer of which `start..end` is still to be used.
#[derive(Default)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuffer {
    /// Returns what is there.
    pub(crate) fn unused(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the next so many bytes as used.
    pub(crate) fn consume(&mut self, length: usize) -> &[u8] {
        let from = self.start;
        self.start += length;
        &self.bytes[from..self.start]
    }

    /// Hands over the next so many bytes for good.
    pub(crate) fn take_owned(&mut self, length: usize) -> Vec<u8> {
        if self.start + length < self.end {
            return self.consume(length).to_vec();
        }
        let mut bytes = std::mem::take(self).bytes_used();
        bytes.shrink_to_fit();
        bytes
    }

    fn bytes_used(mut self) -> Vec<u8> {
        self.bytes.truncate(self.end);
        if self.start > 0 {
            self.bytes.drain(..self.start);
        }
        self.bytes
    }

    /// Waits for more, at least `wanted` bytes of space given; fails at the end of the stream.
    pub(crate) fn fill(&mut self, from: &mut impl Read, wanted: usize) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < wanted.max(MIN_READ_BYTES) {
            if self.end.saturating_add(wanted) > MAX_BYTES {
                return Err(io::Error::other("an answer is too long"));
            }
            // No more than needed is touched, however much the vector reserves.
            let more = if self.bytes.is_empty() { INITIAL_BYTES } else { GROWTH_BYTES };
            self.bytes.resize(self.end + wanted.max(more), 0);
        }
        match from.read(&mut self.bytes[self.end..])? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server is gone")),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }

    /// Returns the length of the next line with its end, if all of it is there.
    ///
    /// The first `searched` bytes have been searched before.
    pub(crate) fn line(&self, searched: usize) -> Option<usize> {
        let text = &self.bytes[self.start + searched..self.end];
        // The fastest search for one byte that std offers.
        let length = { text }.skip_until(b'\n').ok()?;
        (length > 0 && text[length - 1] == b'\n').then_some(searched + length)
    }

    /// Waits until a whole line is there and returns its length.
    pub(crate) fn wait_for_line(&mut self, from: &mut impl Read) -> io::Result<usize> {
        let mut searched = 0;
        loop {
            if let Some(length) = self.line(searched) {
                return Ok(length);
            }
            searched = self.unused().len();
            self.fill(from, 0)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out one byte more with every read.
    struct SlowReader(Vec<u8>, usize);

    impl Read for SlowReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    #[test]
    fn lines_are_complete_however_they_are_chunked() {
        let text = "one\ntwenty-two\n\nthree\n".repeat(5000);
        let mut from = SlowReader(text.clone().into_bytes(), 0);
        let mut read_buffer = ReadBuffer::default();
        let mut lines = String::new();
        let error = loop {
            match read_buffer.wait_for_line(&mut from) {
                Ok(length) if lines.len().is_multiple_of(2) => {
                    lines.push_str(&String::from_utf8_lossy(read_buffer.consume(length)));
                }
                Ok(length) => {
                    lines.push_str(&String::from_utf8_lossy(&read_buffer.take_owned(length)));
                }
                Err(error) => break error,
            }
        };
        assert_eq!(lines, text);
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
