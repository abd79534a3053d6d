//! Servers that send without end cost themselves: others are listed, and a signal ends the program.

#![expect(clippy::disallowed_methods, reason = "a test starts the binary and sends signals")]

use std::fs::File;
use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::web::{Asked, EVENTS, HELLO, TOOLS, Web, flood, json, response, say};
use crate::world::World;

/// Far longer than it takes, and far shorter than a flood lasts.
const PROMPT: Duration = Duration::from_secs(10);

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// How a server floods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flood {
    /// The stream that a client opens with GET.
    GetStream,
    /// Pings on the stream that a client opens with GET, each of which wants an answer.
    Pings,
    /// The stream that answers a POST.
    PostStream,
    /// Empty lines on the stream that answers the first request, which make no event.
    Lines,
    /// The heads before the answer, which HTTP allows any number of.
    Heads,
    Stdout,
    Stderr,
}

const ALL: [Flood; 7] = [
    Flood::GetStream,
    Flood::Pings,
    Flood::PostStream,
    Flood::Lines,
    Flood::Heads,
    Flood::Stdout,
    Flood::Stderr,
];

impl Flood {
    /// Tells whether the server lists its tools and floods only beside that.
    fn has_tools(self) -> bool {
        matches!(self, Self::GetStream | Self::Pings)
    }
}

/// Is there as soon as the flood has begun. The other server can wait for it.
const BEGUN: &str = "bin/box.begun";

/// Is there as soon as the tool of the server that floods was called; that call is never answered.
const CALLED: &str = "bin/sea.called";

/// A machine with a good server and one that floods; the entry of the latter has `more` in it.
fn flooded(kind: Flood, more: &str) -> (World, Option<Web>) {
    flooded_beside(World::new().tool_server("box"), kind, more)
}

fn flooded_beside(world: World, kind: Flood, more: &str) -> (World, Option<Web>) {
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
            let marks = Marks { begun, called };
            let web = Web::start(move |asked, client| flooding(kind, asked, client, &marks));
            let url = format!(r#""url": "{}""#, web.url("/mcp"));
            (world, Some(web), entry(url))
        }
    };
    (world.own_servers(&[("box", r#""command": "box""#), ("sea", &entry)]), web)
}

/// The files that tell how far the server is.
struct Marks {
    begun: PathBuf,
    called: PathBuf,
}

fn flooding(kind: Flood, asked: &Asked, client: &mut TcpStream, marks: &Marks) {
    let event = |message: &str| format!("data: {message}\n\n");
    let pour = |client: &mut TcpStream, head: &str, text: &str| {
        say(client, head);
        say(client, text);
        drop(File::create(&marks.begun));
        flood(client, text);
    };
    match (asked.verb.as_str(), asked.method()) {
        _ if kind == Flood::Heads => {
            pour(client, "", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n");
        }
        ("POST", _) if kind == Flood::Lines => pour(client, EVENTS, &"\n".repeat(1024)),
        ("GET", _) if kind == Flood::GetStream => pour(client, EVENTS, &event(CHANGED)),
        ("GET", _) if kind == Flood::Pings => {
            pour(client, EVENTS, &event(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#));
        }
        ("POST", "initialize") => say(client, &asked.result(HELLO)),
        ("POST", "tools/list") if kind == Flood::PostStream => {
            pour(client, EVENTS, &event(CHANGED));
        }
        ("POST", "tools/list") => say(client, &asked.result(TOOLS)),
        ("POST", "tools/call") => {
            drop(File::create(&marks.called));
            // Until the client has left.
            let _end = client.read(&mut [0]);
        }
        ("POST", "server/discover") => {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}"#;
            say(client, &json("400 Bad Request", error));
        }
        ("POST", _) => say(client, &response("202 Accepted", "", "")),
        _ => say(client, &response("405 Method Not Allowed", "", "")),
    }
}

#[test]
fn one_servers_flood_does_not_keep_the_tools_of_others() {
    for kind in ALL {
        let (world, _web) = flooded(kind, r#""timeout": 1500"#);
        let began = Instant::now();
        let said = world.run("tools");
        assert!(said.contains("mcp_box_echo"), "{kind:?}: {said}");
        assert!(began.elapsed() < PROMPT, "{kind:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_call_of_another_server_is_answered_during_a_flood() {
    for kind in ALL {
        let (world, _web) = flooded(kind, r#""timeout": 1500"#);
        let began = Instant::now();
        let said = world.run_words(&["call", "mcp_box_echo", "text=hello"]);
        assert!(said.contains("you said hello"), "{kind:?}: {said}");
        assert!(began.elapsed() < PROMPT, "{kind:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_server_that_answers_only_during_the_flood_of_another_is_not_delayed() {
    for kind in ALL {
        let world = World::new()
            .server_after("box", r#"until [ -e "$0.begun" ]; do /bin/sleep 0.01; done"#);
        let (world, _web) = flooded_beside(world, kind, r#""timeout": 1500"#);
        let began = Instant::now();
        let said = world.run("tools");
        assert!(said.contains("mcp_box_go"), "{kind:?}: {said}");
        assert!(began.elapsed() < PROMPT, "{kind:?} took {:?}", began.elapsed());
    }
}

#[test]
fn a_signal_ends_the_program_during_a_flood() {
    for kind in ALL {
        for signal in ["-TERM", "-INT"] {
            // Its answer is waited for until long after the test.
            let (world, _web) = flooded(kind, r#""timeout": 300000, "callTimeout": 300000"#);
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
        assert!(Instant::now() < until, "never: {}", mark.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, child: &Child) {
    let done = Command::new("/usr/bin/kill").args([signal, &child.id().to_string()]).status();
    assert!(done.unwrap().success());
}

/// Waits for the end of a program; `None` if it had to be killed.
fn exit_code(mut child: Child) -> Option<i32> {
    let until = Instant::now() + PROMPT;
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
