//! Connecting on a real terminal: pending servers, the trust prompt, and Ctrl-C.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};

use crate::test_servers::world_with_box;
use crate::world::World;

/// Starts a command on a terminal of 80 columns without colours.
pub(crate) fn on_terminal(command: Command) -> OsSession {
    on_terminal_with_columns(80, command)
}

/// Starts a command on a terminal with `columns` columns, without colours.
pub(crate) fn on_terminal_with_columns(columns: usize, mut command: Command) -> OsSession {
    command.env("NO_COLOR", "1").env("COLUMNS", columns.to_string()).stdin(Stdio::inherit());
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session
}

#[test]
fn the_pty_shows_pending_servers_and_erases_the_line() {
    // The second server answers only after the test has seen that it is pending.
    let world = World::new()
        .tool_server("box")
        .server_with_startup("slow", r#"until [ -e "$0.go" ]; do /bin/sleep 0.05; done"#)
        .own_servers(&[("box", r#""command": "box""#), ("slow", r#""command": "slow""#)]);
    let mut session = on_terminal(world.command(&["tools"]));
    session.expect("1 ready, waiting for slow").unwrap();
    std::fs::File::create(world.path("bin/slow.go")).unwrap();
    let seen = session.expect("6 tools from 2 servers.").unwrap();
    let output = String::from_utf8_lossy(seen.before()).into_owned();
    assert!(output.contains("\r\u{1b}[KNAME"), "{output:?}");
    session.expect(Eof).unwrap();
}

#[test]
fn the_pty_trust_prompt_is_shown_during_a_call() {
    let world = World::new()
        .tool_server("box")
        .project(".mcp.json", r#"{ "mcpServers": { "box": { "command": "box" } } }"#);
    let words = ["call", "box/echo", "text=hello"];
    let mut session = on_terminal(world.command(&words));
    session.expect("Trust \"box\"? [y/N] ").unwrap();
    session.send_line("n").unwrap();
    session.expect("is not trusted").unwrap();
    session.expect(Eof).unwrap();
    // A "no" is stored: later runs only report it, and `wharf trust` asks again.
    let mut session = on_terminal(world.command(&words));
    let seen = session.expect(Eof).unwrap();
    let said = String::from_utf8_lossy(seen.as_bytes()).replace('\r', "");
    assert_eq!(
        said,
        "error: Server \"box\" is not trusted: you refused it\n  hint: `wharf trust box`\n"
    );
    let mut session = on_terminal(world.command(&["tools"]));
    session.expect("skipped \"box\": you refused it (`wharf trust box` asks again)").unwrap();
    session.expect(Eof).unwrap();
    let mut session = on_terminal(world.command(&["trust", "box"]));
    session.expect("Trust \"box\"? [y/N] ").unwrap();
    session.send_line("y").unwrap();
    session.expect("Trusted \"box\".").unwrap();
    session.expect(Eof).unwrap();
    assert!(world.run("call box/echo text=again").starts_with("exit 0"));
}

#[test]
fn the_pty_trust_prompt_is_shown_again_after_a_change() {
    let entry = |args: &str| {
        format!(r#"{{ "mcpServers": {{ "box": {{ "command": "box", "args": [{args}] }} }} }}"#)
    };
    let world = World::new().tool_server("box").project(".mcp.json", &entry("\"a\""));
    let words = ["call", "box/echo", "text=hello"];
    let mut session = on_terminal(world.command(&words));
    session.expect("Trust \"box\"? [y/N] ").unwrap();
    session.send_line("n").unwrap();
    session.expect(Eof).unwrap();
    let world = world.project(".mcp.json", &entry("\"b\""));
    let mut session = on_terminal(world.command(&words));
    session.expect("Trust \"box\"? [y/N] ").unwrap();
    session.send_line("y").unwrap();
    session.expect("you said hello").unwrap();
    session.expect(Eof).unwrap();
}

#[test]
fn on_a_pty_ctrl_c_cancels_the_call_on_the_server() {
    let world = world_with_box();
    let mut session = on_terminal(world.command(&["call", "box/hang"]));
    wait_for(&world, "called\n");
    session.send(ControlCode::EndOfText).unwrap();
    session.expect("cancelled").unwrap();
    session.expect(Eof).unwrap();
    let status = session.get_process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 130)), "{status:?}");
    assert_eq!(world.read("bin/box.seen"), "called\ncancelled\n");
}

#[test]
fn on_a_pty_a_second_ctrl_c_exits_at_once() {
    // This server ignores signals, so a graceful shutdown takes a while.
    let world = World::new()
        .script("deaf", "trap '' INT TERM HUP; echo called >> \"$0.seen\"; exec /bin/sleep 60\n")
        .own_servers(&[("deaf", r#""command": "deaf""#)]);
    let mut session = on_terminal(world.command(&["test", "deaf"]));
    session.expect("waiting for deaf").unwrap();
    let began = Instant::now();
    session.send(ControlCode::EndOfText).unwrap();
    session.send(ControlCode::EndOfText).unwrap();
    session.expect(Eof).unwrap();
    let status = session.get_process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 130)), "{status:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// Waits until the server has recorded `expected`.
fn wait_for(world: &World, expected: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    while std::fs::read_to_string(world.path("bin/box.seen")).unwrap_or_default() != expected {
        assert!(Instant::now() < end, "the server was never called");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn on_a_pty_ready_and_failed_servers_are_counted() {
    let world = World::new()
        .tool_server("box")
        .server_with_startup("slow", "until [ -e \"$0.go\" ]; do /bin/sleep 0.05; done")
        .own_servers(&[
            ("box", r#""command": "box""#),
            ("gone", r#""command": "nowhere""#),
            ("slow", r#""command": "slow""#),
        ]);
    let mut session = on_terminal(world.command(&["tools"]));
    session.expect("1 ready, 1 failed, waiting for slow").unwrap();
    std::fs::File::create(world.path("bin/slow.go")).unwrap();
    session.expect(Eof).unwrap();
}
