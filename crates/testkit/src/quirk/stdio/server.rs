//! The well-behaved server on stdin and stdout that a quirk twists.
//!
//! It is blocking and simple: a thread reads lines, one loop answers. Whatever lingers has an end
//! of its own (`QUIRK_LINGER_MS`), so that a failed test leaves nothing behind for ever.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::quirk::answers::{self, Refusal, Request};
use crate::quirk::mode::Era;

/// What makes a server odd.
#[derive(Clone, Copy)]
pub(super) enum Act {
    /// Nothing; the quirk is elsewhere or there is none.
    Behave,
    /// Writes these bytes before anything else.
    Greet(&'static [u8]),
    /// Writes every reply like this; `$ID` is the id, `$IDTEXT` the id without quotes, `$BODY` the
    /// result or the error, `$OTHER` the one that is not there.
    Envelope(&'static str),
    /// Answers a method with this result.
    Result(&'static str, &'static str),
    /// Answers a method with this whole text.
    Reply(&'static str, &'static str),
    /// Does something with what happens.
    Code(fn(&mut Server, &Event<'_>) -> Flow),
}

/// What happens to a server.
#[derive(Clone, Copy)]
pub(super) enum Event<'a> {
    /// Nothing was read yet.
    Start,
    /// A request came; it wants an answer.
    Asked(&'a Request),
    /// A notification came.
    Told,
    /// The input ended.
    End,
}

impl<'a> Event<'a> {
    /// Returns the request if it is of this method.
    pub(super) fn asks(&self, method: &str) -> Option<&'a Request> {
        match self {
            Self::Asked(request) if request.method == method => Some(request),
            _ => None,
        }
    }

    /// Returns the call of a tool.
    pub(super) fn call(&self) -> Option<&'a Request> {
        self.asks("tools/call")
    }
}

/// What to do after a quirk had its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// What a good server would do.
    Usual,
    /// Nothing more.
    Done,
    /// End the process.
    Exit(u8),
}

/// A server in conversation.
pub(super) struct Server {
    pub(super) era: Era,
    /// The declared capabilities of the client.
    pub(super) capabilities: Value,
    /// How often each method came, the current one included.
    seen: HashMap<String, u32>,
    /// A request that is answered later.
    pub(super) held: VecDeque<Request>,
    act: Act,
    inbox: Receiver<String>,
    /// What came while the server waited for something else.
    waiting: VecDeque<Value>,
}

impl Server {
    pub(super) fn new(era: Era, act: Act) -> Self {
        let seen = HashMap::new();
        let (held, waiting) = (VecDeque::new(), VecDeque::new());
        // Nothing arrives before `listen`.
        let (_, inbox) = mpsc::channel();
        Self { era, capabilities: Value::Null, seen, held, act, inbox, waiting }
    }

    /// Talks until the input ends or the quirk ends it.
    pub(super) fn serve(mut self) -> ExitCode {
        if let Flow::Exit(code) = self.turn(Event::Start) {
            return ExitCode::from(code);
        }
        self.listen();
        while let Some(message) = self.next(None) {
            let Some(request) = Request::of(&message) else { continue };
            *self.seen.entry(request.method.clone()).or_default() += 1;
            if let Some(capabilities) = request.client_capabilities() {
                self.capabilities = capabilities.clone();
            }
            let event = match request.id {
                Some(_) => Event::Asked(&request),
                None => Event::Told,
            };
            match self.turn(event) {
                Flow::Usual if request.id.is_some() => self.answer(&request),
                Flow::Usual | Flow::Done => {}
                Flow::Exit(code) => return ExitCode::from(code),
            }
        }
        match self.turn(Event::End) {
            Flow::Exit(code) => ExitCode::from(code),
            Flow::Usual | Flow::Done => ExitCode::SUCCESS,
        }
    }

