//! The correct HTTP server that a quirk changes, with its state: sessions, streams, counts.
//!
//! `handle` chooses the steps for a request. `HttpBehavior` says where a quirk takes over.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::HttpQuirkOptions;
use super::request::HttpRequest;
use super::steps::{
    Step, Steps, StreamCommand, chunk, event, http_response, json_response, send, stream_head,
    text_response,
};
use crate::quirk::mode::QuirkEra;
use crate::quirk::responses::{self, ClientMessage, JsonRpcError, MODERN_VERSION};

/// Where and how a quirk changes the server.
#[derive(Clone, Copy)]
pub(super) enum HttpBehavior {
    /// No change.
    Correct,
    /// Sends the response to every request with this function. Its arguments are the JSON of the
    /// response and the headers that belong to it.
    WrapResponse(fn(&HttpServer, &str, &str) -> Steps),
    /// Responds to a call; the text is the JSON of the correct response.
    RespondToCall(fn(&mut HttpServer, &ClientMessage, &str) -> Steps),
    /// Makes a call fail; the text is the JSON of the correct response.
    FailCall(fn(&str) -> Steps),
    /// Responds to `subscriptions/listen`.
    RespondToListen(fn(&mut HttpServer, &ClientMessage) -> Steps),
    /// Handles every request.
    HandleAll(fn(&mut HttpServer, &HttpRequest) -> Steps),
    /// Handles some requests; the correct server handles those for which it returns `None`.
    HandleSome(fn(&mut HttpServer, &HttpRequest) -> Option<Steps>),
}

/// A server and its state.
pub(super) struct HttpServer {
    pub(super) era: QuirkEra,
    /// The address of another origin.
    pub(super) other_origin: SocketAddr,
    options: HttpQuirkOptions,
    behavior: HttpBehavior,
    /// The number of requests per JSON-RPC method and HTTP method, including the current request.
    counts: HashMap<String, u32>,
    /// The id of the valid session.
    pub(super) session: Option<String>,
    session_count: u32,
    /// A stream that another connection writes.
    pub(super) stream: Option<UnboundedSender<StreamCommand>>,
    /// A request that gets its response later.
    pub(super) held_request: Option<ClientMessage>,
    /// The texts of earlier calls.
    call_texts: HashSet<String>,
    executed: Arc<Mutex<Vec<String>>>,
}

impl HttpServer {
    pub(super) fn new(
        behavior: HttpBehavior,
        options: HttpQuirkOptions,
        other_origin: SocketAddr,
    ) -> Self {
        Self {
            era: options.era.unwrap_or(QuirkEra::Legacy),
            other_origin,
            options,
            behavior,
            counts: HashMap::new(),
            session: None,
            session_count: 0,
            stream: None,
            held_request: None,
            call_texts: HashSet::new(),
            executed: Arc::default(),
        }
    }

