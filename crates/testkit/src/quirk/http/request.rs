//! Reads HTTP/1.1 requests from a socket, and the JSON-RPC message in their body.
//!
//! Bodies have a `Content-Length` or are chunked.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::RecordedRequest;
use crate::quirk::responses::ClientMessage;

/// The limit for buffered bytes; no client of a test sends more.
const MAX_BUFFERED_BYTES: usize = 256 << 20;

/// An HTTP request and the message in its body.
pub(super) struct HttpRequest {
    pub(super) raw: RecordedRequest,
    /// The body as JSON; null if it is not JSON.
    pub(super) json: Value,
    /// The message, if it is a request or a notification.
    pub(super) client_message: Option<ClientMessage>,
}

impl HttpRequest {
    fn new(raw: RecordedRequest) -> Self {
        let json = serde_json::from_slice(&raw.body).unwrap_or_default();
        let client_message = ClientMessage::parse(&json);
        Self { raw, json, client_message }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.raw.header(name)
    }

    pub(super) fn has_http_method(&self, http_method: &str) -> bool {
        self.raw.http_method == http_method
    }

    /// Returns the method of the message; empty if it is neither a request nor a notification.
    pub(super) fn rpc_method(&self) -> &str {
        self.client_message.as_ref().map(|message| message.method.as_str()).unwrap_or_default()
    }

    /// Returns the message if it is a request.
    pub(super) fn rpc_request(&self) -> Option<&ClientMessage> {
        self.client_message.as_ref().filter(|message| message.id.is_some())
    }

    /// Returns the message if it is a `tools/call` request.
    pub(super) fn tool_call(&self) -> Option<&ClientMessage> {
        self.rpc_request().filter(|request| request.method == "tools/call")
    }
}

/// Reads the next request; returns `None` if the client closed the connection.
///
/// `rest` holds bytes that were read but not used yet.
pub(super) async fn read(
    socket: &mut (impl AsyncRead + Unpin),
    rest: &mut Vec<u8>,
    at_other_origin: bool,
) -> io::Result<Option<HttpRequest>> {
    let head_end = loop {
        if let Some(at) = find(rest, b"\r\n\r\n") {
            break at;
        }
        if !read_more(socket, rest).await? {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&rest[..head_end]).into_owned();
    rest.drain(..head_end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (http_method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers = lines.filter_map(header).collect();
    let mut raw = RecordedRequest { http_method, path, headers, body: Vec::new(), at_other_origin };
    raw.body = if raw.header("transfer-encoding").is_some() {
        read_chunked(socket, rest).await?
    } else {
        let length = raw.header("content-length").and_then(|length| length.parse().ok());
        read_exactly(socket, rest, length.unwrap_or(0)).await?
    };
    Ok(Some(HttpRequest::new(raw)))
}

async fn read_chunked(
    socket: &mut (impl AsyncRead + Unpin),
    rest: &mut Vec<u8>,
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = find(rest, b"\r\n") {
                break at;
            }
            if !read_more(socket, rest).await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest.drain(..end + 2);
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        let chunk = read_exactly(socket, rest, size + 2).await?;
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return Ok(body);
        }
    }
}

async fn read_exactly(
    socket: &mut (impl AsyncRead + Unpin),
    rest: &mut Vec<u8>,
    length: usize,
) -> io::Result<Vec<u8>> {
    while rest.len() < length {
        if !read_more(socket, rest).await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(rest.drain(..length).collect())
}

async fn read_more(socket: &mut (impl AsyncRead + Unpin), rest: &mut Vec<u8>) -> io::Result<bool> {
    if rest.len() > MAX_BUFFERED_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(socket.read_buf(rest).await? > 0)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