    /// Starts to read. A quirk may replace the whole process first, and what was read by then
    /// would be lost.
    fn listen(&mut self) {
        let (sender, inbox) = mpsc::channel();
        self.inbox = inbox;
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

    fn turn(&mut self, event: Event<'_>) -> Flow {
        match (self.act, event) {
            (Act::Code(act), event) => return act(self, &event),
            (Act::Greet(bytes), Event::Start) => {
                self.write(bytes);
            }
            (Act::Result(method, result), Event::Asked(request)) if request.method == method => {
                self.result(request, result);
                return Flow::Done;
            }
            (Act::Reply(method, reply), Event::Asked(request)) if request.method == method => {
                self.say(&answers::fill(reply, request));
                return Flow::Done;
            }
            _ => {}
        }
        Flow::Usual
    }

    /// Gives the right answer.
    pub(super) fn answer(&mut self, request: &Request) {
        if self.era == Era::Modern && request.method == "subscriptions/listen" {
            self.acknowledge(request);
            return;
        }
        let answer = answers::answer(self.era, request);
        self.reply(request, &answer);
    }

    /// Opens a subscription, which has no answer until it ends.
    pub(super) fn acknowledge(&mut self, request: &Request) {
        self.notify(
            "notifications/subscriptions/acknowledged",
            &format!(
                r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{{"toolsListChanged":true}}}}"#,
                request.id()
            ),
        );
    }

    /// Answers with a result, given as a text with `$` names.
    pub(super) fn result(&mut self, request: &Request, template: &str) {
        let filled = answers::fill(template, request);
        let result = answers::dress(self.era, &request.method, &filled);
        self.reply(request, &Ok(result));
    }

    /// Answers with an error.
    pub(super) fn refuse(&mut self, request: &Request, code: i64, message: &str) {
        self.reply(request, &Err(Refusal::new(code, message)));
    }

    fn reply(&mut self, request: &Request, answer: &Result<String, Refusal>) {
        let Act::Envelope(template) = self.act else {
            self.say(&answers::reply(request.id(), answer));
            return;
        };
        let other = if answer.is_ok() { "\"error\":null" } else { "\"result\":null" };
        let id = request.id();
        let line = template
            .replace("$IDTEXT", id.trim_matches('"'))
            .replace("$ID", id)
            .replace("$OTHER", other)
            .replace("$BODY", &answers::body(answer));
        self.say(&line);
    }

    /// Sends a notification; `params` is JSON text.
    pub(super) fn notify(&mut self, method: &str, params: &str) -> bool {
        self.say(&answers::notification(method, params))
    }

    /// Writes a line; tells whether somebody still reads.
    pub(super) fn say(&mut self, line: &str) -> bool {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.write(&bytes)
    }

    /// Writes bytes; tells whether somebody still reads.
    #[expect(clippy::unused_self, reason = "a server is what writes")]
    pub(super) fn write(&mut self, bytes: &[u8]) -> bool {
        let mut output = io::stdout().lock();
        output.write_all(bytes).and_then(|()| output.flush()).is_ok()
    }

    /// Tells how often a method came.
    pub(super) fn times(&self, method: &str) -> u32 {
        self.seen.get(method).copied().unwrap_or_default()
    }

    /// Tells whether the client declared a capability.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.pointer(capability).is_some_and(|value| !value.is_null())
    }

    /// Waits for a message that `wanted` accepts and keeps the others for later.
    pub(super) fn wait_for(
        &mut self,
        limit: Duration,
        wanted: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let end = Instant::now() + limit;
        let mut others = VecDeque::new();
        let found = loop {
            match self.next(Some(end.saturating_duration_since(Instant::now()))) {
                Some(message) if wanted(&message) => break Some(message),
                Some(message) => others.push_back(message),
                None => break None,
            }
        };
        others.append(&mut self.waiting);
        self.waiting = others;
        found
    }

    /// Returns the next message, or nothing if the input ended or the time is over.
    fn next(&mut self, limit: Option<Duration>) -> Option<Value> {
        if let Some(message) = self.waiting.pop_front() {
            return Some(message);
        }
        let end = limit.map(|limit| Instant::now() + limit);
        loop {
            let line = match end {
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())),
            };
            if let Ok(message) = serde_json::from_str(&line.ok()?) {
                return Some(message);
            }
        }
    }
}
