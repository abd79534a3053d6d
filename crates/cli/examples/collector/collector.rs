//! An OTLP collector on the loopback interface: stores the requests it receives, and decodes their
//! spans.
//!
//! The tests use it as well, so it panics on unexpected input.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::protobuf::{Message, hex};

/// The collector. Its threads end with the process.
pub(crate) struct Collector {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

/// One received request.
#[derive(Clone)]
pub(crate) struct ReceivedRequest {
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// How a collector behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CollectorBehavior {
    Answers,
    /// Reads requests and never responds.
    Silent,
    Refuses,
}

/// One received span.
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) name: String,
    kind: u64,
    attributes: BTreeMap<String, String>,
    events: Vec<String>,
    pub(crate) links: Vec<String>,
    is_error: bool,
}

impl Collector {
    /// Listens on a local port; 0 chooses a free one.
    pub(crate) fn start(port: u16, behavior: CollectorBehavior) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || listen(stream.unwrap(), behavior, &kept));
            }
        });
        Self { address, requests }
    }

    /// Returns the value for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns all spans that have ended.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.requests();
        let bodies = requests.iter().map(|request| Message::read(&request.body));
        let spans = bodies.flat_map(|body| {
            let scopes = body.messages(1).into_iter().flat_map(|resource| resource.messages(2));
            scopes
                .flat_map(|scope| scope.messages(2))
                .map(|span| Span::of(&span))
                .collect::<Vec<_>>()
        });
        spans.collect()
    }

    /// Returns the resource attributes of the exporter.
    pub(crate) fn resource(&self) -> BTreeMap<String, String> {
        let requests = self.requests();
        let body = Message::read(&requests.first().unwrap().body);
        attributes(&body.messages(1)[0].messages(1)[0], 1)
    }
}

impl Span {
    fn of(span: &Message<'_>) -> Self {
        let links = span.messages(13).into_iter().map(|link| hex(link.bytes(2)));
        let events = span.messages(11).into_iter().map(|event| event.text(2));
        Self {
            trace: hex(span.bytes(1)),
            id: hex(span.bytes(2)),
            parent: hex(span.bytes(4)),
            name: span.text(5),
            kind: span.number(6),
            attributes: attributes(span, 9),
            events: events.collect(),
            links: links.collect(),
            is_error: span.messages(15).first().is_some_and(|status| status.number(3) == 2),
        }
    }

    /// Formats the span without ids and times.
    pub(crate) fn render(&self) -> String {
        let kind = match self.kind {
            1 => "internal",
            3 => "client",
            _ => "other",
        };
        let status = if self.is_error { " error" } else { "" };
        let mut text = format!("{} ({kind}{status})", self.name);
        for (key, value) in &self.attributes {
            let value = if key == "process.pid" { "[pid]" } else { value };
            write!(text, "\n  {key}: {value}").unwrap();
        }
        for event in &self.events {
            write!(text, "\n  * {event}").unwrap();
        }
        text
    }
}

fn attributes(message: &Message<'_>, field: u64) -> BTreeMap<String, String> {
    let pairs = message.messages(field).into_iter().map(|pair| {
        let value = pair.messages(2).remove(0);
        let text = match (value.has(2), value.has(3)) {
            (true, _) => (value.number(2) == 1).to_string(),
            (_, true) => value.number(3).to_string(),
            _ => value.text(1),
        };
        (pair.text(1), text)
    });
    pairs.collect()
}

/// Reads requests until the client closes the connection.
fn listen(stream: TcpStream, behavior: CollectorBehavior, kept: &Mutex<Vec<ReceivedRequest>>) {
    let mut answers = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        kept.lock().unwrap().push(ReceivedRequest { head, body });
        let status = match behavior {
            CollectorBehavior::Answers => "200 OK",
            CollectorBehavior::Refuses => "503 Service Unavailable",
            CollectorBehavior::Silent => continue,
        };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        answers.write_all(answer.as_bytes()).unwrap();
    }
}
