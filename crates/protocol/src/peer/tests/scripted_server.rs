//! A scripted HTTP server for the tests, and a connection to it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::super::{Peer, RequestOptions};
use crate::session::{NoHandler, RequestError};
use crate::transport::{FixedHeaders, HttpClient, HttpClientOptions};
use crate::view::ToolResult;
use crate::view::send::ClientInfo;
use crate::{ConnectOptions, HttpSpec, HttpTransport, connect_http};

/// The timeout of the tests.
pub(super) const DEADLINE: Duration = Duration::from_secs(20);

/// A request that the server has received.
pub(super) struct ReceivedRequest {
    pub(super) verb: Method,
    /// The session id that the client has sent.
    pub(super) session: Option<String>,
    pub(super) message: Value,
    /// How many such requests were received so far, including this one.
    pub(super) times: usize,
}

impl ReceivedRequest {
    /// Returns its name: `tools/call`, or `GET s1`.
    pub(super) fn name(&self) -> String {
        match self.message["method"].as_str() {
            Some(method) => method.to_owned(),
            None => format!("{} {}", self.verb, self.session.as_deref().unwrap_or("-")),
        }
    }

    /// Answers with a result.
    pub(super) fn answer(&self, result: &Value) -> Response {
        let answer = json!({"jsonrpc": "2.0", "id": self.message["id"], "result": result});
        reply(StatusCode::OK, &answer)
    }

    /// Answers with an error and a status; `id` replaces the id of the request.
    pub(super) fn refuse(&self, status: u16, id: Option<Value>, code: i64) -> Response {
        let id = id.unwrap_or_else(|| self.message["id"].clone());
        let error = json!({"code": code, "message": "no such session"});
        let status = StatusCode::from_u16(status).unwrap();
        reply(status, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }
}

/// Answers with any message.
pub(super) fn reply(status: StatusCode, body: &Value) -> Response {
    let body = Body::from(body.to_string());
    let json = ("content-type", "application/json");
    Response::builder().status(status).header(json.0, json.1).body(body).unwrap()
}

/// Answers with a status and no body.
pub(super) fn status(status: u16) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}

/// Answers with an event stream, which ends when the sender is dropped.
pub(super) fn stream() -> (mpsc::UnboundedSender<String>, Response) {
    let (sender, mut events) = mpsc::unbounded_channel::<String>();
    let events = futures_util::stream::poll_fn(move |context| {
        events.poll_recv(context).map(|event| event.map(|it| Ok::<_, Infallible>(Bytes::from(it))))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    (sender, response.body(Body::from_stream(events)).unwrap())
}

/// Answers a request; `None` for the default response.
type Script = dyn Fn(&ReceivedRequest) -> Option<Response> + Send + Sync;

/// The server; dropping it ends it.
pub(super) struct ScriptedServer {
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
    _server: JoinSet<()>,
}

impl ScriptedServer {
    pub(super) async fn open(
        script: impl Fn(&ReceivedRequest) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, notes): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&seen));
        let router = axum::Router::new().fallback(move |request: Request| {
            let (script, notes) = (Arc::clone(&script), Arc::clone(&notes));
            async move {
                let mut asked = read(request).await;
                {
                    let mut notes = notes.lock().unwrap();
                    notes.push(asked.name());
                    asked.times = notes.iter().filter(|it| **it == asked.name()).count();
                }
                script(&asked).unwrap_or_else(|| default_response(&asked))
            }
        });
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, seen, _server: server }
    }

    /// Connects with a handler that refuses all requests.
    pub(super) async fn connect(&self) -> Peer {
        let spec = HttpSpec {
            target: self.url.parse().unwrap(),
            client: HttpClient::new(&HttpClientOptions::default()),
            authorizer: Arc::new(FixedHeaders(HeaderMap::new())),
            http_transport: HttpTransport::Auto,
        };
        let options = ConnectOptions::new(ClientInfo::new("test", "1"));
        connect_http(&spec, &options, Arc::new(NoHandler)).await.unwrap()
    }

    /// Returns how many requests of this name were received.
    pub(super) fn count(&self, name: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|it| *it == name).count()
    }

    /// Waits until this many requests of this name were received.
    pub(super) async fn until(&self, name: &str, count: usize) {
        let deadline = Instant::now() + DEADLINE;
        while self.count(name) < count {
            assert!(Instant::now() < deadline, "no {name} in {:?}", self.seen.lock().unwrap());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Calls the tool of the server.
pub(super) async fn call(peer: &Peer) -> Result<ToolResult, RequestError> {
    peer.call_tool("load", None, &RequestOptions::within(DEADLINE)).await
}

async fn read(request: Request) -> ReceivedRequest {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let session = head.headers.get("mcp-session-id").map(|it| it.to_str().unwrap().to_owned());
    let message = serde_json::from_slice(&body).unwrap_or_default();
    ReceivedRequest { verb: head.method, session, message, times: 0 }
}

/// The response of a modern server without sessions, for requests that the script does not answer.
fn default_response(asked: &ReceivedRequest) -> Response {
    let info = json!({"name": "stage", "version": "1"});
    match asked.name().as_str() {
        "server/discover" => asked.answer(&json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": info,
        })),
        "tools/call" => asked.answer(&json!({"content": [], "resultType": "complete"})),
        "tools/list" => asked.answer(&json!({"tools": [], "resultType": "complete"})),
        name if name.starts_with("notifications/") => status(202),
        _ => status(405),
    }
}
