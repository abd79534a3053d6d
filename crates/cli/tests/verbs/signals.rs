//! A signal ends every run, whatever it is doing, and no process is left behind.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::test_servers::legacy_server_script;
use crate::world::World;

/// How long a run may take to end on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// The signals that end a run.
const ALL: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// Starts three processes that record their process ids: one in the process group of the server,
/// one in a new session, and one in a new session without the environment and the parent.
pub(crate) const DESCENDANTS: &str = r#"
sleep_long='echo $$ >> "$0"; exec /bin/sleep 300'
/bin/sh -c "$sleep_long" "$0.relatives" < /dev/null > /dev/null 2>&1 &
/usr/bin/setsid /bin/sh -c "$sleep_long" "$0.relatives" < /dev/null > /dev/null 2>&1 &
( /usr/bin/env -i /usr/bin/setsid /bin/sh -c "$sleep_long" "$0.relatives" < /dev/null > /dev/null 2>&1 & )
until [ "$(/usr/bin/wc -l < "$0.relatives" 2> /dev/null)" = 3 ]; do /bin/sleep 0.02; done
"#;

/// A server that runs `then` when its tool is called, and never answers.
fn server(before: &str, then: &str) -> String {
    let tool = r#"{"name":"go","description":"Goes","inputSchema":{"type":"object"}}"#;
    let call = format!("*'\"method\":\"tools/call\"'*) echo called >> \"$0.seen\"; {then};;");
    legacy_server_script(before, r#"{"tools":{}}"#, tool, &call)
}

/// A world with a server that never answers a call.
pub(crate) fn world(before: &str, then: &str) -> World {
    World::new().script("box", &server(before, then)).own_servers(&[("box", r#""command": "box""#)])
}

pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "timed out: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Returns the processes that the server started and that are alive.
pub(crate) fn descendants(world: &World) -> Vec<u32> {
    let text = fs::read_to_string(world.path("bin/box.relatives")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).filter(|it| is_alive(*it)).collect()
}

fn is_alive(process: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after = state.rsplit(')').next().unwrap_or_default().trim_start();
    !after.is_empty() && !after.starts_with('Z')
}

fn start(world: &World, words: &[&str]) -> Child {
    let mut command = world.command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(run: &Child, signal: Signal) {
    kill_process(Pid::from_child(run), signal).unwrap();
}

/// Waits for the end of a run, and returns its exit code.
#[track_caller]
fn exit_code(run: &mut Child, what: &str) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = run.try_wait().unwrap() {
            return status.code();
        }
        if began.elapsed() > LIMIT {
            run.kill().unwrap();
            panic!("it does not end: {what}");
        }
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_signal_ends_a_call_and_all_processes_of_the_server() {
    for which in ALL {
        let world = world(DESCENDANTS, ":");
        let mut run = start(&world, &["call", "box/go", "--timeout", "10m"]);
        wait_until("the call", || world.path("bin/box.seen").exists());
        assert_eq!(descendants(&world).len(), 3);
        signal(&run, which);
        assert_eq!(exit_code(&mut run, "the call"), Some(130), "{which:?}");
        assert_eq!(descendants(&world), [0_u32; 0], "{which:?}");
    }
}

#[test]
fn a_normal_exit_leaves_no_daemon() {
    let world = World::new()
        .server_with_startup("box", DESCENDANTS)
        .own_servers(&[("box", r#""command": "box""#)]);
    assert!(world.run("call box/go").starts_with("exit 0"));
    assert_eq!(fs::read_to_string(world.path("bin/box.relatives")).unwrap().lines().count(), 3);
    assert_eq!(descendants(&world), [0_u32; 0]);
}

#[test]
fn a_signal_ends_a_run_whose_server_floods() {
    let line = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood"}}"#;
    let stdout = format!("exec /usr/bin/yes '{line}'");
    let stderr = format!("exec /usr/bin/yes '{line}' >&2");
    for flood in [stdout, stderr] {
        for which in [Signal::INT, Signal::TERM] {
            let world = world("", &flood);
            let mut run = start(&world, &["call", "box/go", "--timeout", "10m"]);
            wait_until("the call", || world.path("bin/box.seen").exists());
            signal(&run, which);
            assert_eq!(exit_code(&mut run, &flood), Some(130), "{which:?} {flood}");
        }
    }
}

#[test]
fn a_signal_ends_a_run_that_waits_for_its_input() {
    let world = world("", ":");
    for words in [
        ["add-json", "x", "-"].as_slice(),
        &["add", "x", "--url", "https://h.example", "--token", "-"],
        &["call", "box/go", "--args", "-"],
        &["mcp", "thinking"],
    ] {
        for which in ALL {
            let mut run = start(&world, words);
            wait_until("it handles signals", || handles(&run, which));
            signal(&run, which);
            assert_eq!(exit_code(&mut run, words[0]), Some(130), "{words:?} {which:?}");
        }
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let world = world("", ":");
    // As `nohup` does.
    let mut shell = through_shell(&world, r#"trap '' HUP; exec "$0" add-json x -"#);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = shell.spawn().unwrap();
    wait_until("it handles signals", || handles(&run, Signal::TERM));
    signal(&run, Signal::HUP);
    assert!(!handles(&run, Signal::HUP));
    signal(&run, Signal::TERM);
    assert_eq!(exit_code(&mut run, "ignored"), Some(130));
}

/// Returns a shell command whose `$0` is the binary.
#[expect(clippy::disallowed_methods, reason = "a shell has to start the binary")]
pub(crate) fn through_shell(world: &World, script: &str) -> Command {
    let run = world.command(&[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script]).arg(run.get_program());
    shell.env_clear().envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(run.get_current_dir().unwrap());
    shell
}

/// Returns whether a process has a handler for a signal.
fn handles(run: &Child, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    caught >> (signal.as_raw() - 1) & 1 == 1
}
