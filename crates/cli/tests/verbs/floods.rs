//! Servers that send without end cost themselves: others are listed, and a signal ends the program.

#![expect(clippy::disallowed_methods, reason = "a test starts the binary and sends signals")]

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

/// A machine with a good server and one that floods; the entry of the latter has `more` in it.
fn flooded(kind: Flood, more: &str) -> (World, Option<Web>) {
    let world = World::new().tool_server("box");
    let entry = |start: String| format!("{start}, {more}");
    let (world, web, entry) = match kind {
        Flood::Stdout | Flood::Stderr => {
            let target = if kind == Flood::Stdout { "" } else { " >&2" };
            let script = format!("exec /usr/bin/yes '{CHANGED}'{target}\n");
            (world.script("sea", &script), None, entry(r#""command": "sea""#.to_owned()))
        }
        _ => {
            let web = Web::start(move |asked, client| flooding(kind, asked, client));
            let url = format!(r#""url": "{}""#, web.url("/mcp"));
            (world, Some(web), entry(url))
        }
    };
    (world.own_servers(&[("box", r#""command": "box""#), ("sea", &entry)]), web)
}

fn flooding(kind: Flood, asked: &Asked, client: &mut std::net::TcpStream) {
    let event = |message: &str| format!("data: {message}\n\n");
    if kind == Flood::Heads {
        return flood(client, "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n");
    }
    match (asked.verb.as_str(), asked.method()) {
        ("POST", _) if kind == Flood::Lines => {
            say(client, EVENTS);
            flood(client, &"\n".repeat(1024));
        }
        ("GET", _) if kind == Flood::GetStream => {
            say(client, EVENTS);
            flood(client, &event(CHANGED));
        }
        ("GET", _) if kind == Flood::Pings => {
            say(client, EVENTS);
            flood(client, &event(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#));
        }
        ("POST", "initialize") => say(client, &asked.result(HELLO)),
        ("POST", "tools/list") if kind == Flood::PostStream => {
            say(client, EVENTS);
            flood(client, &event(CHANGED));
        }
        ("POST", "tools/list") => say(client, &asked.result(TOOLS)),
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
fn a_signal_ends_the_program_during_a_flood() {
    for kind in [Flood::PostStream, Flood::Lines, Flood::Heads, Flood::Stdout, Flood::Stderr] {
        // Its answer is waited for until long after the test.
        let (world, _web) = flooded(kind, r#""timeout": 300000"#);
        let mut command = world.command(&["tools", "--server", "sea"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let began = Instant::now();
        ask_to_end(&child);
        let ended = wait(child);
        assert!(ended, "{kind:?} was not ended by a signal within {:?}", began.elapsed());
    }
}

fn ask_to_end(child: &Child) {
    let done = Command::new("/usr/bin/kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(done.unwrap().success());
}

/// Waits for the end of a program; `false` if it had to be killed.
fn wait(mut child: Child) -> bool {
    let until = Instant::now() + PROMPT;
    while Instant::now() < until {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    drop(child.wait());
    false
}
