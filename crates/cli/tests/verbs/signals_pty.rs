//! A closed terminal ends the run on it; an open prompt does not block a signal.

#![cfg(target_os = "linux")]

use expectrl::process::unix::WaitStatus;
use expectrl::{Eof, Expect};
use rustix::process::{Pid, Signal, kill_process};

use crate::connect_pty::on_terminal;
use crate::signals::{DESCENDANTS, descendants, through_shell, wait_until, world};
use crate::world::World;

#[test]
fn when_the_pty_is_closed_no_process_is_left() {
    let world = world(&format!("echo $PPID > \"$0.wharf\"\n{DESCENDANTS}"), ":");
    // As in a terminal window: a shell leads the session, and the run is its child.
    let session = on_terminal(through_shell(&world, r#""$0" call box/go --timeout 10m; true"#));
    wait_until("the call", || world.path("bin/box.seen").exists());
    assert_eq!(descendants(&world).len(), 3);
    let wharf: u32 = world.read("bin/box.wharf").trim().parse().unwrap();
    drop(session);
    let is_gone = || !std::path::Path::new(&format!("/proc/{wharf}")).exists();
    wait_until("the run ends", is_gone);
    assert_eq!(descendants(&world), [0_u32; 0]);
}

#[test]
fn on_a_pty_a_signal_ends_a_run_with_an_open_elicitation() {
    let ask = r#"send '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Which berth?","requestedSchema":{"type":"object","properties":{"berth":{"type":"string"}}}}}'"#;
    let world = world("", ask);
    let mut session = on_terminal(world.command(&["call", "box/go", "--timeout", "10m"]));
    session.expect("Which berth?").unwrap();
    let run = Pid::from_raw(session.get_process().pid().as_raw()).unwrap();
    kill_process(run, Signal::TERM).unwrap();
    session.expect("cancelled").unwrap();
    session.expect(Eof).unwrap();
    let status = session.get_process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 130)), "{status:?}");
}

#[test]
fn on_a_pty_a_signal_ends_a_trust_prompt() {
    let world = World::new()
        .tool_server("box")
        .project(".mcp.json", r#"{ "mcpServers": { "box": { "command": "box" } } }"#);
    let mut session = on_terminal(world.command(&["call", "box/echo", "text=x"]));
    session.expect("Trust \"box\"? [y/N] ").unwrap();
    let run = Pid::from_raw(session.get_process().pid().as_raw()).unwrap();
    kill_process(run, Signal::HUP).unwrap();
    session.expect(Eof).unwrap();
    let status = session.get_process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 130)), "{status:?}");
}
