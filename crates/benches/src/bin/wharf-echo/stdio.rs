//! The stdio transport: one message per line, and one write for all responses to one read.

use std::io::{self, BufRead as _, IoSlice, Read as _, Write};

use crate::catalog::ToolCatalog;
use crate::response::{ClientSession, EchoResponse};

/// The size of a read; also the capacity of a pipe.
const READ: usize = 64 << 10;
/// The longest line that is accepted.
const MAX_LINE_BYTES: usize = 64 << 20;
/// Borrowed text up to this length is copied, so that it is part of the same write.
const COPIED: usize = 16 << 10;

/// Serves until stdin is closed.
pub(crate) fn serve(catalog: &ToolCatalog) -> io::Result<()> {
    // Both handles are buffered, but pass large reads and complete lines through.
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut session = ClientSession::new(catalog);
    let mut buffer = vec![0; READ];
    let mut filled = 0;
    let mut out = Vec::with_capacity(READ);
    loop {
        let read = input.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut done = 0;
        while let Some(length) = line_length(&buffer[done..filled]) {
            respond(&mut session, &buffer[done..done + length], &mut out, &mut output)?;
            done += length;
        }
        if !out.is_empty() {
            output.write_all(&out)?;
            out.clear();
        }
        buffer.copy_within(done..filled, 0);
        filled -= done;
        if filled == buffer.len() {
            if filled >= MAX_LINE_BYTES {
                return Err(io::Error::other("a line is too long"));
            }
            buffer.resize(filled * 2, 0);
        }
    }
}

fn respond(
    session: &mut ClientSession<'_>,
    line: &[u8],
    out: &mut Vec<u8>,
    output: &mut impl Write,
) -> io::Result<()> {
    let tail = match session.answer(line, out) {
        EchoResponse::NoResponse => return Ok(()),
        EchoResponse::Reply(tail) => tail,
        EchoResponse::UnknownMethod => "",
    };
    if tail.len() <= COPIED {
        out.extend_from_slice(tail.as_bytes());
        out.extend_from_slice(b"}\n");
        return Ok(());
    }
    write_parts(output, [out, tail.as_bytes(), b"}\n"])?;
    out.clear();
    Ok(())
}

/// Writes three texts with vectored writes.
pub(crate) fn write_parts(output: &mut impl Write, parts: [&[u8]; 3]) -> io::Result<()> {
    let mut slices = parts.map(IoSlice::new);
    let mut left = &mut slices[..];
    while !left.is_empty() {
        match output.write_vectored(left)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut left, written),
        }
    }
    Ok(())
}

/// Returns the length of the first line with its line end, if it is complete.
fn line_length(text: &[u8]) -> Option<usize> {
    // The fastest search for one byte that std offers.
    let length = { text }.skip_until(b'\n').ok()?;
    (length > 0 && text[length - 1] == b'\n').then_some(length)
}
