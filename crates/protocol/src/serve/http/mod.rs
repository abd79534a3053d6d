//! The Streamable HTTP transport of a server, both eras on one path.
//!
//! - `access_check`: access control by host, origin and bearer token
//! - `post`: incoming messages; headers and body decide the era
//! - `get`: event streams of the legacy era, with resumption after a disconnect
//! - `event_queue`: the events of one stream, written by calls and read by a connection

mod access_check;
mod event_queue;
mod event_stream;
mod get;
mod http_sessions;
mod options;
mod post;
mod post_exchange;
mod reply;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use axum::serve::ListenerExt;
use http::{HeaderMap, Method, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub(crate) use self::event_queue::EventQueue;
use self::http_sessions::HttpSessions;
pub use self::options::{BearerToken, HttpServerOptions};
use super::McpServer;
use super::server::ServerCore;
use crate::era::{Era, Revision};

impl McpServer {
    /// Returns the routes of this server, to be served with an existing listener.
    pub fn router(&self, options: HttpServerOptions) -> Router {
        let path = options.path.clone();
        let state = Arc::new(HttpServerState {
            core: Arc::clone(self.core()),
            sessions: Arc::new(HttpSessions::new(self.core(), &options)),
            permits: Arc::new(Semaphore::new(options.max_calls)),
            options,
        });
        Router::new().route(&path, any(handle)).with_state(state)
    }

    /// Serves HTTP on a listener until the server is closed and its connections are done.
    ///
    /// Dropping the future stops accepting; open connections continue.
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        options: HttpServerOptions,
    ) -> io::Result<()> {
        let closing = self.core().closing().clone();
        // Events are small, so Nagle's algorithm would delay them. A failure here only means delay.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, self.router(options))
            .with_graceful_shutdown(async move { closing.cancelled().await })
            .await
    }
}

/// What the handlers of all requests share.
struct HttpServerState {
    core: Arc<ServerCore>,
    sessions: Arc<HttpSessions>,
    permits: Arc<Semaphore>,
    options: HttpServerOptions,
}

async fn handle(State(state): State<Arc<HttpServerState>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = access_check::check_access(&state.options, &parts) {
        return *refusal;
    }
    let is_modern = speaks_modern(&parts.headers);
    match parts.method {
        Method::POST => post::post(&state, parts.headers, body).await,
        Method::GET if !is_modern => get::get(&state, &parts.headers),
        Method::DELETE if !is_modern => get::delete(&state, &parts.headers),
        _ if is_modern => reply::not_allowed("POST"),
        _ => reply::not_allowed("GET, POST, DELETE"),
    }
}

/// Tells whether the header has a modern revision, which allows only POST.
fn speaks_modern(headers: &HeaderMap) -> bool {
    let revision = version(headers).and_then(|version| version.parse::<Revision>().ok());
    revision.is_some_and(|revision| revision.era() == Era::Modern)
}

/// Returns the revision in the headers, not validated.
fn version(headers: &HeaderMap) -> Option<&str> {
    text(headers, "mcp-protocol-version")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// Returns the HTTP status for a JSON-RPC error of a modern call.
fn status_of(code: i64) -> StatusCode {
    use crate::envelope::code;
    match code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}
