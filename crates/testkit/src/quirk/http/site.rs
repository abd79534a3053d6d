//! The well-behaved server on HTTP that a quirk twists, and what it remembers.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::Settings;
use super::script::{Push, Script, Step, chunk, event, json, plain, response, send, stream_head};
use super::wire::Incoming;
use crate::quirk::answers::{self, MODERN_VERSION, Refusal, Request};
use crate::quirk::mode::Era;

/// What makes a server odd.
#[derive(Clone, Copy)]
pub(super) enum Act {
    /// Nothing.
    Behave,
    /// Sends every reply to a request like this. The text is the JSON of the reply, and the other
    /// the headers that belong to it.
    Wrap(fn(&Site, &str, &str) -> Script),
    /// Answers a call like this; the text is the JSON of the right reply.
    Call(fn(&mut Site, &Request, &str) -> Script),
    /// Does this to a call, given the JSON of the right reply.
    Fail(fn(&str) -> Script),
    /// Answers `subscriptions/listen` like this.
    Listen(fn(&mut Site, &Request) -> Script),
    /// Answers every request itself.
    All(fn(&mut Site, &Incoming) -> Script),
    /// Answers some requests itself.
    Code(fn(&mut Site, &Incoming) -> Option<Script>),
}

/// A server and its memory.
pub(super) struct Site {
    pub(super) era: Era,
    /// The address of another origin.
    pub(super) elsewhere: SocketAddr,
    settings: Settings,
    act: Act,
    /// How often each method or verb came, the current one included.
    seen: HashMap<String, u32>,
    /// The session that counts, if there is one.
    pub(super) session: Option<String>,
    /// How many sessions there were.
    sessions: u32,
    /// A stream that another connection writes.
    pub(super) stream: Option<UnboundedSender<Push>>,
    /// A request that is answered later.
    pub(super) held: Option<Request>,
    /// The texts of calls that came before.
    met: HashSet<String>,
    executed: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(super) fn new(act: Act, settings: Settings, elsewhere: SocketAddr) -> Self {
        Self {
            era: settings.era.unwrap_or(Era::Legacy),
            elsewhere,
            settings,
            act,
            seen: HashMap::new(),
            session: None,
            sessions: 0,
            stream: None,
            held: None,
            met: HashSet::new(),
            executed: Arc::default(),
        }
    }

