//! A server on the other end of two pipes; one message a line.

use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::incoming::Incoming;
use crate::message::{Request, id_of, refuse_error};

/// A child process and its pipes.
pub(crate) struct Pipes {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    incoming: Incoming,
    out: Vec<u8>,
}

impl Pipes {
    /// Starts the server with our environment and our stderr.
    #[expect(clippy::disallowed_methods, reason = "the bare client starts a child the plain way")]
    pub(crate) fn open(command: &[String]) -> io::Result<Self> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("the server has no pipes");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        Ok(Self { child, input, output, incoming: Incoming::default(), out: Vec::new() })
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

    /// Waits for the answer with this id and returns its length.
    pub(crate) fn wait(&mut self, id: u64) -> io::Result<usize> {
        loop {
            let length = self.incoming.wait_for_line(&mut self.output)?;
            let line = &self.incoming.unused()[..length];
            if id_of(line) == Some(id) {
                refuse_error(line)?;
                return Ok(length);
            }
            self.incoming.take(length);
        }
    }

    /// Waits until something came.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        self.incoming.fill(&mut self.output, 0)
    }

    /// Returns the id of the next answer that is there.
    pub(crate) fn next_id(&mut self) -> io::Result<Option<u64>> {
        while let Some(length) = self.incoming.line(0) {
            let line = self.incoming.take(length);
            if let Some(id) = id_of(line) {
                refuse_error(line)?;
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    pub(crate) fn incoming(&mut self) -> &mut Incoming {
        &mut self.incoming
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // Not every server ends at the end of its input, and a bench does not wait for those.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
