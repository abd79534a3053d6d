//! An HTTP server on the loopback whose responses a test writes itself, one thread per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// One request.
pub(crate) struct HttpRequest {
    pub(crate) verb: String,
    pub(crate) path: String,
    /// The headers, one per line.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpRequest {
    /// Returns the method of the message in the body, or an empty text.
    pub(crate) fn method(&self) -> &str {
        between(&self.body, "\"method\":\"", '"')
    }

    /// Returns the id of the message in the body, as JSON.
    pub(crate) fn id(&self) -> &str {
        let id = between(&self.body, "\"id\":", ',');
        id.split('}').next().unwrap_or_default()
    }

    /// Returns an HTTP response with a JSON-RPC result.
    pub(crate) fn result(&self, result: &str) -> String {
        json_response("200 OK", &self.reply(result))
    }

    /// Returns the JSON-RPC message with a result.
    pub(crate) fn reply(&self, result: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.id())
    }
}

/// The result of `initialize`, for a server with tools.
pub(crate) const INITIALIZE_RESULT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"3"}}"#;

/// The result of `tools/list`, with one tool.
pub(crate) const LIST_RESULT: &str =
    r#"{"tools":[{"name":"go","description":"Goes","inputSchema":{"type":"object"}}]}"#;

/// The server; it accepts no new connections after it was dropped.
pub(crate) struct HttpServer {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
}

impl HttpServer {
    /// Calls `answer` for every request, which writes to the connection, and closes the connection.
    pub(crate) fn start(
        answer: impl Fn(&HttpRequest, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (answer, over) = (Arc::new(answer), Arc::clone(&is_stopped));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, stream) = (Arc::clone(&answer), stream.unwrap());
                thread::spawn(move || {
                    if let Some((request, mut stream)) = read(stream) {
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Self { address, is_stopped }
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

/// Writes to a client that may have disconnected.
pub(crate) fn write_to(stream: &mut TcpStream, text: &str) {
    drop(stream.write_all(text.as_bytes()));
}

/// Writes the same text repeatedly until the client disconnects.
pub(crate) fn flood(stream: &mut TcpStream, text: &str) {
    let block = text.repeat(64 * 1024 / text.len() + 1);
    while stream.write_all(block.as_bytes()).is_ok() {}
}

/// Returns an HTTP response.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Returns an HTTP response with a JSON body.
pub(crate) fn json_response(status: &str, body: &str) -> String {
    response(status, "content-type: application/json\r\n", body)
}

/// The response head of an event stream that ends with the connection.
pub(crate) const EVENT_STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn read(stream: TcpStream) -> Option<(HttpRequest, TcpStream)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (verb, path) = (words.next()?, words.next()?);
    let (mut length, mut head) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        head.push_str(&line);
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Some((HttpRequest { verb, path, head, body }, reader.into_inner()))
}

fn between<'a>(text: &'a str, start: &str, end: char) -> &'a str {
    let Some((_, rest)) = text.split_once(start) else { return "" };
    rest.split(end).next().unwrap_or_default()
}
