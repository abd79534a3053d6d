//! The buffer of received bytes that are not consumed yet.
//!
//! Nothing is copied: a response is a slice of this buffer, and a page of tools is the buffer
//! itself, moved to the caller.

use std::io::{self, BufRead as _, Read};

/// The first size of the buffer: an idle connection should be small, and most responses are.
const INITIAL_BYTES: usize = 16 << 10;
/// How much is added for a longer response; also the capacity of a pipe.
const GROWTH_BYTES: usize = 64 << 10;
/// The buffer grows before a read with less free space than this.
const MIN_READ_BYTES: usize = 4 << 10;
/// The longest response that is accepted.
const MAX_BYTES: usize = 256 << 20;

/// A buffer of which `start..end` is not consumed yet.
#[derive(Default)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuffer {
    /// Returns the bytes that are not consumed yet.
    pub(crate) fn unused(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Consumes and returns the next `length` bytes.
    pub(crate) fn consume(&mut self, length: usize) -> &[u8] {
        let from = self.start;
        self.start += length;
        &self.bytes[from..self.start]
    }

    /// Consumes the next `length` bytes and returns them as a vector.
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

    /// Reads once, with at least `wanted` bytes of free space; fails at the end of the stream.
    pub(crate) fn fill(&mut self, from: &mut impl Read, wanted: usize) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < wanted.max(MIN_READ_BYTES) {
            if self.end.saturating_add(wanted) > MAX_BYTES {
                return Err(io::Error::other("a response is too long"));
            }
            // Only this part is zeroed, however much the vector reserves.
            let more = if self.bytes.is_empty() { INITIAL_BYTES } else { GROWTH_BYTES };
            self.bytes.resize(self.end + wanted.max(more), 0);
        }
        match from.read(&mut self.bytes[self.end..])? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the server closed the connection",
            )),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }

    /// Returns the length of the next line with its line end, if it is complete.
    ///
    /// The first `searched` bytes contain no line end.
    pub(crate) fn line(&self, searched: usize) -> Option<usize> {
        let text = &self.bytes[self.start + searched..self.end];
        // The fastest search for one byte that std offers.
        let length = { text }.skip_until(b'\n').ok()?;
        (length > 0 && text[length - 1] == b'\n').then_some(searched + length)
    }

    /// Waits for a complete line and returns its length.
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

    /// Returns one byte more with every read.
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
