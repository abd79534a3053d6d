//! The correct server on stdin and stdout that a quirk changes.
//!
//! It is blocking: one thread reads lines, one loop handles messages. `StdioBehavior` says where a
//! quirk takes over. A process that must outlive its stdin ends after `QUIRK_LINGER_MS`, so that a
//! failed test leaves nothing running.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::quirk::mode::QuirkEra;
use crate::quirk::responses::{self, ClientMessage, JsonRpcError};

/// Where and how a quirk changes the server.
#[derive(Clone, Copy)]
pub(super) enum StdioBehavior {
    /// No change.
    Correct,
    /// Writes these bytes before anything else.
    StartWith(&'static [u8]),
    /// Writes every response with this template. `$ID` is the id, `$IDTEXT` the id without quotes,
    /// `$BODY` the result or the error, and `$OTHER` is null for the member that is missing.
    Envelope(&'static str),
    /// Responds to a method with this result.
    Result(&'static str, &'static str),
    /// Responds to a method with this text.
    Response(&'static str, &'static str),
    /// Handles events with this function.
    Handler(fn(&mut StdioServer, &Event<'_>) -> NextStep),
}

/// What happens to a server.
#[derive(Clone, Copy)]
pub(super) enum Event<'a> {
    /// The process has started; nothing was read yet.
    Start,
    /// A request was received.
    Request(&'a ClientMessage),
    /// A notification was received.
    Notification,
    /// The input has ended.
    EndOfInput,
}

impl<'a> Event<'a> {
    /// Returns the request if it has this method.
    pub(super) fn request(&self, method: &str) -> Option<&'a ClientMessage> {
        match self {
            Self::Request(request) if request.method == method => Some(request),
            _ => None,
        }
    }

    /// Returns the request if it calls a tool.
    pub(super) fn call(&self) -> Option<&'a ClientMessage> {
        self.request("tools/call")
    }
}

/// What the server does after a quirk has handled an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// What a correct server does.
    Default,
    /// Nothing more.
    Done,
    /// Exits with this code.
    Exit(u8),
}

/// A server and the state of its session.
pub(super) struct StdioServer {
    pub(super) era: QuirkEra,
    client_capabilities: Value,
    /// The number of messages per method, including the current message.
    counts: HashMap<String, u32>,
    /// Requests that get their response later.
    pub(super) held_requests: VecDeque<ClientMessage>,
    behavior: StdioBehavior,
    lines: Receiver<String>,
    /// Messages that were received while the server waited for another one.
    postponed: VecDeque<Value>,
}

impl StdioServer {
    pub(super) fn new(era: QuirkEra, behavior: StdioBehavior) -> Self {
        // Replaced by `start_reading`.
        let (_, lines) = mpsc::channel();
        Self {
            era,
            client_capabilities: Value::Null,
            counts: HashMap::new(),
            held_requests: VecDeque::new(),
            behavior,
            lines,
            postponed: VecDeque::new(),
        }
    }

    /// Handles messages until the input ends or the quirk exits.
    pub(super) fn run(mut self) -> ExitCode {
        if let NextStep::Exit(code) = self.handle(Event::Start) {
            return ExitCode::from(code);
        }
        self.start_reading();
        while let Some(message) = self.next_message(None) {
            let Some(request) = ClientMessage::parse(&message) else { continue };
            *self.counts.entry(request.method.clone()).or_default() += 1;
            if let Some(capabilities) = request.client_capabilities() {
                self.client_capabilities = capabilities.clone();
            }
            let event = match request.id {
                Some(_) => Event::Request(&request),
                None => Event::Notification,
            };
            match self.handle(event) {
                NextStep::Default if request.id.is_some() => self.respond(&request),
                NextStep::Default | NextStep::Done => {}
                NextStep::Exit(code) => return ExitCode::from(code),
            }
        }
        match self.handle(Event::EndOfInput) {
            NextStep::Exit(code) => ExitCode::from(code),
            NextStep::Default | NextStep::Done => ExitCode::SUCCESS,
        }
    }

    /// Starts the thread that reads. A quirk may replace the process (`exec`) before that; input
    /// that was already read would be lost.
    fn start_reading(&mut self) {
        let (sender, lines) = mpsc::channel();
        self.lines = lines;
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            let mut line = Vec::new();
            while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
    }

