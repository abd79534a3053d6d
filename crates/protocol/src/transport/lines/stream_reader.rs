//! Reads the output of a server into its line buffer.
//!
//! An idle connection keeps no buffer: all connections of a thread read into one shared buffer and
//! copy the bytes out at once. Only the rest of a long line is read directly into the line buffer.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};

use super::line_buffer::LineBuffer;

/// The size of the shared buffer: the default capacity of a pipe.
const SHARED: usize = 64 << 10;

thread_local! {
    /// Its length stays 0, so that only the part that is read into takes up memory.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(SHARED));
}

/// Waits for more output and returns how many bytes were read; 0 at the end of the stream.
///
/// Dropping the future loses no bytes.
pub(super) async fn read_more(
    stream: &mut (impl AsyncRead + Unpin),
    lines: &mut LineBuffer,
) -> io::Result<usize> {
    if lines.is_between_lines() {
        return poll_fn(|context| poll_shared(context, stream, lines)).await;
    }
    let count = stream.read_buf(lines.space()).await?;
    lines.note_read(count);
    Ok(count)
}

fn poll_shared(
    context: &mut Context<'_>,
    stream: &mut (impl AsyncRead + Unpin),
    lines: &mut LineBuffer,
) -> Poll<io::Result<usize>> {
    BUFFER.with_borrow_mut(|buffer| {
        let mut room = ReadBuf::uninit(buffer.spare_capacity_mut());
        ready!(Pin::new(stream).poll_read(context, &mut room))?;
        lines.feed(room.filled(), room.remaining() == 0);
        Poll::Ready(Ok(room.filled().len()))
    })
}
