//! A scripted HTTP server, and helpers for requests to it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use super::super::{
    AddressPolicy, HttpClient, HttpClientOptions, HttpError, HttpResponse, HttpTarget,
    OutgoingRequest, RedirectPolicy,
};

/// The timeout of the tests.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// A request that the server has received.
#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns the first line without the version.
    pub(super) fn line(&self) -> &str {
        self.head.lines().next().unwrap().trim_end_matches(" HTTP/1.1")
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// What the server does with a request.
pub(super) enum ScriptedReply {
    /// Writes this and waits for the next request.
    Keep(String),
    /// Writes this and closes the connection.
    Close(String),
    /// Writes this, then waits until the client closes the connection.
    Hold(String),
    /// Writes this, then the rest after [`TestServer::go_on`].
    Later(String, String),
}

pub(super) fn ok(body: &str) -> String {
    answer("200 OK", "", body)
}

/// Formats a response; each header ends with a line break.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

pub(super) fn redirect(status: u16, location: &str) -> String {
    answer(&format!("{status} Redirect"), &format!("location: {location}\r\n"), "gone")
}

/// A server on this machine. It ends with the runtime of the test.
#[derive(Clone)]
pub(super) struct TestServer {
    pub(super) port: u16,
    state: Arc<ServerState>,
}

type Script = dyn Fn(&ReceivedRequest) -> ScriptedReply + Send + Sync;

struct ServerState {
    script: Box<Script>,
    seen: Mutex<Vec<ReceivedRequest>>,
    connections: AtomicUsize,
    closed: AtomicUsize,
    changed: tokio::sync::Notify,
    later: tokio::sync::Notify,
    tasks: TaskTracker,
}

impl TestServer {
    pub(super) async fn start(
        script: impl Fn(&ReceivedRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self::new(listener.local_addr().unwrap().port(), Box::new(script));
        let state = server.state.clone();
        server.state.tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                state.tasks.spawn(state.clone().serve(stream));
            }
        });
        server
    }

    #[cfg(unix)]
    pub(super) fn start_on_socket(
        path: &std::path::Path,
        script: impl Fn(&ReceivedRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::UnixListener::bind(path).unwrap();
        let server = Self::new(0, Box::new(script));
        let state = server.state.clone();
        server.state.tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                state.tasks.spawn(state.clone().serve(stream));
            }
        });
        server
    }

    fn new(port: u16, script: Box<Script>) -> Self {
        let state = ServerState {
            script,
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            changed: tokio::sync::Notify::new(),
            later: tokio::sync::Notify::new(),
            tasks: TaskTracker::new(),
        };
        Self { port, state: Arc::new(state) }
    }

    pub(super) fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(super) fn seen(&self) -> Vec<ReceivedRequest> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Continues one delayed response.
    pub(super) fn go_on(&self) {
        self.state.later.notify_one();
    }

    /// Waits until this many connections have ended.
    pub(super) async fn until_closed(&self, count: usize) {
        let waiting = async {
            while self.state.closed.load(Ordering::SeqCst) < count {
                self.state.changed.notified().await;
            }
        };
        waiting.await;
    }
}

impl ServerState {
    async fn serve(self: Arc<Self>, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        while let Some(seen) = read_request(&mut stream).await {
            let reply = (self.script)(&seen);
            self.seen.lock().unwrap().push(seen);
            if !self.reply(&mut stream, reply).await {
                break;
            }
        }
        drop(stream);
        self.closed.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_one();
    }

    async fn reply(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
        reply: ScriptedReply,
    ) -> bool {
        let (ScriptedReply::Keep(text)
        | ScriptedReply::Close(text)
        | ScriptedReply::Hold(text)
        | ScriptedReply::Later(text, _)) = &reply;
        stream.write_all(text.as_bytes()).await.unwrap();
        match reply {
            ScriptedReply::Keep(_) => true,
            ScriptedReply::Close(_) => false,
            ScriptedReply::Hold(_) => {
                while stream.read(&mut [0; 100]).await.is_ok_and(|count| count > 0) {}
                false
            }
            ScriptedReply::Later(_, rest) => {
                self.later.notified().await;
                stream.write_all(rest.as_bytes()).await.is_ok()
            }
        }
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<ReceivedRequest> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let mut seen = ReceivedRequest { head: String::from_utf8(head).unwrap(), body: Vec::new() };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    seen.body.resize(length, 0);
    stream.read_exact(&mut seen.body).await.ok()?;
    Some(seen)
}

pub(super) fn client() -> HttpClient {
    HttpClient::new(&HttpClientOptions::default())
}

pub(super) fn post(address: &str) -> OutgoingRequest {
    OutgoingRequest {
        method: Method::POST,
        target: address.parse::<HttpTarget>().unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
        carries_credentials: false,
        redirects: RedirectPolicy::Follow,
        policy: AddressPolicy::Any,
    }
}

pub(super) fn post_with(address: &str, name: &'static str, value: &str) -> OutgoingRequest {
    let mut outgoing = post(address);
    outgoing.headers.insert(name, value.parse().unwrap());
    outgoing
}

pub(super) async fn send(client: &HttpClient, address: &str) -> Result<HttpResponse, HttpError> {
    let sending = client.send(post(address));
    tokio::time::timeout(TIMEOUT, sending).await.expect("the client is stuck")
}

/// Sends a request and reads the whole response.
pub(super) async fn fetch(client: &HttpClient, address: &str) -> Result<String, HttpError> {
    let response = send(client, address).await?;
    let body = response.body.collect(1_000_000).await?;
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

/// Renders an error with its causes and its hint, as the command line does.
pub(super) fn render(error: &HttpError) -> String {
    let mut lines = vec![error.to_string()];
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        lines.push(format!("  cause: {error}"));
        cause = error.source();
    }
    lines.extend(error.hint().map(|hint| format!("  hint: {hint}")));
    lines.join("\n")
}
