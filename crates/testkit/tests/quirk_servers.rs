//! Tests that the misbehaving servers do what their descriptions say, with raw clients.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use wharf_testkit::quirk::http::HttpQuirkOptions;
use wharf_testkit::quirk::{
    HttpQuirkServer, ModeTag, QuirkEra, QuirkMode, http_modes, stdio_modes,
};

/// A limit that no mode of these tests reaches, so that an error does not hang them.
const LIMIT: Duration = Duration::from_secs(30);

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// Returns the messages of a client that connects, lists and calls.
fn conversation(era: QuirkEra) -> String {
    let lines = match era {
        QuirkEra::Legacy => [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"ahoy"}}}"#.to_owned(),
        ],
        QuirkEra::Modern => [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{META}}}}}"#),
            String::new(),
            format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{META}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"ahoy"}},{META}}}}}"#),
        ],
    };
    lines.join("\n") + "\n"
}

/// Sends this input to a server, closes it, and waits for the server and its output to end.
#[expect(clippy::disallowed_methods, reason = "the server under test is a program")]
fn run(mode: &str, era: QuirkEra, input: &str) -> (Output, Duration) {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wharf-quirk"))
        .args([mode, era.as_argument()])
        .env("QUIRK_DELAY_MS", "1")
        .env("QUIRK_LINGER_MS", "300")
        .env("QUIRK_BYTES", "200000")
        .env("QUIRK_COUNT", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A server that ends early does not read everything.
    let _ignored = stdin.write_all(input.as_bytes());
    drop(stdin);
    let (sender, finished) = mpsc::channel();
    let name = mode.to_owned();
    thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let output = finished.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("{name} does not end"));
    (output, started.elapsed())
}

/// Checks that the output of a mode contains these texts.
#[track_caller]
fn check(mode: &str, era: QuirkEra, expected: &[&str]) {
    let (output, _) = run(mode, era, &conversation(era));
    let stdout = String::from_utf8_lossy(&output.stdout);
    for text in expected {
        assert!(stdout.contains(text), "{mode} does not say {text:?}:\n{stdout}");
    }
}

