//! Splits standard input into lines of limited length.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::transport::{LimitedLine, LineBuffer};

/// The maximum length of a line, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 20;

pub(crate) struct InputLines<R> {
    reader: R,
    buffer: LineBuffer,
}

impl<R: AsyncRead + Unpin> InputLines<R> {
    pub(crate) fn new(reader: R, max_bytes: usize) -> Self {
        Self { reader, buffer: LineBuffer::new(max_bytes) }
    }

    /// Returns the next line that is not blank; `None` at the end.
    ///
    /// The last line may have no line end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<LimitedLine>> {
        loop {
            while let Some(line) = self.buffer.next_line() {
                if !is_blank(&line) {
                    return Ok(Some(line));
                }
            }
            self.buffer.release_memory();
            let count = self.reader.read_buf(self.buffer.space()).await?;
            self.buffer.note_read(count);
            if count == 0 {
                return Ok(self.buffer.rest().filter(|line| !is_blank(line)));
            }
        }
    }
}

fn is_blank(line: &LimitedLine) -> bool {
    matches!(line, LimitedLine::Whole(line) if line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn lines(input: &[u8], max_bytes: usize) -> Vec<String> {
        // One byte per read tests that no line end is missed between two reads.
        let (mut writer, reader) = tokio::io::duplex(1);
        let writing = async move { writer.write_all(input).await.unwrap() };
        let mut lines = InputLines::new(reader, max_bytes);
        let mut found = Vec::new();
        let reading = async {
            while let Some(line) = lines.next().await.unwrap() {
                found.push(match line {
                    LimitedLine::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
                    LimitedLine::TooLong(_) => "too long".to_owned(),
                });
            }
        };
        tokio::join!(writing, reading);
        found
    }

    #[tokio::test]
    async fn input_is_split_into_lines() {
        assert_eq!(lines(b"a\nbc\r\n\n  \nd", 9).await, ["a", "bc\r", "d"]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_does_not_affect_the_next() {
        assert_eq!(lines(b"ab\nabcdefgh\ncd\n", 4).await, ["ab", "too long", "cd"]);
        assert_eq!(lines(b"abcdefgh", 4).await, ["too long"]);
        assert_eq!(lines(b"abcd\nabcde\n", 4).await, ["abcd", "too long"]);
    }

    proptest! {
        #[test]
        fn any_input_is_split_into_its_lines(input in r"[a-c\n]{0,40}") {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let expected: Vec<_> =
                input.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect();
            prop_assert_eq!(runtime.block_on(lines(input.as_bytes(), 100)), expected);
        }
    }
}