    /// Returns where the executed calls are noted.
    pub(super) fn executed(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.executed)
    }

    /// Notes that a call is executed.
    pub(super) fn execute(&self, text: &str) {
        self.executed.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    /// Tells whether a call with this text comes for the first time.
    pub(super) fn has_not_met(&mut self, text: &str) -> bool {
        self.met.insert(text.to_owned())
    }

    /// Decides what to do with a request.
    pub(super) fn script(&mut self, incoming: &Incoming) -> Script {
        for key in [incoming.method(), &incoming.seen.verb] {
            *self.seen.entry(key.to_owned()).or_default() += 1;
        }
        match self.act {
            Act::All(act) => act(self, incoming),
            Act::Code(act) => act(self, incoming).unwrap_or_else(|| self.good(incoming)),
            _ => self.good(incoming),
        }
    }

    /// Does what a good server does.
    pub(super) fn good(&mut self, incoming: &Incoming) -> Script {
        match self.era {
            Era::Legacy => self.good_legacy(incoming),
            Era::Modern => self.good_modern(incoming),
        }
    }

    fn good_modern(&mut self, incoming: &Incoming) -> Script {
        if !incoming.is("POST") {
            return vec![send(response("405 Method Not Allowed", "Allow: POST\r\n", ""))];
        }
        let Some(request) = incoming.request() else { return accepted() };
        if request.method == "initialize" {
            let refusal = answers::unsupported_version(&[MODERN_VERSION]);
            return refused(request, "400 Bad Request", refusal);
        }
        if let Some(what) = wrong_header(incoming, request) {
            return refused(request, "400 Bad Request", Refusal::new(-32020, what));
        }
        if request.method == "subscriptions/listen" {
            return match self.act {
                Act::Listen(act) => act(self, request),
                _ => self.subscribed(request),
            };
        }
        match answers::answer(self.era, request) {
            Err(refusal) if refusal.code == -32601 => refused(request, "404 Not Found", refusal),
            Err(refusal) if refusal.code == -32022 => refused(request, "400 Bad Request", refusal),
            answer => self.replied(request, &answer, ""),
        }
    }

    fn good_legacy(&mut self, incoming: &Incoming) -> Script {
        if incoming.is("GET") {
            return vec![send(plain("405 Method Not Allowed", "Method Not Allowed"))];
        }
        if incoming.method() == "initialize" {
            let session = self.new_session();
            return self.initialized(incoming, &format!("Mcp-Session-Id: {session}\r\n"));
        }
        if let Some(refusal) = self.without_session(incoming) {
            return refusal;
        }
        if incoming.is("DELETE") {
            self.session = None;
            return vec![send(response("200 OK", "", ""))];
        }
        self.answered(incoming)
    }

    /// Answers `initialize` with these headers.
    pub(super) fn initialized(&mut self, incoming: &Incoming, headers: &str) -> Script {
        let Some(request) = incoming.request() else { return accepted() };
        let answer = answers::answer(Era::Legacy, request);
        self.replied(request, &answer, headers)
    }

    /// Answers what is in the body, without looking at headers.
    pub(super) fn answered(&mut self, incoming: &Incoming) -> Script {
        let Some(request) = incoming.request() else { return accepted() };
        let answer = answers::answer(self.era, request);
        self.replied(request, &answer, "")
    }

    fn replied(
        &mut self,
        request: &Request,
        answer: &Result<String, Refusal>,
        headers: &str,
    ) -> Script {
        let reply = answers::reply(request.id(), answer);
        match self.act {
            Act::Wrap(wrap) => wrap(self, &reply, headers),
            Act::Call(call) if request.method == "tools/call" => call(self, request, &reply),
            Act::Fail(fail) if request.method == "tools/call" => fail(&reply),
            _ => {
                let headers = format!("Content-Type: application/json\r\n{headers}");
                vec![send(response("200 OK", &headers, &reply))]
            }
        }
    }

    /// Says what is wrong with the session of a request.
    pub(super) fn without_session(&self, incoming: &Incoming) -> Option<Script> {
        let named = incoming.header("mcp-session-id");
        if self.session.is_none() && named.is_none() {
            return Some(bad_session(
                "400 Bad Request",
                -32000,
                "Bad Request: Server not initialized",
            ));
        }
        if named.is_none() {
            return Some(bad_session(
                "400 Bad Request",
                -32000,
                "Bad Request: No valid session ID provided",
            ));
        }
        (named != self.session.as_deref())
            .then(|| bad_session("404 Not Found", -32001, "Session not found"))
    }

    /// Makes a new session, which replaces the old one.
    pub(super) fn new_session(&mut self) -> String {
        self.sessions += 1;
        let session = format!("berth-{}", self.sessions);
        self.session = Some(session.clone());
        session
    }

    /// Opens a stream that other requests can write to.
    pub(super) fn open_stream(&mut self) -> UnboundedReceiver<Push> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.stream = Some(sender);
        receiver
    }

    /// Writes a chunk to the open stream.
    pub(super) fn push(&self, text: &str) {
        self.push_raw(Push::Bytes(chunk(text).into_bytes()));
    }

    /// Does something to the open stream.
    pub(super) fn push_raw(&self, push: Push) {
        if let Some(stream) = &self.stream {
            // The client may have left.
            let _ignored = stream.send(push);
        }
    }

    /// Opens a modern subscription.
    pub(super) fn subscribed(&mut self, request: &Request) -> Script {
        let follow = Step::Follow(self.open_stream());
        vec![send(stream_head() + &chunk(&event(acknowledgement(request)))), follow]
    }

    /// Tells how often a method or verb came.
    pub(super) fn times(&self, key: &str) -> u32 {
        self.seen.get(key).copied().unwrap_or_default()
    }

    pub(super) fn delay(&self, default_ms: u64) -> Duration {
        self.settings.delay.unwrap_or(Duration::from_millis(default_ms))
    }

    pub(super) fn bytes(&self, default: usize) -> usize {
        self.settings.bytes.unwrap_or(default)
    }
}

/// Says that a subscription is open.
pub(super) fn acknowledgement(request: &Request) -> String {
    answers::notification(
        "notifications/subscriptions/acknowledged",
        &format!(
            r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{{"toolsListChanged":true}}}}"#,
            request.id()
        ),
    )
}

/// Says that a message was taken.
pub(super) fn accepted() -> Script {
    vec![send(response("202 Accepted", "", ""))]
}

/// Refuses a request with a status and an error.
pub(super) fn refused(request: &Request, status: &str, refusal: Refusal) -> Script {
    vec![send(json(status, &answers::reply(request.id(), &Err(refusal))))]
}

/// Refuses a request that belongs to no session.
pub(super) fn bad_session(status: &str, code: i64, message: &str) -> Script {
    vec![send(json(status, &answers::reply("null", &Err(Refusal::new(code, message)))))]
}

/// Says which header of a modern request does not fit its body.
fn wrong_header(incoming: &Incoming, request: &Request) -> Option<&'static str> {
    let meta = request.params.get("_meta");
    let version = meta.and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
    let accepts = incoming.header("accept").unwrap_or_default();
    let name = request.params.get("name").and_then(Value::as_str);
    if incoming.header("mcp-protocol-version") != version.and_then(Value::as_str) {
        Some("MCP-Protocol-Version does not fit the body")
    } else if incoming.header("mcp-method") != Some(&request.method) {
        Some("Mcp-Method does not fit the body")
    } else if request.method == "tools/call" && incoming.header("mcp-name") != name {
        Some("Mcp-Name does not fit the body")
    } else if !accepts.contains("application/json") || !accepts.contains("text/event-stream") {
        Some("Accept must name both kinds of replies")
    } else {
        None
    }
}
