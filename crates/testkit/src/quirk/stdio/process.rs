//! Quirks of the server process: crashes, partial lines, closed pipes, signals, grandchildren.
//!
//! Safe Rust cannot ignore a signal or close a pipe, so the process replaces itself (`exec`): by a
//! shell that ignores the signals and starts the server again, or by `cat` or `sleep` with other
//! pipes.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use super::StdioQuirk;
use super::environment;
use super::server::{Event, NextStep, StdioBehavior, StdioServer};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WORKS, call_fails};

/// The name of the mode of a grandchild, which is in no table.
pub(super) const GRANDCHILD_MODE: &str = "linger";
/// The environment variable that makes a grandchild leave the process group of its parent.
const OWN_SESSION_VARIABLE: &str = "QUIRK_ESCAPE";

pub(super) const QUIRKS: &[StdioQuirk] = &[
    StdioQuirk::new(
        "silent",
        "never writes anything",
        ExpectedOutcome::ConnectFails { because: FailureReason::TimedOut },
        StdioBehavior::Handler(|_, event| match event {
            Event::Request(_) => NextStep::Done,
            _ => NextStep::Default,
        }),
    ),
    StdioQuirk::new(
        "exit-at-start",
        "exits with 0 before it writes anything",
        ExpectedOutcome::ConnectFails { because: FailureReason::Ended },
        StdioBehavior::Handler(|_, _| NextStep::Exit(0)),
    ),
    StdioQuirk::new(
        "crash-at-start",
        "exits with 1 and a stack trace on stderr before it writes anything",
        ExpectedOutcome::ConnectFails { because: FailureReason::Ended },
        StdioBehavior::Handler(|_, _| {
            write_stderr("Traceback: no module named harbour\n");
            NextStep::Exit(1)
        }),
    ),
    StdioQuirk::new(
        "crash-on-initialize",
        "crashes on `initialize`",
        ExpectedOutcome::ConnectFails { because: FailureReason::Ended },
        StdioBehavior::Handler(|_, event| crash_on(event, "initialize")),
    )
    .legacy(),
    StdioQuirk::new(
        "crash-on-list",
        "crashes on `tools/list`",
        ExpectedOutcome::ListFails { because: FailureReason::Ended },
        StdioBehavior::Handler(|_, event| crash_on(event, "tools/list")),
    ),
    StdioQuirk::new(
        "crash-on-call",
        "exits with 1 and a message on stderr when it is called",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|_, event| crash_on(event, "tools/call")),
    ),
    StdioQuirk::new(
        "crash-after-reply",
        "responds to a call and exits at once",
        WORKS,
        StdioBehavior::Handler(|server, event| match event.call() {
            Some(request) => {
                server.respond(request);
                NextStep::Exit(1)
            }
            None => NextStep::Default,
        }),
    ),
    StdioQuirk::new(
        "crash-by-signal",
        "is killed by a signal when it is called",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                kill_this_process();
            }
            NextStep::Default
        }),
    ),
    StdioQuirk::new(
        "half-line-then-exit",
        "writes half a response and exits",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|server, event| match event.call() {
            Some(request) => {
                write_half_line(server, request.id());
                NextStep::Exit(0)
            }
            None => NextStep::Default,
        }),
    ),
    StdioQuirk::new(
        "half-line-then-stall",
        "writes half a response and nothing more",
        call_fails(FailureReason::TimedOut),
        StdioBehavior::Handler(|server, event| match event.call() {
            Some(request) => {
                write_half_line(server, request.id());
                NextStep::Done
            }
            None => NextStep::Default,
        }),
    ),
    StdioQuirk::new(
        "whole-line-without-end",
        "writes its last response without a line end and exits",
        WORKS,
        StdioBehavior::Handler(|server, event| match event.call() {
            Some(request) => {
                let outcome = crate::quirk::responses::correct_result(server.era, request);
                server.write_bytes(crate::quirk::responses::rpc_response(request.id(), &outcome).as_bytes());
                NextStep::Exit(0)
            }
            None => NextStep::Default,
        }),
    ),
    StdioQuirk::new(
        "closes-stdout",
        "closes its stdout when it is called, and keeps running",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                exec_program("cat", &[], Stdio::inherit(), Stdio::null());
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::UnixOnly]),
    StdioQuirk::new(
        "closes-stdin",
        "closes its stdin after it listed its tools, and keeps running",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|server, event| {
            if let Some(request) = event.request("tools/list") {
                let outcome = crate::quirk::responses::correct_result(server.era, request);
                let response = crate::quirk::responses::rpc_response(request.id(), &outcome);
                let seconds = environment::lifetime().as_secs().max(1).to_string();
                // The response comes from a process without the stdin, so that the next request
                // always finds it closed.
                let script = r#"printf '%s\n' "$1"; exec sleep "$2""#;
                let words = ["-c", script, "sh", &response, &seconds];
                exec_program("sh", &words, Stdio::null(), Stdio::inherit());
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::UnixOnly, ModeTag::Lingers]),
    StdioQuirk::new(
        "ignores-end",
        "ignores the end of its input",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if let Event::EndOfInput = event {
                environment::linger();
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Lingers]),
    StdioQuirk::new(
        "ends-slowly",
        "ends 500 ms (`QUIRK_DELAY_MS`) after its input ended, and writes to stdout and stderr before that",
        WORKS,
        StdioBehavior::Handler(|server, event| {
            if let Event::EndOfInput = event {
                server.send_line("Goodbye!");
                write_stderr("shutting down ...\n");
                environment::pause(500);
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::Waits]),
    StdioQuirk::new(
        "ignores-signals",
        "ignores the end of its input, SIGTERM, SIGINT and SIGHUP",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            match event {
                Event::Start => restart_ignoring_signals("ignores-signals"),
                Event::EndOfInput => environment::linger(),
                _ => {}
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::UnixOnly, ModeTag::Lingers]),
    StdioQuirk::new(
        "grandchild-keeps-stdout",
        "exits when it is called, while a grandchild keeps its stdout open",
        call_fails(FailureReason::Ended),
        StdioBehavior::Handler(|_, event| {
            if event.call().is_some() {
                report_spawn(start_grandchild(Stdio::inherit(), ProcessGroup::OfParent));
                return NextStep::Exit(1);
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::HasGrandchild]),
    StdioQuirk::new(
        "grandchild-stays",
        "ends with its input, but leaves a grandchild running",
        WORKS,
        StdioBehavior::Handler(|_, event| grandchild_at_start(*event, ProcessGroup::OfParent)),
    )
    .tagged(&[ModeTag::HasGrandchild]),
    StdioQuirk::new(
        "grandchild-escapes",
        "leaves a grandchild running that has left the process group",
        WORKS,
        StdioBehavior::Handler(|_, event| grandchild_at_start(*event, ProcessGroup::Own)),
    )
    .tagged(&[ModeTag::UnixOnly, ModeTag::HasGrandchild]),
    StdioQuirk::new(
        "stubborn-tree",
        "ignores the end of its input and all signals but SIGKILL, and so does its grandchild",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            match event {
                Event::Start => {
                    restart_ignoring_signals("stubborn-tree");
                    report_spawn(start_grandchild(Stdio::inherit(), ProcessGroup::OfParent));
                }
                Event::EndOfInput => environment::linger(),
                _ => {}
            }
            NextStep::Default
        }),
    )
    .tagged(&[ModeTag::UnixOnly, ModeTag::Lingers, ModeTag::HasGrandchild]),
    StdioQuirk::new(
        "chats-on-stderr",
        "logs every request on stderr, which is allowed",
        WORKS,
        StdioBehavior::Handler(|_, event| {
            if let Event::Request(request) = event {
                write_stderr(&format!("info: {}\n", request.method));
            }
            NextStep::Default
        }),
    ),
];

/// Writes to stderr.
pub(super) fn write_stderr(text: &str) {
    let mut output = io::stderr().lock();
    // The pipe may be closed, which is fine.
    let _ignored = output.write_all(text.as_bytes());
}

/// Runs the grandchild of a server, which sleeps for its lifetime.
pub(super) fn run_grandchild() {
    #[cfg(unix)]
    if std::env::vars_os().any(|(name, _)| name == OWN_SESSION_VARIABLE) {
        let _ignored = rustix::process::setsid();
    }
    environment::linger();
}

/// Stays alive without reading. `exec` ends the thread that reads, which would fill the memory.
pub(super) fn stop_reading() {
    let seconds = environment::lifetime().as_secs().max(1).to_string();
    exec_program("sleep", &[&seconds], Stdio::inherit(), Stdio::inherit());
    environment::linger();
}

fn crash_on(event: &Event<'_>, method: &str) -> NextStep {
    if event.request(method).is_none() {
        return NextStep::Default;
    }
    write_stderr("panic: the crane fell over\n");
    NextStep::Exit(1)
}

fn write_half_line(server: &mut StdioServer, id: &str) {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"te"#);
    server.write_bytes(start.as_bytes());
}

fn kill_this_process() {
    #[cfg(unix)]
    {
        let me = rustix::process::getpid();
        let _ignored = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    }
    std::process::abort();
}

/// The process group of a grandchild.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProcessGroup {
    OfParent,
    Own,
}

fn grandchild_at_start(event: Event<'_>, group: ProcessGroup) -> NextStep {
    if let Event::Start = event {
        report_spawn(start_grandchild(Stdio::null(), group));
    }
    NextStep::Default
}

#[expect(clippy::disallowed_methods, reason = "leaving a process behind is the quirk")]
fn start_grandchild(stdout: Stdio, group: ProcessGroup) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(GRANDCHILD_MODE).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
    if group == ProcessGroup::Own {
        command.env(OWN_SESSION_VARIABLE, "1");
    }
    command.spawn()
}