    fn handle(&mut self, event: Event<'_>) -> NextStep {
        match (self.behavior, event) {
            (StdioBehavior::Handler(handle), event) => return handle(self, &event),
            (StdioBehavior::StartWith(bytes), Event::Start) => {
                self.write_bytes(bytes);
            }
            (StdioBehavior::Result(method, result), Event::Request(request))
                if request.method == method =>
            {
                self.send_result(request, result);
                return NextStep::Done;
            }
            (StdioBehavior::Response(method, response), Event::Request(request))
                if request.method == method =>
            {
                self.send_line(&responses::fill_placeholders(response, request));
                return NextStep::Done;
            }
            _ => {}
        }
        NextStep::Default
    }

    /// Sends the correct response.
    pub(super) fn respond(&mut self, request: &ClientMessage) {
        if self.era == QuirkEra::Modern && request.method == "subscriptions/listen" {
            self.acknowledge_subscription(request);
            return;
        }
        let outcome = responses::correct_result(self.era, request);
        self.send_response(request, &outcome);
    }

    /// Acknowledges a subscription, which gets no response until it ends.
    pub(super) fn acknowledge_subscription(&mut self, request: &ClientMessage) {
        self.notify(
            "notifications/subscriptions/acknowledged",
            &format!(
                r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{{"toolsListChanged":true}}}}"#,
                request.id()
            ),
        );
    }

    /// Responds with a result; the template may have `$` placeholders.
    pub(super) fn send_result(&mut self, request: &ClientMessage, template: &str) {
        let filled = responses::fill_placeholders(template, request);
        let result = responses::add_modern_members(self.era, &request.method, &filled);
        self.send_response(request, &Ok(result));
    }

    /// Responds with an error.
    pub(super) fn send_error(&mut self, request: &ClientMessage, code: i64, message: &str) {
        self.send_response(request, &Err(JsonRpcError::new(code, message)));
    }

    fn send_response(&mut self, request: &ClientMessage, outcome: &Result<String, JsonRpcError>) {
        let StdioBehavior::Envelope(template) = self.behavior else {
            self.send_line(&responses::rpc_response(request.id(), outcome));
            return;
        };
        let other = if outcome.is_ok() { "\"error\":null" } else { "\"result\":null" };
        let id = request.id();
        let line = template
            .replace("$IDTEXT", id.trim_matches('"'))
            .replace("$ID", id)
            .replace("$OTHER", other)
            .replace("$BODY", &responses::result_or_error(outcome));
        self.send_line(&line);
    }

    /// Sends a notification; `params` is JSON text.
    pub(super) fn notify(&mut self, method: &str, params: &str) -> bool {
        self.send_line(&responses::notification(method, params))
    }

    /// Writes a line; returns `false` if the client has closed the pipe.
    pub(super) fn send_line(&mut self, line: &str) -> bool {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.write_bytes(&bytes)
    }

    /// Writes bytes; returns `false` if the client has closed the pipe.
    #[expect(clippy::unused_self, reason = "writing is an action of the server")]
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) -> bool {
        let mut output = io::stdout().lock();
        output.write_all(bytes).and_then(|()| output.flush()).is_ok()
    }

    /// Returns the number of received messages with a method.
    pub(super) fn message_count(&self, method: &str) -> u32 {
        self.counts.get(method).copied().unwrap_or_default()
    }

    /// Tells whether the client declared a capability.
    pub(super) fn client_has(&self, capability: &str) -> bool {
        self.client_capabilities.pointer(capability).is_some_and(|value| !value.is_null())
    }

    /// Waits for a message that `is_wanted` accepts, and postpones the others.
    pub(super) fn wait_for(
        &mut self,
        timeout: Duration,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let deadline = Instant::now() + timeout;
        let mut others = VecDeque::new();
        let found = loop {
            match self.next_message(Some(deadline.saturating_duration_since(Instant::now()))) {
                Some(message) if is_wanted(&message) => break Some(message),
                Some(message) => others.push_back(message),
                None => break None,
            }
        };
        others.append(&mut self.postponed);
        self.postponed = others;
        found
    }

    /// Returns the next message, or `None` after the end of the input or the timeout.
    fn next_message(&mut self, timeout: Option<Duration>) -> Option<Value> {
        if let Some(message) = self.postponed.pop_front() {
            return Some(message);
        }
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            let line = match deadline {
                None => self.lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => {
                    self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()))
                }
            };
            if let Ok(message) = serde_json::from_str(&line.ok()?) {
                return Some(message);
            }
        }
    }
}
