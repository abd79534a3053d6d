//! What a server does with a connection, as steps, and the bytes of responses.

use std::fmt::Display;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

/// The steps that answer one request; afterwards the connection waits for the next.
pub(super) type Script = Vec<Step>;

/// One thing to do with a connection.
#[derive(Debug)]
pub(super) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Writes what others put in, until they end it.
    Follow(UnboundedReceiver<Push>),
    /// Holds the connection until the client gives up.
    Hang,
    /// Closes the connection.
    Close,
    /// Closes the connection so that the client gets an error.
    Reset,
}

/// What somebody puts into a stream that another connection writes.
#[derive(Debug)]
pub(super) enum Push {
    Bytes(Vec<u8>),
    /// Ends the body, as it should be.
    Finish,
    /// Closes the connection in the middle of the body.
    Cut,
}

/// Sends a text.
pub(super) fn send(text: impl Into<Vec<u8>>) -> Step {
    Step::Send(text.into())
}

/// Returns a response with a body; `headers` is text with line ends.
pub(super) fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns a JSON response.
pub(super) fn json(status: &str, body: &str) -> String {
    response(status, "Content-Type: application/json\r\n", body)
}

/// Returns a page of HTML.
pub(super) fn html(status: &str) -> String {
    let body = format!("<!DOCTYPE html><html><body><h1>{status}</h1></body></html>\n");
    response(status, "Content-Type: text/html; charset=utf-8\r\n", &body)
}

/// Returns a response of plain text.
pub(super) fn plain(status: &str, body: &str) -> String {
    response(status, "Content-Type: text/plain\r\n", body)
}

/// Returns the head of an event stream with chunks.
pub(super) fn stream_head() -> String {
    stream_head_with("")
}

/// Returns the head of an event stream with chunks and more headers.
pub(super) fn stream_head_with(headers: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
    )
}

/// Returns a chunk.
pub(super) fn chunk(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{:x}\r\n{text}\r\n", text.len()) }
}

/// What ends a body of chunks.
pub(super) const LAST_CHUNK: &str = "0\r\n\r\n";

/// Returns a message as an event.
pub(super) fn event(message: impl Display) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// Answers with a whole event stream.
pub(super) fn stream(events: &str) -> Script {
    vec![send(stream_head() + &chunk(events) + LAST_CHUNK)]
}
