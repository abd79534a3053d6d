//! Servers that send without end: other servers are not affected, and a signal ends the program.

#![expect(clippy::disallowed_methods, reason = "a test starts the binary and sends signals")]

use std::fs::File;
use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::http_server::{
    EVENT_STREAM_HEAD, HttpRequest, HttpServer, INITIALIZE_RESULT, LIST_RESULT, flood,
    json_response, response, write_to,
};
use crate::world::World;

/// The time limit: much longer than a run needs, and much shorter than a flood.
const LIMIT: Duration = Duration::from_secs(10);

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// How a server floods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flood {
    /// Notifications on the stream that a client opens with GET.
    GetStream,
    /// Pings on the stream that a client opens with GET; each needs a response.
    Pings,
    /// Notifications on the stream that answers a POST.
    PostStream,
    /// Empty lines on the stream that answers the first request; they form no event.
    EmptyLines,
    /// Interim responses (1xx), of which HTTP allows any number.
    InterimResponses,
    Stdout,
    Stderr,
}

const ALL: [Flood; 7] = [
    Flood::GetStream,
    Flood::Pings,
    Flood::PostStream,
    Flood::EmptyLines,
    Flood::InterimResponses,
    Flood::Stdout,
    Flood::Stderr,
];

impl Flood {
    /// Returns whether the server lists its tools although it floods.
    fn has_tools(self) -> bool {
        matches!(self, Self::GetStream | Self::Pings)
    }
}

/// This file exists once the flood has begun. The other server can wait for it.
const BEGUN: &str = "bin/box.begun";

/// This file exists once the tool of the flooding server was called; the call gets no response.
const CALLED: &str = "bin/sea.called";

/// A world with a normal server and a flooding server, whose entry includes `more`.
fn world_with_flood(kind: Flood, more: &str) -> (World, Option<HttpServer>) {
    add_flooding_server(World::new().tool_server("box"), kind, more)
}

fn add_flooding_server(world: World, kind: Flood, more: &str) -> (World, Option<HttpServer>) {
    let entry = |start: String| format!("{start}, {more}");
    let (world, web, entry) = match kind {
        Flood::Stdout | Flood::Stderr => {
            let target = if kind == Flood::Stdout { "" } else { " >&2" };
            let script =
                format!(": > \"${{0%sea}}box.begun\"\nexec /usr/bin/yes '{CHANGED}'{target}\n");
            (world.script("sea", &script), None, entry(r#""command": "sea""#.to_owned()))
        }
        _ => {
            let (begun, called) = (world.path(BEGUN), world.path(CALLED));
            let markers = MarkerFiles { begun, called };
            let web = HttpServer::start(move |request, client| {
                serve_flood(kind, request, client, &markers);
            });
            let url = format!(r#""url": "{}""#, web.url("/mcp"));
            (world, Some(web), entry(url))
        }
    };
    (world.own_servers(&[("box", r#""command": "box""#), ("sea", &entry)]), web)
}

/// The paths of the marker files.
struct MarkerFiles {
    begun: PathBuf,
    called: PathBuf,
}

fn serve_flood(kind: Flood, request: &HttpRequest, client: &mut TcpStream, markers: &MarkerFiles) {
    let event = |message: &str| format!("data: {message}\n\n");
    let send_flood = |client: &mut TcpStream, head: &str, text: &str| {
        write_to(client, head);
        write_to(client, text);
        drop(File::create(&markers.begun));
        flood(client, text);
    };
    match (request.verb.as_str(), request.method()) {
        _ if kind == Flood::InterimResponses => {
            send_flood(client, "", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n");
        }
        ("POST", _) if kind == Flood::EmptyLines => {
            send_flood(client, EVENT_STREAM_HEAD, &"\n".repeat(1024));
        }
        ("GET", _) if kind == Flood::GetStream => {
            send_flood(client, EVENT_STREAM_HEAD, &event(CHANGED));
        }
        ("GET", _) if kind == Flood::Pings => {
            send_flood(
                client,
                EVENT_STREAM_HEAD,
                &event(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#),
            );
        }
        ("POST", "initialize") => write_to(client, &request.result(INITIALIZE_RESULT)),
        ("POST", "tools/list") if kind == Flood::PostStream => {
            send_flood(client, EVENT_STREAM_HEAD, &event(CHANGED));
        }
        ("POST", "tools/list") => write_to(client, &request.result(LIST_RESULT)),
        ("POST", "tools/call") => {
            drop(File::create(&markers.called));
            // Waits until the client disconnects.
            let _end = client.read(&mut [0]);
        }
        ("POST", "server/discover") => {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#;
            write_to(client, &json_response("400 Bad Request", error));
        }
        ("POST", _) => write_to(client, &response("202 Accepted", "", "")),
        _ => write_to(client, &response("405 Method Not Allowed", "", "")),
    }
}

#[test]
fn a_flooding_server_does_not_delay_the_tools_of_others() {
    for kind in ALL {
        let (world, _web) = world_with_flood(kind, r#""timeout": 1500"#);
        let began = Instant::now();
        let said = world.run("tools");
        assert!(said.contains("mcp_box_echo"), "{kind:?}: {said}");
        assert!(began.elapsed() < LIMIT, "{kind:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_call_of_another_server_is_answered_during_a_flood() {
    for kind in ALL {
        let (world, _web) = world_with_flood(kind, r#""timeout": 1500"#);
        let began = Instant::now();
        let said = world.run_words(&["call", "mcp_box_echo", "text=hello"]);
        assert!(said.contains("you said hello"), "{kind:?}: {said}");
        assert!(began.elapsed() < LIMIT, "{kind:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_server_that_answers_only_during_the_flood_of_another_is_not_delayed() {
    for kind in ALL {
        let world = World::new()
            .server_with_startup("box", r#"until [ -e "$0.begun" ]; do /bin/sleep 0.01; done"#);
        let (world, _web) = add_flooding_server(world, kind, r#""timeout": 1500"#);
        let began = Instant::now();
        let said = world.run("tools");
        assert!(said.contains("mcp_box_go"), "{kind:?}: {said}");
        assert!(began.elapsed() < LIMIT, "{kind:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_signal_ends_the_program_during_a_flood() {
    for kind in ALL {
        for signal in ["-TERM", "-INT"] {
            // The timeouts are much longer than the test.
            let (world, _web) =
                world_with_flood(kind, r#""timeout": 300000, "callTimeout": 300000"#);
            let words: &[&str] =
                if kind.has_tools() { &["call", "sea/go"] } else { &["tools", "--server", "sea"] };
            let mut command = world.command(words);
            let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            wait_for(&world.path(BEGUN));
            if kind.has_tools() {
                wait_for(&world.path(CALLED));
            }
            send(signal, &child);
            assert_eq!(exit_code(child), Some(130), "{kind:?} {signal}");
        }
    }
}

fn wait_for(mark: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    while !mark.exists() {
        assert!(Instant::now() < until, "timed out: {} does not exist", mark.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, child: &Child) {
    let done = Command::new("/usr/bin/kill").args([signal, &child.id().to_string()]).status();
    assert!(done.unwrap().success());
}

/// Waits for the end of a program; returns `None` if it had to be killed.
fn exit_code(mut child: Child) -> Option<i32> {
    let until = Instant::now() + LIMIT;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    drop(child.wait());
    None
}
