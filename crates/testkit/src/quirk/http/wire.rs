//! Reads a request from a socket.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Seen;
use crate::quirk::answers::Request;

/// More than any client of a test sends.
const MOST_BYTES: usize = 256 << 20;

/// A request with what its body says.
pub(super) struct Incoming {
    pub(super) seen: Seen,
    /// The message in the body.
    pub(super) message: Value,
    /// The message, if it is a request or a notification.
    pub(super) asked: Option<Request>,
}

impl Incoming {
    fn new(seen: Seen) -> Self {
        let message = serde_json::from_slice(&seen.body).unwrap_or_default();
        let asked = Request::of(&message);
        Self { seen, message, asked }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.seen.header(name)
    }

    pub(super) fn is(&self, verb: &str) -> bool {
        self.seen.verb == verb
    }

    /// Returns the method of the message, or nothing.
    pub(super) fn method(&self) -> &str {
        self.asked.as_ref().map(|asked| asked.method.as_str()).unwrap_or_default()
    }

    /// Returns the request that wants an answer.
    pub(super) fn request(&self) -> Option<&Request> {
        self.asked.as_ref().filter(|asked| asked.id.is_some())
    }

    /// Returns the call of a tool.
    pub(super) fn call(&self) -> Option<&Request> {
        self.request().filter(|asked| asked.method == "tools/call")
    }
}

/// Reads the next request; nothing if the client closed the connection.
///
/// `rest` is what was read too much, and what is left for the next time.
pub(super) async fn read(
    socket: &mut (impl AsyncRead + Unpin),
    rest: &mut Vec<u8>,
    at_other_origin: bool,
) -> io::Result<Option<Incoming>> {
    let head_end = loop {
        if let Some(at) = find(rest, b"\r\n\r\n") {
            break at;
        }
        if !more(socket, rest).await? {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&rest[..head_end]).into_owned();
    rest.drain(..head_end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (verb, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers = lines.filter_map(header).collect();
    let mut seen = Seen { verb, path, headers, body: Vec::new(), at_other_origin };
    seen.body = if seen.header("transfer-encoding").is_some() {
        chunked(socket, rest).await?
    } else {
        let length = seen.header("content-length").and_then(|length| length.parse().ok());
        take(socket, rest, length.unwrap_or(0)).await?
    };
    Ok(Some(Incoming::new(seen)))
}

async fn chunked(socket: &mut (impl AsyncRead + Unpin), rest: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = find(rest, b"\r\n") {
                break at;
            }
            if !more(socket, rest).await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest.drain(..end + 2);
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        let chunk = take(socket, rest, size + 2).await?;
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return Ok(body);
        }
    }
}

async fn take(
    socket: &mut (impl AsyncRead + Unpin),
    rest: &mut Vec<u8>,
    length: usize,
) -> io::Result<Vec<u8>> {
    while rest.len() < length {
        if !more(socket, rest).await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(rest.drain(..length).collect())
}

async fn more(socket: &mut (impl AsyncRead + Unpin), rest: &mut Vec<u8>) -> io::Result<bool> {
    if rest.len() > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(socket.read_buf(rest).await? > 0)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
