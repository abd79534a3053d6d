//! Reads a server's output into its line buffer.
//!
//! An idle connection keeps no buffer: all connections of a thread share one to read into, and what
//! came is copied out before another can use it. Only the rest of a long line is read to where it
//! stays.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead as _, AsyncReadExt as _, ReadBuf};

use super::lines::LineBuffer;
use crate::transport::process::Stdout;

/// What a pipe holds where it is not enlarged.
const SHARED: usize = 64 << 10;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; SHARED]);
}

/// Waits for more of the output and returns how many bytes came; none at its end.
///
/// Dropping the future loses nothing.
pub(super) async fn read_more(stdout: &mut Stdout, lines: &mut LineBuffer) -> io::Result<usize> {
    if lines.is_between_lines() {
        return poll_fn(|context| poll_shared(context, stdout, lines)).await;
    }
    let count = stdout.read_buf(lines.space()).await?;
    lines.note_read(count);
    Ok(count)
}

fn poll_shared(
    context: &mut Context<'_>,
    stdout: &mut Stdout,
    lines: &mut LineBuffer,
) -> Poll<io::Result<usize>> {
    BUFFER.with_borrow_mut(|buffer| {
        let mut room = ReadBuf::new(buffer);
        ready!(Pin::new(stdout).poll_read(context, &mut room))?;
        lines.feed(room.filled(), room.remaining() == 0);
        Poll::Ready(Ok(room.filled().len()))
    })
}