fn assert_well_described(modes: &[QuirkMode], at_least: usize) {
    let names: BTreeSet<_> = modes.iter().map(|mode| mode.name).collect();
    assert_eq!(names.len(), modes.len(), "a name is used twice");
    assert!(modes.len() >= at_least, "only {}", modes.len());
    for mode in modes {
        assert!(!mode.eras.is_empty(), "{}", mode.name);
        assert!(!mode.description.is_empty() && !mode.description.ends_with('.'), "{}", mode.name);
        assert!(mode.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{}", mode.name);
    }
}

#[test]
fn every_mode_has_a_unique_name_and_a_description() {
    assert_well_described(stdio_modes(), 200);
    assert_well_described(http_modes(), 100);
}

#[test]
fn every_stdio_mode_ends_by_itself_in_every_era() {
    for mode in stdio_modes() {
        for &era in mode.eras {
            let (_, took) = run(mode.name, era, &conversation(era));
            assert!(took < LIMIT, "{}", mode.name);
        }
    }
}

#[test]
fn the_well_behaved_mode_answers_in_both_eras() {
    for era in [QuirkEra::Legacy, QuirkEra::Modern] {
        let (output, _) = run("well-behaved", era, &conversation(era));
        let stdout = String::from_utf8(output.stdout).unwrap();
        let replies: Vec<serde_json::Value> =
            stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(replies.len(), 3);
        assert_eq!(replies[1]["result"]["tools"].as_array().unwrap().len(), 2);
        assert_eq!(replies[2]["result"]["content"][0]["text"], "ahoy");
        assert_eq!(replies[2]["result"].get("resultType").is_some(), era == QuirkEra::Modern);
        assert!(output.status.success());
    }
}

#[test]
fn replies_deviate_as_their_mode_describes() {
    check("banner", QuirkEra::Legacy, &["Starting the harbour server", "\"text\":\"ahoy\""]);
    check("id-as-text", QuirkEra::Modern, &["\"id\":\"3\",\"result\""]);
    check("id-as-float", QuirkEra::Legacy, &["\"id\":3.0,"]);
    check("id-as-exponent", QuirkEra::Legacy, &["\"id\":3e0,"]);
    check("crlf", QuirkEra::Legacy, &["}\r\n"]);
    check(
        "keys-in-unusual-order",
        QuirkEra::Modern,
        &["{\"result\":", ",\"id\":3,\"jsonrpc\":\"2.0\"}\n"],
    );
    check("null-beside", QuirkEra::Legacy, &[",\"error\":null}"]);
    check("capabilities-true", QuirkEra::Legacy, &["\"capabilities\":{\"tools\":true}"]);
    check("tool-schema-null", QuirkEra::Modern, &["\"inputSchema\":null", "\"name\":\"add\""]);
    check("digits-integer", QuirkEra::Legacy, &["12345678901234567890123"]);
    check("content-lone-surrogate", QuirkEra::Legacy, &["\\ud800"]);
    check("result-type-unknown", QuirkEra::Modern, &["\"resultType\":\"hologram\""]);
    check(
        "six-list-changed",
        QuirkEra::Legacy,
        &[&"notifications/tools/list_changed\",\"params\":{}}\n{\"jsonrpc\":\"2.0\",\"method\":\""
            .repeat(5)],
    );
    check("asks-ping", QuirkEra::Legacy, &["\"method\":\"ping\"", "`ping` was not answered"]);
    check("batch", QuirkEra::Legacy, &["[{\"jsonrpc\":\"2.0\",\"id\":3,"]);
    check("input-once", QuirkEra::Modern, &["ahoy"]);
    check(
        "input-state-only",
        QuirkEra::Modern,
        &["\"resultType\":\"input_required\",\"requestState\""],
    );
}

#[test]
fn a_changed_request_state_is_rejected() {
    let call = |id: u32, state: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"ahoy"}},{state}{META}}}}}"#
        )
    };
    let ask = |second: String| {
        let (output, _) =
            run("input-state-only", QuirkEra::Modern, &format!("{}\n{second}\n", call(1, "")));
        String::from_utf8(output.stdout).unwrap().contains("ahoy")
    };
    assert!(ask(call(2, r#""requestState":"state-3","#)));
    assert!(!ask(call(2, r#""requestState":"state-3 ","#)));
    assert!(!ask(call(2, "")));
    assert!(!ask(call(1, r#""requestState":"state-3","#)), "the id must be new");
}

#[test]
fn a_response_to_a_server_request_completes_the_call() {
    let reply = r#"{"jsonrpc":"2.0","id":9007199254740993,"result":{}}"#;
    let input = format!("{}{reply}\n", conversation(QuirkEra::Legacy));
    let (output, _) = run("asks-with-big-id", QuirkEra::Legacy, &input);
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"text\":\"ahoy\""));
}

#[test]
fn processes_end_as_their_mode_describes() {
    let ended = |mode: &str| {
        let (output, took) = run(mode, QuirkEra::Legacy, &conversation(QuirkEra::Legacy));
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), took)
    };
    assert_eq!(ended("crash-on-call").0, Some(1));
    assert!(ended("crash-on-call").1.contains("the crane fell over"));
    assert_eq!(ended("exit-at-start").0, Some(0));
    let lingers = Duration::from_millis(300);
    assert!(ended("ignores-end").2 >= lingers);
    #[cfg(unix)]
    {
        assert_eq!(ended("crash-by-signal").0, None);
        assert!(ended("ignores-signals").2 >= lingers);
        let (code, _, took) = ended("grandchild-keeps-stdout");
        assert!(code == Some(1) && took >= lingers, "the output stays open");
    }
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "the server under test is a program")]
fn a_server_that_ignores_signals_survives_sigterm() {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_wharf-quirk"))
        .args(["ignores-signals", "legacy"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    stdin.write_all(ping).unwrap();
    assert!(lines.next().unwrap().unwrap().contains("result"));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    stdin.write_all(ping).unwrap();
    assert!(lines.next().unwrap().unwrap().contains("result"));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Sends a request and returns everything until the server closes.
fn post(server: &HttpQuirkServer, headers: &str, body: &str) -> String {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    );
    exchange(server, &request)
}

fn exchange(server: &HttpQuirkServer, request: &str) -> String {
    let mut socket = TcpStream::connect(server.address()).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    // The server answers, and then sees that no other request follows.
    socket.shutdown(Shutdown::Write).unwrap();
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"ahoy"}}}"#;
const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

/// Initializes a legacy server and calls its tool.
fn call(mode: &str) -> String {
    let server = HttpQuirkServer::start(mode).unwrap();
    let first = post(&server, "", INITIALIZE);
    assert!(first.contains("Mcp-Session-Id: berth-1"), "{mode}: {first}");
    post(&server, "Mcp-Session-Id: berth-1\r\n", CALL)
}

#[test]
fn every_http_mode_starts_takes_a_request_and_stops() {
    for mode in http_modes() {
        for &era in mode.eras {
            let delay = Some(Duration::from_millis(1));
            let options = HttpQuirkOptions { era: Some(era), delay, bytes: Some(100_000) };
            let server = HttpQuirkServer::start_with(mode.name, options).unwrap();
            let mut socket = TcpStream::connect(server.address()).unwrap();
            let request =
                format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n\r\n{CALL}", CALL.len());
            socket.write_all(request.as_bytes()).unwrap();
            let end = Instant::now() + LIMIT;
            while server.requests().is_empty() {
                assert!(Instant::now() < end, "{} does not read", mode.name);
                thread::yield_now();
            }
            let started = Instant::now();
            drop(server);
            assert!(started.elapsed() < Duration::from_secs(5), "{} does not stop", mode.name);
        }
    }
    assert!(HttpQuirkServer::start("no-such-mode").is_err());
}

#[test]
fn responses_deviate_as_their_mode_describes() {
    assert!(call("json").ends_with(r#""text":"ahoy"}]}}"#));
    assert!(call("stream").contains("event: message\ndata: {\"jsonrpc\""));
    assert!(call("event-cr").contains("event: message\rdata: {"));
    assert!(call("chunked").ends_with("\r\n0\r\n\r\n"));
    assert!(call("type-plain").contains("Content-Type: text/plain\r\n"));
    assert!(call("http-1-0").starts_with("HTTP/1.0 200 OK\r\n"));
    assert_eq!(call("drops-before-head"), "");
    assert!(
        call("drops-in-body").contains("Content-Length: ") && !call("drops-in-body").ends_with('}')
    );
    assert!(call("session-lost").starts_with("HTTP/1.1 404 "));
    assert!(call("resume").contains("retry: 50\nid: e-1\ndata: \n\n"));
    assert!(call("status-401-on-call").contains("WWW-Authenticate: Bearer resource_metadata="));
}

#[test]
fn a_closed_stream_can_be_resumed() {
    let server = HttpQuirkServer::start("resume").unwrap();
    post(&server, "", INITIALIZE);
    post(&server, "Mcp-Session-Id: berth-1\r\n", CALL);
    let rest = exchange(
        &server,
        "GET /mcp HTTP/1.1\r\nMcp-Session-Id: berth-1\r\nLast-Event-ID: e-1\r\n\r\n",
    );
    assert!(rest.contains("\"id\":3,\"result\"") && rest.contains("ahoy"), "{rest}");
    assert_eq!(server.requests()[2].header("last-event-id"), Some("e-1"));
}

#[test]
fn a_modern_server_checks_the_headers() {
    let server = HttpQuirkServer::start_with(
        "json",
        HttpQuirkOptions { era: Some(QuirkEra::Modern), ..HttpQuirkOptions::default() },
    )
    .unwrap();
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#);
    let version = "MCP-Protocol-Version: 2026-07-28\r\n";
    assert!(post(&server, version, &body).contains("-32020"));
    let both = format!("{version}Mcp-Method: tools/list\r\n");
    assert!(post(&server, &both, &body).contains(r#""resultType":"complete""#));
    assert!(post(&server, "", INITIALIZE).starts_with("HTTP/1.1 400 "));
}

#[test]
fn the_http_sse_transport_answers_on_its_stream() {
    let server = HttpQuirkServer::start("sse").unwrap();
    assert!(post(&server, "", CALL).starts_with("HTTP/1.1 405 "));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(b"GET /mcp HTTP/1.1\r\n\r\n").unwrap();
    let mut seen = String::new();
    let mut until = |text: &str| {
        let mut buffer = [0; 4096];
        while !seen.contains(text) {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "{seen}");
            seen += &String::from_utf8_lossy(&buffer[..read]);
        }
    };
    until("data: /messages?sessionId=berth-1");
    let request = format!(
        "POST /messages?sessionId=berth-1 HTTP/1.1\r\nContent-Length: {}\r\n\r\n{CALL}",
        CALL.len()
    );
    assert!(exchange(&server, &request).starts_with("HTTP/1.1 202 "));
    until("ahoy");
}

#[test]
fn heavy_and_lingering_modes_have_their_tag() {
    let has =
        |name: &str, tag| stdio_modes().iter().find(|mode| mode.name == name).unwrap().has(tag);
    assert!(has("ignores-end", ModeTag::Lingers));
    assert!(has("flood-without-end", ModeTag::Heavy));
    assert!(!has("banner", ModeTag::Heavy));
}
