//! Quirks of the process: crashes, half lines, closed pipes, signals, grandchildren.
//!
//! A process cannot ignore a signal or close a pipe in safe code, but a program that it becomes
//! can: it replaces itself with a shell that ignores the signal and starts the server again, or
//! with `cat`, whose output goes elsewhere.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use super::StdioQuirk;
use super::server::{Act, Event, Flow, Server};
use super::settings;
use crate::quirk::mode::{Expect, Failure, Tag, WORKS, call_fails};

/// The hidden mode of a grandchild.
pub(super) const LINGER: &str = "linger";
/// Tells a grandchild to leave the group of its parent.
const ESCAPE: &str = "QUIRK_ESCAPE";

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "silent",
        "never says anything",
        Expect::ConnectFails { because: Failure::TimedOut },
        Act::Code(|_, event| match event {
            Event::Asked(_) => Flow::Done,
            _ => Flow::Usual,
        }),
    ),
    StdioQuirk::new(
        "exit-at-start",
        "exits with 0 before it says anything",
        Expect::ConnectFails { because: Failure::Ended },
        Act::Code(|_, _| Flow::Exit(0)),
    ),
    StdioQuirk::new(
        "crash-at-start",
        "exits with 1 and a trace on stderr before it says anything",
        Expect::ConnectFails { because: Failure::Ended },
        Act::Code(|_, _| {
            complain("Traceback: no module named harbour\n");
            Flow::Exit(1)
        }),
    ),
    StdioQuirk::new(
        "crash-on-initialize",
        "crashes on `initialize`",
        Expect::ConnectFails { because: Failure::Ended },
        Act::Code(|_, event| crash_on(event, "initialize")),
    )
    .legacy(),
    StdioQuirk::new(
        "crash-on-list",
        "crashes on `tools/list`",
        Expect::ListFails { because: Failure::Ended },
        Act::Code(|_, event| crash_on(event, "tools/list")),
    ),
    StdioQuirk::new(
        "crash-on-call",
        "exits with 1 and a word on stderr when it is called",
        call_fails(Failure::Ended),
        Act::Code(|_, event| crash_on(event, "tools/call")),
    ),
    StdioQuirk::new(
        "crash-after-reply",
        "answers a call and exits at once",
        WORKS,
        Act::Code(|server, event| match event.call() {
            Some(request) => {
                server.answer(request);
                Flow::Exit(1)
            }
            None => Flow::Usual,
        }),
    ),
    StdioQuirk::new(
        "crash-by-signal",
        "is killed by a signal when it is called",
        call_fails(Failure::Ended),
        Act::Code(|_, event| {
            if event.call().is_some() {
                die_by_signal();
            }
            Flow::Usual
        }),
    ),
    StdioQuirk::new(
        "half-line-then-exit",
        "writes half a reply and exits",
        call_fails(Failure::Ended),
        Act::Code(|server, event| match event.call() {
            Some(request) => {
                half_a_line(server, request.id());
                Flow::Exit(0)
            }
            None => Flow::Usual,
        }),
    ),
    StdioQuirk::new(
        "half-line-then-stall",
        "writes half a reply and nothing more",
        call_fails(Failure::TimedOut),
        Act::Code(|server, event| match event.call() {
            Some(request) => {
                half_a_line(server, request.id());
                Flow::Done
            }
            None => Flow::Usual,
        }),
    ),
    StdioQuirk::new(
        "whole-line-without-end",
        "writes its last reply without a line end and exits",
        WORKS,
        Act::Code(|server, event| match event.call() {
            Some(request) => {
                let answer = crate::quirk::answers::answer(server.era, request);
                server.write(crate::quirk::answers::reply(request.id(), &answer).as_bytes());
                Flow::Exit(0)
            }
            None => Flow::Usual,
        }),
    ),
    StdioQuirk::new(
        "closes-stdout",
        "closes its output when it is called, and runs on",
        call_fails(Failure::Ended),
        Act::Code(|_, event| {
            if event.call().is_some() {
                become_program("cat", &[], Stdio::inherit(), Stdio::null());
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::UnixOnly]),
    StdioQuirk::new(
        "closes-stdin",
        "closes its input after it listed its tools, and runs on",
        call_fails(Failure::Any),
        Act::Code(|server, event| {
            if let Some(request) = event.asks("tools/list") {
                server.answer(request);
                let seconds = settings::lifetime().as_secs().max(1).to_string();
                become_program("sleep", &[&seconds], Stdio::null(), Stdio::inherit());
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::UnixOnly, Tag::Lingers]),
    StdioQuirk::new(
        "ignores-end",
        "ignores the end of its input",
        WORKS,
        Act::Code(|_, event| {
            if let Event::End = event {
                settings::linger();
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Lingers]),
    StdioQuirk::new(
        "ends-slowly",
        "needs 500 ms (`QUIRK_DELAY_MS`) to end after its input did, and talks meanwhile",
        WORKS,
        Act::Code(|server, event| {
            if let Event::End = event {
                server.say("Goodbye!");
                complain("shutting down ...\n");
                settings::pause(500);
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::Waits]),
    StdioQuirk::new(
        "ignores-signals",
        "ignores the end of its input, SIGTERM, SIGINT and SIGHUP",
        WORKS,
        Act::Code(|_, event| {
            match event {
                Event::Start => go_deaf("ignores-signals"),
                Event::End => settings::linger(),
                _ => {}
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::UnixOnly, Tag::Lingers]),
    StdioQuirk::new(
        "grandchild-keeps-stdout",
        "exits when it is called, while a grandchild keeps its output open",
        call_fails(Failure::Ended),
        Act::Code(|_, event| {
            if event.call().is_some() {
                forget(grandchild(Stdio::inherit(), Stays::InGroup));
                return Flow::Exit(1);
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::HasGrandchild]),
    StdioQuirk::new(
        "grandchild-stays",
        "ends with its input, but leaves a grandchild behind",
        WORKS,
        Act::Code(|_, event| start_grandchild(*event, Stays::InGroup)),
    )
    .tagged(&[Tag::HasGrandchild]),
    StdioQuirk::new(
        "grandchild-escapes",
        "leaves a grandchild behind that left the process group",
        WORKS,
        Act::Code(|_, event| start_grandchild(*event, Stays::OnItsOwn)),
    )
    .tagged(&[Tag::UnixOnly, Tag::HasGrandchild]),
    StdioQuirk::new(
        "stubborn-tree",
        "ignores everything that should end it, and so does its grandchild",
        WORKS,
        Act::Code(|_, event| {
            match event {
                Event::Start => {
                    go_deaf("stubborn-tree");
                    forget(grandchild(Stdio::inherit(), Stays::InGroup));
                }
                Event::End => settings::linger(),
                _ => {}
            }
            Flow::Usual
        }),
    )
    .tagged(&[Tag::UnixOnly, Tag::Lingers, Tag::HasGrandchild]),
    StdioQuirk::new(
        "chats-on-stderr",
        "writes about everything on stderr, like a well-behaved server may",
        WORKS,
        Act::Code(|_, event| {
            if let Event::Asked(request) = event {
                complain(&format!("info: {}\n", request.method));
            }
            Flow::Usual
        }),
    ),
];

/// Says something on stderr.
pub(super) fn complain(text: &str) {
    let mut output = io::stderr().lock();
    // Nobody may be listening, and that is fine.
    let _ignored = output.write_all(text.as_bytes());
}

/// Is the grandchild of a server, which does nothing until its time is over.
pub(super) fn be_a_grandchild() {
    #[cfg(unix)]
    if std::env::vars_os().any(|(name, _)| name == ESCAPE) {
        let _ignored = rustix::process::setsid();
    }
    settings::linger();
}

/// Stays alive without reading; the thread that reads must be gone, or it would fill memory.
pub(super) fn stop_reading() {
    let seconds = settings::lifetime().as_secs().max(1).to_string();
    become_program("sleep", &[&seconds], Stdio::inherit(), Stdio::inherit());
    settings::linger();
}

fn crash_on(event: &Event<'_>, method: &str) -> Flow {
    if event.asks(method).is_none() {
        return Flow::Usual;
    }
    complain("panic: the crane fell over\n");
    Flow::Exit(1)
}

fn half_a_line(server: &mut Server, id: &str) {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"te"#);
    server.write(start.as_bytes());
}

fn die_by_signal() {
    #[cfg(unix)]
    {
        let me = rustix::process::getpid();
        let _ignored = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    }
    std::process::abort();
}

/// Where a grandchild lives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stays {
    InGroup,
    OnItsOwn,
}

fn start_grandchild(event: Event<'_>, stays: Stays) -> Flow {
    if let Event::Start = event {
        forget(grandchild(Stdio::null(), stays));
    }
    Flow::Usual
}

#[expect(clippy::disallowed_methods, reason = "leaving a process behind is the quirk")]
fn grandchild(stdout: Stdio, stays: Stays) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(LINGER).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
    if stays == Stays::OnItsOwn {
        command.env(ESCAPE, "1");
    }
    command.spawn()
}

/// Leaves a grandchild alone.
fn forget(child: io::Result<Child>) {
    if let Err(error) = child {
        complain(&format!("no grandchild: {error}\n"));
    }
}

/// Starts this program again with the signals ignored that should end it.
fn go_deaf(mode: &str) {
    if settings::is_second_life() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let script = r#"trap "" TERM INT HUP; export QUIRK_SECOND_LIFE=1; exec "$0" "$@""#;
    let program = program.to_string_lossy().into_owned();
    let era = std::env::args().nth(2);
    let mut arguments = vec!["-c", script, &program, mode];
    arguments.extend(era.as_deref());
    become_program("sh", &arguments, Stdio::inherit(), Stdio::inherit());
}

/// Replaces this process; returns if that is not possible.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "it starts no process, it becomes one")]
fn become_program(program: &str, arguments: &[&str], stdin: Stdio, stdout: Stdio) {
    use std::os::unix::process::CommandExt;
    let error = Command::new(program).args(arguments).stdin(stdin).stdout(stdout).exec();
    complain(&format!("could not become {program}: {error}\n"));
}

#[cfg(not(unix))]
fn become_program(_program: &str, _arguments: &[&str], _stdin: Stdio, _stdout: Stdio) {}
