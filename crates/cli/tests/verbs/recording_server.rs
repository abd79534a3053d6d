//! An HTTP server on the loopback that records all received bytes; a test defines its responses.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The read timeout of a request.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The start of the response head, and the body.
type HttpResponse = (String, String);

/// The server; it stops when it is dropped.
pub(crate) struct RecordingServer {
    address: SocketAddr,
    received: Arc<Mutex<String>>,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RecordingServer {
    /// Answers each request with this status, such as `401 Unauthorized`, and echoes the request in
    /// the body, as careless servers do.
    pub(crate) fn with_status(status: &'static str) -> Self {
        Self::with(move |request| (head(status, "text/plain"), request.to_owned()))
    }

    /// Answers each request with a status and a JSON document.
    #[cfg(unix)]
    pub(crate) fn with_json(answer: fn(&str) -> (&'static str, String)) -> Self {
        Self::with(move |request| {
            let (status, body) = answer(request);
            (head(status, "application/json"), body)
        })
    }

    /// Answers each request with this status, these headers and this body.
    pub(crate) fn with_response(status: &str, headers: &str, body: &str) -> Self {
        let (head, body) = (format!("HTTP/1.1 {status}\r\n{headers}"), body.to_owned());
        Self::with(move |_| (head.clone(), body.clone()))
    }

    fn with(answer: impl Fn(&str) -> HttpResponse + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (received, is_stopped) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (kept, over) = (Arc::clone(&received), Arc::clone(&is_stopped));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                serve(stream.unwrap(), &answer, &kept);
            }
        });
        Self { address, received, is_stopped, thread: Some(thread) }
    }

    /// Returns its address and port.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all received bytes, with one line for each connection.
    pub(crate) fn received(&self) -> String {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for RecordingServer {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn head(status: &str, kind: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n")
}

fn serve(mut stream: TcpStream, answer: impl Fn(&str) -> HttpResponse, received: &Mutex<String>) {
    received.lock().unwrap().push_str("connected\n");
    stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&request) {
        match stream.read(&mut piece) {
            Ok(length @ 1..) => request.extend_from_slice(&piece[..length]),
            Ok(0) | Err(_) => break,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    received.lock().unwrap().push_str(&request);
    let (start, body) = answer(&request);
    let rest = format!("content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    // The client may have disconnected.
    drop(stream.write_all((start + &rest).as_bytes()));
}

/// Returns whether the head and the body, as long as `content-length` says, are complete.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.is_none_or(|length| body.len() >= length.trim().parse().unwrap_or(0))
}
