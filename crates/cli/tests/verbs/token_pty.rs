//! `wharf add --token -` on a real terminal: it prompts for the token and does not echo it.

#![expect(clippy::disallowed_methods, reason = "a test starts the binary through a shell")]

use std::process::Command;
use std::time::{Duration, Instant};

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{Eof, Expect, Session};

use crate::world::World;

const TOKEN: &str = "t0ken-4711";

/// Starts on a terminal with echo, and waits for the prompt and until echo is off.
fn start(world: &World) -> OsSession {
    let wharf = world.command(&["add", "a", "--url", "https://a.example/mcp", "--token", "-"]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "command -p stty echo && exec \"$0\" \"$@\""]);
    command.arg(wharf.get_program()).args(wharf.get_args());
    command.current_dir(wharf.get_current_dir().unwrap()).env_clear().env("NO_COLOR", "1");
    command.envs(wharf.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session.expect("Token for \"a\": ").unwrap();
    let start = Instant::now();
    while session.get_process().get_echo().unwrap() {
        assert!(start.elapsed() < Duration::from_secs(20), "the terminal still echoes");
        std::thread::yield_now();
    }
    session
}

#[test]
fn on_a_pty_the_token_is_asked_for_and_not_echoed() {
    let world = World::new();
    let mut session = start(&world);
    session.send_line(TOKEN).unwrap();
    let seen = session.expect(Eof).unwrap();
    let output = world.filter(&String::from_utf8_lossy(seen.as_bytes()));
    assert_eq!(output, "\r\nAdded server \"a\" in [project]/.wharf/mcp.json\r\n");
    let stored = world.read("home/.wharf/credentials.json");
    assert!(stored.contains(&format!("\"token\": \"{TOKEN}\"")), "{stored}");
}

#[test]
fn on_a_pty_an_empty_token_adds_nothing() {
    let world = World::new();
    let mut session = start(&world);
    session.send_line("").unwrap();
    let seen = session.expect(Eof).unwrap();
    let output = world.filter(&String::from_utf8_lossy(seen.as_bytes()));
    assert!(output.contains("error: no token was typed\r\n"), "{output}");
    let status = session.get_process().wait().unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 2)), "{status:?}");
    assert!(!world.path("project/.wharf").exists());
}
