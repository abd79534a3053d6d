//! The stdio transport: a child process with two pipes, one message per line.

use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::message::{Request, fail_on_error, id_of};
use crate::read_buffer::ReadBuffer;

/// A child process and its pipes.
pub(crate) struct Pipes {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    read_buffer: ReadBuffer,
    out: Vec<u8>,
}

impl Pipes {
    /// Starts the server; it inherits the environment and stderr.
    #[expect(clippy::disallowed_methods, reason = "the bare client uses std alone")]
    pub(crate) fn open(command: &[String]) -> io::Result<Self> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("the server has no pipes");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        Ok(Self { child, input, output, read_buffer: ReadBuffer::default(), out: Vec::new() })
    }

    /// Adds a request to the next `flush`.
    pub(crate) fn queue(&mut self, request: &Request, id: u64) -> io::Result<()> {
        request.write(id, &mut self.out)?;
        self.out.push(b'\n');
        Ok(())
    }

    /// Sends what was queued, in one write.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.input.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    /// Waits for the response with this id and returns its length.
    pub(crate) fn wait(&mut self, id: u64) -> io::Result<usize> {
        loop {
            let length = self.read_buffer.wait_for_line(&mut self.output)?;
            let line = &self.read_buffer.unused()[..length];
            if id_of(line) == Some(id) {
                fail_on_error(line)?;
                return Ok(length);
            }
            self.read_buffer.consume(length);
        }
    }

    /// Reads once; waits until there is something to read.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        self.read_buffer.fill(&mut self.output, 0)
    }

    /// Returns the id of the next response in the buffer.
    pub(crate) fn next_id(&mut self) -> io::Result<Option<u64>> {
        while let Some(length) = self.read_buffer.line(0) {
            let line = self.read_buffer.consume(length);
            if let Some(id) = id_of(line) {
                fail_on_error(line)?;
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    pub(crate) fn read_buffer(&mut self) -> &mut ReadBuffer {
        &mut self.read_buffer
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // Some servers do not end when their stdin is closed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
