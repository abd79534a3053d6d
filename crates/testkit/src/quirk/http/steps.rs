//! The steps that a server performs on a connection, and the bytes of HTTP responses.
//!
//! `connections` executes the steps; the tables of quirks and `server` choose them.

use std::fmt::Display;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

/// The steps that respond to one request; afterwards the connection reads the next request.
pub(super) type Steps = Vec<Step>;

/// One action on a connection.
#[derive(Debug)]
pub(super) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Executes the stream commands of other connections, until one ends the stream.
    StreamFrom(UnboundedReceiver<StreamCommand>),
    /// Keeps the connection open without writing, until the client closes it.
    Hang,
    /// Closes the connection.
    Close,
    /// Closes the connection with a TCP reset.
    Reset,
}

/// A command for a stream that another connection writes.
#[derive(Debug)]
pub(super) enum StreamCommand {
    Write(Vec<u8>),
    /// Ends the body with the last chunk.
    EndBody,
    /// Closes the connection in the middle of the body.
    Disconnect,
}

/// Returns a step that sends a text.
pub(super) fn send(text: impl Into<Vec<u8>>) -> Step {
    Step::Send(text.into())
}

/// Returns a response with a body; `headers` is text, each line with its line end.
pub(super) fn http_response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns a JSON response.
pub(super) fn json_response(status: &str, body: &str) -> String {
    http_response(status, "Content-Type: application/json\r\n", body)
}

/// Returns an HTML response.
pub(super) fn html_response(status: &str) -> String {
    let body = format!("<!DOCTYPE html><html><body><h1>{status}</h1></body></html>\n");
    http_response(status, "Content-Type: text/html; charset=utf-8\r\n", &body)
}

/// Returns a plain-text response.
pub(super) fn text_response(status: &str, body: &str) -> String {
    http_response(status, "Content-Type: text/plain\r\n", body)
}

/// Returns the head of a chunked event stream.
pub(super) fn stream_head() -> String {
    stream_head_with("")
}

/// Returns the head of a chunked event stream with additional headers.
pub(super) fn stream_head_with(headers: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
    )
}

/// Returns a chunk.
pub(super) fn chunk(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{:x}\r\n{text}\r\n", text.len()) }
}

/// The end of a chunked body.
pub(super) const LAST_CHUNK: &str = "0\r\n\r\n";

/// Returns a message as a server-sent event.
pub(super) fn event(message: impl Display) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// Responds with a complete event stream.
pub(super) fn event_stream(events: &str) -> Steps {
    vec![send(stream_head() + &chunk(events) + LAST_CHUNK)]
}
