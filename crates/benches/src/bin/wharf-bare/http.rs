//! The HTTP transport: one keep-alive connection, one request after the other.
//!
//! Responses must have a `Content-Length`, as those of the workload server do.

use std::io::{self, Write as _};
use std::net::TcpStream;

use crate::message::{Request, fail_on_error};
use crate::read_buffer::ReadBuffer;

/// The longest response head that is accepted.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// A socket and the bytes that were read from it.
pub(crate) struct Socket {
    stream: TcpStream,
    before_length: String,
    read_buffer: ReadBuffer,
    body: Vec<u8>,
    out: Vec<u8>,
}

impl Socket {
    pub(crate) fn open(host: &str, path: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        let before_length = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\n"
        );
        let (body, out) = (Vec::new(), Vec::new());
        Ok(Self { stream, before_length, read_buffer: ReadBuffer::default(), body, out })
    }

    pub(crate) fn send(&mut self, request: &Request, id: u64) -> io::Result<()> {
        self.body.clear();
        request.write(id, &mut self.body)?;
        self.out.clear();
        self.out.extend_from_slice(self.before_length.as_bytes());
        self.out.extend_from_slice(request.headers.as_bytes());
        write!(self.out, "Content-Length: {}\r\n\r\n", self.body.len())?;
        self.out.extend_from_slice(&self.body);
        self.stream.write_all(&self.out)
    }

    /// Waits for the response, consumes its head, and returns the length of its body.
    pub(crate) fn wait(&mut self) -> io::Result<usize> {
        let (head, body) = loop {
            if let Some(found) = read_head(self.read_buffer.unused())? {
                break found;
            }
            self.read_buffer.fill(&mut self.stream, 0)?;
        };
        self.read_buffer.consume(head);
        loop {
            let there = self.read_buffer.unused().len();
            if there >= body {
                break;
            }
            self.read_buffer.fill(&mut self.stream, body - there)?;
        }
        fail_on_error(&self.read_buffer.unused()[..body])?;
        Ok(body)
    }

    pub(crate) fn read_buffer(&mut self) -> &mut ReadBuffer {
        &mut self.read_buffer
    }
}

/// Returns the lengths of the head and of the body once the head is complete.
fn read_head(text: &[u8]) -> io::Result<Option<(usize, usize)>> {
    let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") else {
        let is_too_long = text.len() > MAX_HEAD_BYTES;
        return if is_too_long {
            Err(io::Error::other("the response head is too long"))
        } else {
            Ok(None)
        };
    };
    let head = std::str::from_utf8(&text[..end]).map_err(io::Error::other)?;
    if !head.starts_with("HTTP/1.1 200") {
        return Err(io::Error::other(format!("the server answered {head}")));
    }
    let length = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    match length {
        Some(length) => Ok(Some((end + 4, length))),
        None => Err(io::Error::other("a response has no Content-Length")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_has_the_length_of_the_body() {
        let head = "HTTP/1.1 200 OK\r\nX: y\r\ncontent-length: 12\r\n\r\n";
        assert_eq!(read_head(head.as_bytes()).expect("a head"), Some((head.len(), 12)));
        assert_eq!(read_head(&head.as_bytes()[..30]).expect("a part"), None);
    }

    #[test]
    fn responses_without_status_200_or_a_length_are_refused() {
        for head in ["HTTP/1.1 404 Not Found\r\n\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n\r\n"] {
            assert!(read_head(head.as_bytes()).is_err(), "{head}");
        }
    }
}
