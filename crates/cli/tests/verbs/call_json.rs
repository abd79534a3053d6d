//! `wharf call --json` for calls that fail: the server, the kind, the phase, and the outcome.

use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::Value;

use crate::server_variants::{ServerScript, ServerVariant, install};
use crate::test_servers::{legacy_server_script, world_with_box};
use crate::world::World;

/// Runs a call and summarizes the exit code, the server and the error without its message.
fn failure_summary(world: &World, line: &str) -> String {
    let output = world.output(&format!("call --json {line}"));
    let code = output.status.code().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |group: &str, key: &str| json[group][key].as_str().unwrap_or("-").to_owned();
    format!(
        "exit {code}: {} {} of {} from {}, {} in {}, outcome known: {}",
        text("error", "kind"),
        text("error", "code"),
        text("details", "serverName"),
        text("details", "providerName"),
        text("details", "mcpToolName"),
        text("error", "phase"),
        json["error"]["outcomeKnown"],
    )
}

fn failure_summaries(world: &World, lines: &[&str]) -> String {
    lines.iter().map(|line| failure_summary(world, line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn error_details_are_complete_for_every_failure() {
    let world = World::new()
        .tool_server("box")
        .own_servers(&[
            ("box", r#""command": "box""#),
            ("copy", r#""command": "box""#),
            ("off", r#""command": "box", "args": ["off"], "enabled": false"#),
            ("bad", r#""type": "http""#),
            ("gone", r#""command": "not-installed""#),
            ("few", r#""command": "box", "args": ["few"], "includeTools": ["echo"]"#),
        ])
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "box" } } }"#);
    let lines = [
        "box/echo",
        "box/echo text=a times=many",
        "box/ecko",
        "box/die",
        "copy/echo",
        "off/echo",
        "bad/echo",
        "gone/echo",
        "few/fail",
        "theirs/echo",
        "no/such",
    ];
    let without_cache = failure_summaries(&world, &lines);
    assert_snapshot!(without_cache, @"
    exit 2: MISUSE usage of box from Wharf, echo in send, outcome known: true
    exit 2: MISUSE usage of box from Wharf, echo in send, outcome known: true
    exit 1: MISUSE not-found of box from Wharf, ecko in send, outcome known: true
    exit 3: TERMINAL connection-lost of box from Wharf, die in receive, outcome known: false
    exit 1: TERMINAL not-used of copy from Wharf, echo in connect, outcome known: true
    exit 1: TERMINAL disabled of off from Wharf, echo in connect, outcome known: true
    exit 3: TERMINAL not-used of bad from Wharf, echo in connect, outcome known: true
    exit 3: TERMINAL not-connected of gone from Wharf, echo in connect, outcome known: true
    exit 1: TERMINAL omitted of few from Wharf, fail in send, outcome known: true
    exit 6: TERMINAL untrusted of theirs from mcp.json, echo in connect, outcome known: true
    exit 1: MISUSE not-found of  from , no/such in send, outcome known: true
    ");
    assert_eq!(failure_summaries(&world, &lines), without_cache);
}

#[test]
fn a_failing_server_is_reported_the_same_with_and_without_a_cache() {
    let world = World::new()
        .server_with_startup("shy", r#"[ -e "$0.down" ] && { echo 'no licence' >&2; exit 1; }"#)
        .server_with_startup("slow", r#"[ -e "$0.down" ] && exec /bin/sleep 60"#)
        .own_servers(&[
            ("shy", r#""command": "shy""#),
            ("slow", r#""command": "slow", "timeout": 1500"#),
        ]);
    for name in ["shy", "slow"] {
        std::fs::File::create(world.path(&format!("bin/{name}.down"))).unwrap();
    }
    let lines = ["shy/go", "slow/go", "mcp_shy_go"];
    let without_cache = failure_summaries(&world, &lines);
    assert_snapshot!(without_cache, @"
    exit 3: TRANSIENT not-connected of shy from Wharf, go in connect, outcome known: true
    exit 5: TRANSIENT timeout of slow from Wharf, go in connect, outcome known: true
    exit 3: TRANSIENT not-connected of shy from Wharf, go in connect, outcome known: true
    ");
    for name in ["shy", "slow"] {
        std::fs::remove_file(world.path(&format!("bin/{name}.down"))).unwrap();
    }
    assert!(world.run("tools --fresh").contains("mcp_slow_go"));
    for name in ["shy", "slow"] {
        std::fs::File::create(world.path(&format!("bin/{name}.down"))).unwrap();
    }
    assert_eq!(failure_summaries(&world, &lines), without_cache);
}

/// A server whose tools fail in different ways.
const FAILING_SERVER: ServerScript<'static> = ServerScript {
    list: r#"result '{"tools":[{"name":"die","inputSchema":{"type":"object"}},{"name":"no","inputSchema":{"type":"object","required":["text"]}},{"name":"hang","inputSchema":{"type":"object"}}]}'"#,
    cases: r#"
    *'"name":"die"'*) exit 7;;
    *'"name":"hang"'*) echo >> "$0.seen";;
    *'"method":"tools/call"'*) refuse -32000 quota;;
"#,
    ..ServerScript::PLAIN
};

#[test]
fn error_details_are_the_same_for_every_transport_and_era() {
    let lines = ["box/no", "box/no text=a", "box/ecko", "box/die", "copy/no", "box/hang"];
    let outputs = ServerVariant::ALL.map(|variant| {
        let (world, entry, _web) = install(World::new(), variant, "box", FAILING_SERVER);
        let entry = format!(r#"{entry}, "callTimeout": 1000"#);
        let world = world.own_servers(&[("box", &entry), ("copy", &entry)]);
        let without_cache = failure_summaries(&world, &lines);
        assert_eq!(failure_summaries(&world, &lines), without_cache, "{variant:?}");
        without_cache
    });
    for (output, variant) in outputs.iter().zip(ServerVariant::ALL) {
        assert_eq!(*output, outputs[0], "{variant:?}");
    }
    assert_snapshot!(outputs[0], @"
    exit 2: MISUSE usage of box from Wharf, no in send, outcome known: true
    exit 1: TERMINAL error-response of box from Wharf, no in protocol, outcome known: true
    exit 1: MISUSE not-found of box from Wharf, ecko in send, outcome known: true
    exit 3: TERMINAL connection-lost of box from Wharf, die in receive, outcome known: false
    exit 1: TERMINAL not-used of copy from Wharf, no in connect, outcome known: true
    exit 5: TERMINAL timeout of box from Wharf, hang in receive, outcome known: false
    ");
}

#[test]
fn the_data_of_a_server_error_is_kept() {
    let tool = r#"{"name":"no","inputSchema":{"type":"object"}}"#;
    let case = r#"*'"method":"tools/call"'*) send '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32000,"message":"quota","data":{"left":0,"z":1.0}}}';;"#;
    let world = World::new()
        .script("box", &legacy_server_script("", r#"{"tools":{}}"#, tool, case))
        .own_servers(&[("box", r#""command": "box""#)]);
    let json: Value = serde_json::from_slice(&world.output("call box/no --json").stdout).unwrap();
    assert_snapshot!(json["error"].to_string(), @r#"{"code":"error-response","kind":"TERMINAL","phase":"protocol","message":"the server answered: quota (code -32000)","retryable":false,"outcomeKnown":true,"data":{"left":0,"z":1.0}}"#);
}

/// Interrupts a call once the marker file of its server exists, and summarizes the error.
fn cancel_call(world: &World, tool: &str) -> String {
    let mut command = world.command(&["call", "--json", tool]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !world.path("bin/box.seen").exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "the call never reached the server");
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &json["error"];
    format!(
        "exit {:?}: {} in {}, outcome known: {}, {}",
        output.status.code(),
        error["code"],
        error["phase"],
        error["outcomeKnown"],
        json["details"]["serverName"]
    )
}

#[test]
fn a_cancelled_call_names_its_phase() {
    let in_the_call = r#"exit Some(130): "cancelled" in "receive", outcome known: false, "box""#;
    assert_eq!(cancel_call(&world_with_box(), "box/hang"), in_the_call);
    for variant in ServerVariant::ALL {
        let (world, entry, _web) = install(World::new(), variant, "box", FAILING_SERVER);
        let world = world.own_servers(&[("box", &entry)]);
        assert_eq!(cancel_call(&world, "box/hang"), in_the_call, "{variant:?}");
    }
    let world = World::new()
        .script("box", "echo >> \"$0.seen\"; exec /bin/sleep 60\n")
        .own_servers(&[("box", r#""command": "box""#)]);
    assert_eq!(
        cancel_call(&world, "box/hang"),
        r#"exit Some(130): "cancelled" in "connect", outcome known: true, "box""#
    );
}