    /// Returns the list to which executed calls are added.
    pub(super) fn executed(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.executed)
    }

    /// Records that a call is executed.
    pub(super) fn record_execution(&self, text: &str) {
        self.executed.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    /// Tells whether this is the first call with this text, and remembers the text.
    pub(super) fn is_first_call(&mut self, text: &str) -> bool {
        self.call_texts.insert(text.to_owned())
    }

    /// Returns the steps that respond to a request.
    pub(super) fn handle(&mut self, http_request: &HttpRequest) -> Steps {
        for key in [http_request.rpc_method(), &http_request.raw.http_method] {
            *self.counts.entry(key.to_owned()).or_default() += 1;
        }
        match self.behavior {
            HttpBehavior::HandleAll(handle) => handle(self, http_request),
            HttpBehavior::HandleSome(handle) => {
                handle(self, http_request).unwrap_or_else(|| self.handle_correctly(http_request))
            }
            _ => self.handle_correctly(http_request),
        }
    }

    /// Handles a request like a correct server.
    fn handle_correctly(&mut self, http_request: &HttpRequest) -> Steps {
        match self.era {
            QuirkEra::Legacy => self.handle_legacy(http_request),
            QuirkEra::Modern => self.handle_modern(http_request),
        }
    }

    fn handle_modern(&mut self, http_request: &HttpRequest) -> Steps {
        if !http_request.has_http_method("POST") {
            return vec![send(http_response("405 Method Not Allowed", "Allow: POST\r\n", ""))];
        }
        let Some(request) = http_request.rpc_request() else { return accepted() };
        if request.method == "initialize" {
            let error = responses::unsupported_version(&[MODERN_VERSION]);
            return error_response(request, "400 Bad Request", error);
        }
        if let Some(what) = header_mismatch(http_request, request) {
            return error_response(request, "400 Bad Request", JsonRpcError::new(-32020, what));
        }
        if request.method == "subscriptions/listen" {
            return match self.behavior {
                HttpBehavior::RespondToListen(respond) => respond(self, request),
                _ => self.open_subscription(request),
            };
        }
        match responses::correct_result(self.era, request) {
            Err(error) if error.code == -32601 => error_response(request, "404 Not Found", error),
            Err(error) if error.code == -32022 => error_response(request, "400 Bad Request", error),
            outcome => self.respond(request, &outcome, ""),
        }
    }

    fn handle_legacy(&mut self, http_request: &HttpRequest) -> Steps {
        if http_request.has_http_method("GET") {
            return vec![send(text_response("405 Method Not Allowed", "Method Not Allowed"))];
        }
        if http_request.rpc_method() == "initialize" {
            let session = self.new_session();
            return self
                .respond_to_initialize(http_request, &format!("Mcp-Session-Id: {session}\r\n"));
        }
        if let Some(steps) = self.session_error(http_request) {
            return steps;
        }
        if http_request.has_http_method("DELETE") {
            self.session = None;
            return vec![send(http_response("200 OK", "", ""))];
        }
        self.respond_to_message(http_request)
    }

    /// Responds to `initialize`, with these headers.
    pub(super) fn respond_to_initialize(
        &mut self,
        http_request: &HttpRequest,
        headers: &str,
    ) -> Steps {
        let Some(request) = http_request.rpc_request() else { return accepted() };
        let outcome = responses::correct_result(QuirkEra::Legacy, request);
        self.respond(request, &outcome, headers)
    }

    /// Responds to the message in the body, without checking the headers.
    pub(super) fn respond_to_message(&mut self, http_request: &HttpRequest) -> Steps {
        let Some(request) = http_request.rpc_request() else { return accepted() };
        let outcome = responses::correct_result(self.era, request);
        self.respond(request, &outcome, "")
    }

    fn respond(
        &mut self,
        request: &ClientMessage,
        outcome: &Result<String, JsonRpcError>,
        headers: &str,
    ) -> Steps {
        let response = responses::rpc_response(request.id(), outcome);
        let is_call = request.method == "tools/call";
        match self.behavior {
            HttpBehavior::WrapResponse(wrap) => wrap(self, &response, headers),
            HttpBehavior::RespondToCall(respond) if is_call => respond(self, request, &response),
            HttpBehavior::FailCall(fail) if is_call => fail(&response),
            _ => {
                let headers = format!("Content-Type: application/json\r\n{headers}");
                vec![send(http_response("200 OK", &headers, &response))]
            }
        }
    }

    /// Returns the error response if the session of a request is missing or not valid.
    pub(super) fn session_error(&self, http_request: &HttpRequest) -> Option<Steps> {
        let session = http_request.header("mcp-session-id");
        if self.session.is_none() && session.is_none() {
            return Some(session_error_response(
                "400 Bad Request",
                -32000,
                "Bad Request: Server not initialized",
            ));
        }
        if session.is_none() {
            return Some(session_error_response(
                "400 Bad Request",
                -32000,
                "Bad Request: No valid session ID provided",
            ));
        }
        (session != self.session.as_deref())
            .then(|| session_error_response("404 Not Found", -32001, "Session not found"))
    }

    /// Creates a session, which replaces the previous one.
    pub(super) fn new_session(&mut self) -> String {
        self.session_count += 1;
        let session = format!("berth-{}", self.session_count);
        self.session = Some(session.clone());
        session
    }

    /// Opens a stream to which later requests can write.
    pub(super) fn open_stream(&mut self) -> UnboundedReceiver<StreamCommand> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.stream = Some(sender);
        receiver
    }

    /// Writes a chunk to the open stream.
    pub(super) fn write_stream(&self, text: &str) {
        self.send_stream_command(StreamCommand::Write(chunk(text).into_bytes()));
    }

    /// Sends a command to the open stream.
    pub(super) fn send_stream_command(&self, command: StreamCommand) {
        if let Some(stream) = &self.stream {
            // The client may have disconnected.
            let _ignored = stream.send(command);
        }
    }

    /// Opens a modern subscription.
    fn open_subscription(&mut self, request: &ClientMessage) -> Steps {
        let body = Step::StreamFrom(self.open_stream());
        vec![send(stream_head() + &chunk(&event(acknowledgement(request)))), body]
    }

    /// Returns the number of requests with a JSON-RPC method or an HTTP method.
    pub(super) fn request_count(&self, key: &str) -> u32 {
        self.counts.get(key).copied().unwrap_or_default()
    }

    pub(super) fn delay(&self, default_ms: u64) -> Duration {
        self.options.delay.unwrap_or(Duration::from_millis(default_ms))
    }

    pub(super) fn bytes(&self, default: usize) -> usize {
        self.options.bytes.unwrap_or(default)
    }
}

/// Returns the notification that acknowledges a subscription.
pub(super) fn acknowledgement(request: &ClientMessage) -> String {
    responses::notification(
        "notifications/subscriptions/acknowledged",
        &format!(
            r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{{"toolsListChanged":true}}}}"#,
            request.id()
        ),
    )
}

/// Accepts a message without a response in the body.
pub(super) fn accepted() -> Steps {
    vec![send(http_response("202 Accepted", "", ""))]
}

/// Responds with a status and a JSON-RPC error.
pub(super) fn error_response(request: &ClientMessage, status: &str, error: JsonRpcError) -> Steps {
    vec![send(json_response(status, &responses::rpc_response(request.id(), &Err(error))))]
}

/// Responds with an error that has no id, because the session is not valid.
pub(super) fn session_error_response(status: &str, code: i64, message: &str) -> Steps {
    let error = JsonRpcError::new(code, message);
    vec![send(json_response(status, &responses::rpc_response("null", &Err(error))))]
}

/// Returns what is wrong with the headers of a modern request.
fn header_mismatch(http_request: &HttpRequest, request: &ClientMessage) -> Option<&'static str> {
    let meta = request.params.get("_meta");
    let version = meta.and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
    let accepts = http_request.header("accept").unwrap_or_default();
    let name = request.params.get("name").and_then(Value::as_str);
    if http_request.header("mcp-protocol-version") != version.and_then(Value::as_str) {
        Some("MCP-Protocol-Version does not match the body")
    } else if http_request.header("mcp-method") != Some(&request.method) {
        Some("Mcp-Method does not match the body")
    } else if request.method == "tools/call" && http_request.header("mcp-name") != name {
        Some("Mcp-Name does not match the body")
    } else if !accepts.contains("application/json") || !accepts.contains("text/event-stream") {
        Some("Accept must list application/json and text/event-stream")
    } else {
        None
    }
}
