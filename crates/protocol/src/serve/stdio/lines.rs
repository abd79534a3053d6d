//! Cuts standard input into lines, none of them longer than we are ready to keep.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line that is taken.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

pub(crate) struct Lines<R> {
    reader: R,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    longest: usize,
    is_skipping: bool,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole(Bytes),
    /// A line that was too long; it is gone.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader, buffer: BytesMut::new(), searched: 0, longest, is_skipping: false }
    }

    /// Returns the next line; `None` at the end, where an unfinished line still counts.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.cut() {
                return Ok(Some(line));
            }
            self.buffer.reserve(CHUNK);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.rest());
            }
        }
    }

    /// Cuts a line that is already here.
    pub(crate) fn cut(&mut self) -> Option<Line> {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let Some(end) = found.map(|at| self.searched + at) else {
                self.searched = self.buffer.len();
                if self.searched > self.longest {
                    self.is_skipping = true;
                }
                if self.is_skipping {
                    self.forget();
                }
                return None;
            };
            let mut line = self.buffer.split_to(end + 1);
            self.searched = 0;
            if std::mem::take(&mut self.is_skipping) || end > self.longest {
                return Some(Line::TooLong);
            }
            line.truncate(end);
            if !line.trim_ascii().is_empty() {
                return Some(Line::Whole(line.freeze()));
            }
        }
    }

    fn rest(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.buffer);
        self.searched = 0;
        if std::mem::take(&mut self.is_skipping) {
            return Some(Line::TooLong);
        }
        (!line.trim_ascii().is_empty()).then(|| Line::Whole(line.freeze()))
    }

    fn forget(&mut self) {
        self.buffer = BytesMut::new();
        self.searched = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn lines(input: &[u8], longest: usize) -> Vec<String> {
        // One byte at a time shows that no line end is missed between two reads.
        let (mut writer, reader) = tokio::io::duplex(1);
        let writing = async move { writer.write_all(input).await.unwrap() };
        let mut lines = Lines::new(reader, longest);
        let mut found = Vec::new();
        let reading = async {
            while let Some(line) = lines.next().await.unwrap() {
                found.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
                    Line::TooLong => "too long".to_owned(),
                });
            }
        };
        tokio::join!(writing, reading);
        found
    }

    #[tokio::test]
    async fn lines_are_cut_at_their_ends() {
        assert_eq!(lines(b"a\nbc\r\n\n  \nd", 9).await, ["a", "bc\r", "d"]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_costs_only_itself() {
        assert_eq!(lines(b"ab\nabcdefgh\ncd\n", 4).await, ["ab", "too long", "cd"]);
        assert_eq!(lines(b"abcdefgh", 4).await, ["too long"]);
        assert_eq!(lines(b"abcd\nabcde\n", 4).await, ["abcd", "too long"]);
    }

    proptest! {
        #[test]
        fn any_input_gives_its_lines(input in r"[a-c\n]{0,40}") {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let expected: Vec<_> =
                input.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect();
            prop_assert_eq!(runtime.block_on(lines(input.as_bytes(), 100)), expected);
        }
    }
}