/// Writes an error to stderr if a grandchild could not be started.
fn report_spawn(child: io::Result<Child>) {
    if let Err(error) = child {
        write_stderr(&format!("could not start the grandchild: {error}\n"));
    }
}

/// Restarts this program so that it ignores the signals that should end it.
fn restart_ignoring_signals(mode: &str) {
    if environment::is_restarted() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let script = r#"trap "" TERM INT HUP; export QUIRK_SECOND_LIFE=1; exec "$0" "$@""#;
    let program = program.to_string_lossy().into_owned();
    let era = std::env::args().nth(2);
    let mut arguments = vec!["-c", script, &program, mode];
    arguments.extend(era.as_deref());
    exec_program("sh", &arguments, Stdio::inherit(), Stdio::inherit());
}

/// Replaces this process; returns only if that fails.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "it starts no process, it replaces this one")]
fn exec_program(program: &str, arguments: &[&str], stdin: Stdio, stdout: Stdio) {
    use std::os::unix::process::CommandExt;
    let error = Command::new(program).args(arguments).stdin(stdin).stdout(stdout).exec();
    write_stderr(&format!("could not replace the process by {program}: {error}\n"));
}

#[cfg(not(unix))]
fn exec_program(_program: &str, _arguments: &[&str], _stdin: Stdio, _stdout: Stdio) {}
