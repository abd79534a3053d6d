//! The trace of all messages between Wharf and a server, for debugging: redacted, and limited in
//! the number and the length of its lines.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "http")]
use http::header::LOCATION;
#[cfg(feature = "http")]
use http::{HeaderMap, HeaderName};
use tokio::time::Instant;
use wharf_config::ServerName;
#[cfg(feature = "http")]
use wharf_config::secret::REDACTED;
use wharf_protocol::transport::{TraceEvent, Tracer};

use crate::resolve::Secrets;

/// How many characters of one message are kept.
const MAX_TEXT: usize = 4_000;

/// How many characters of one header are kept.
#[cfg(feature = "http")]
const MAX_HEADER: usize = 200;

/// How many lines there are at most for one attempt to connect.
const MAX_LINES: usize = 1_000;

/// Headers whose values are not secret; all other values are redacted.
#[cfg(feature = "http")]
const VISIBLE_HEADERS: [&str; 14] = [
    "accept",
    "allow",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "retry-after",
    "server",
    "transfer-encoding",
    "www-authenticate",
];

/// Receives the trace line by line. It must not block.
pub type TraceSink = Arc<dyn Fn(TraceLine) + Send + Sync>;

/// One line of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    /// The server.
    pub server: ServerName,
    /// The time since the attempt to connect began.
    pub at: Duration,
    /// What the line is.
    pub kind: TraceKind,
    /// The message, redacted and cut: untrusted text.
    pub text: String,
}

/// What a line of a trace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// A message to the server.
    Sent,
    /// A message from the server.
    Received,
    /// The head of an HTTP request or response.
    Http,
    /// A note about the trace itself.
    Note,
}

impl TraceKind {
    /// Returns the word for machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Http => "http",
            Self::Note => "note",
        }
    }
}

/// Redacts the messages of one connection and passes them to the sink.
pub(crate) struct RedactingTracer {
    server: ServerName,
    secrets: Arc<Secrets>,
    began: Instant,
    sink: TraceSink,
    lines: AtomicUsize,
}

impl RedactingTracer {
    pub(crate) fn new(server: &ServerName, secrets: &Arc<Secrets>, sink: &TraceSink) -> Self {
        Self {
            server: server.clone(),
            secrets: Arc::clone(secrets),
            began: Instant::now(),
            sink: Arc::clone(sink),
            lines: AtomicUsize::new(0),
        }
    }

    fn send_line(&self, kind: TraceKind, text: String) {
        let at = self.began.elapsed();
        (self.sink)(TraceLine { server: self.server.clone(), at, kind, text });
    }

    fn message(&self, bytes: &[u8]) -> String {
        let bytes = bytes.trim_ascii();
        let text = String::from_utf8_lossy(bytes);
        let mut redacted = self.secrets.redact_start(&text, MAX_TEXT);
        if text.chars().nth(MAX_TEXT).is_some() {
            let _infallible = write!(redacted, "… ({} bytes in all)", bytes.len());
        }
        redacted
    }

    #[cfg(feature = "http")]
    fn headers(&self, headers: &HeaderMap) -> String {
        let redacted = headers.iter().map(|(name, value)| {
            let value = match value.to_str() {
                Ok(value) if is_visible(name) => self.secrets.redact_start(value, MAX_HEADER),
                Ok(value) if name == LOCATION => self.location(value),
                _ => REDACTED.to_owned(),
            };
            format!("{name}: {value}")
        });
        let redacted: Vec<String> = redacted.collect();
        if redacted.is_empty() { String::new() } else { format!(" ({})", redacted.join(", ")) }
    }
}

#[cfg(feature = "http")]
impl RedactingTracer {
    /// Renders the target of a redirect, without user information and query.
    fn location(&self, value: &str) -> String {
        let place = value.split(['?', '#']).next().unwrap_or_default();
        if place.contains('@') {
            return REDACTED.to_owned();
        }
        self.secrets.redact_start(place, MAX_HEADER)
    }
}

impl Tracer for RedactingTracer {
    fn record(&self, event: TraceEvent<'_>) {
        match self.lines.fetch_add(1, Ordering::Relaxed) {
            ..MAX_LINES => {}
            MAX_LINES => {
                return self.send_line(TraceKind::Note, "the rest is not shown".to_owned());
            }
            _ => return,
        }
        let (kind, text) = match event {
            TraceEvent::Sent(bytes) => (TraceKind::Sent, self.message(bytes)),
            TraceEvent::Received(bytes) => (TraceKind::Received, self.message(bytes)),
            #[cfg(feature = "http")]
            TraceEvent::HttpRequest { method, target, headers } => {
                let head = self.secrets.redact_start(&format!("{method} {target}"), MAX_TEXT);
                (TraceKind::Http, format!("{head}{}", self.headers(headers)))
            }
            #[cfg(feature = "http")]
            TraceEvent::HttpResponse { status, headers } => {
                (TraceKind::Http, format!("{status}{}", self.headers(headers)))
            }
            _ => return,
        };
        self.send_line(kind, text);
    }
}

#[cfg(feature = "http")]
fn is_visible(name: &HeaderName) -> bool {
    VISIBLE_HEADERS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    #[cfg(feature = "http")]
    use http::{HeaderValue, Method, StatusCode};

    use super::*;

    /// Traces events with a secret in them, and returns the lines.
    fn traced(record: impl FnOnce(&RedactingTracer)) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lines);
        let sink: TraceSink = Arc::new(move |line: TraceLine| {
            seen.lock().unwrap().push(format!("{} {}", line.kind.word(), line.text));
        });
        let secrets = Arc::new(Secrets::of_texts(&["tiger-4711"]));
        record(&RedactingTracer::new(&ServerName::new("box"), &secrets, &sink));
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    #[cfg(feature = "http")]
    #[test]
    fn secrets_are_redacted_in_messages_and_http_heads() {
        let headers = HeaderMap::from_iter([
            (http::header::AUTHORIZATION, HeaderValue::from_static("Bearer tiger-4711")),
            (HeaderName::from_static("x-key"), HeaderValue::from_static("whatever")),
            (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        let target = "http://me:pass@a.example/mcp?key=tiger-4711".parse().unwrap();
        let lines = traced(|trace| {
            trace.record(TraceEvent::HttpRequest {
                method: &Method::POST,
                target: &target,
                headers: &headers,
            });
            trace.record(TraceEvent::Sent(b"{\"token\":\"tiger-4711\"}\n"));
            trace.record(TraceEvent::HttpResponse { status: StatusCode::OK, headers: &headers });
            trace.record(TraceEvent::Received(b"no tiger-4711"));
        });
        insta::assert_snapshot!(lines.join("\n"), @r#"
        http POST http://a.example/mcp (authorization: •••, x-key: •••, content-type: application/json)
        sent {"token":"•••"}
        http 200 OK (authorization: •••, x-key: •••, content-type: application/json)
        received no •••
        "#);
    }

    #[test]
    fn a_trace_limits_its_lines_and_their_length() {
        let long = traced(|trace| trace.record(TraceEvent::Received(&vec![b'x'; 1 << 20])));
        assert!(long[0].len() < 5_000 && long[0].ends_with("… (1048576 bytes in all)"));
        let many = traced(|trace| {
            for _ in 0..5_000 {
                trace.record(TraceEvent::Received(b"{}"));
            }
        });
        assert_eq!(many.len(), MAX_LINES + 1);
        assert_eq!(many.last().unwrap(), "note the rest is not shown");
    }
}
