//! A server process that locks a file, and starts processes that do the same: a test on any system
//! sees by the locks which processes of a tree run.
//!
//! The arguments are commands that it executes in order: `hold=PATH` locks a file until the process
//! ends, `child=PATH` starts a process that does so and sleeps, `own` starts the remaining commands
//! through the library, `read` reads stdin until its end, `sleep` sleeps for two minutes at most.
//! `arguments=PATH` writes the rest of the command line to a file, one argument per line as JSON.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use wharf_protocol::transport::process::{GracePeriod, Process, ProcessLaunch, TaskTracker};

const LIFETIME: Duration = Duration::from_secs(120);

fn main() -> io::Result<()> {
    let mut commands = env::args().skip(1);
    let mut held = Vec::new();
    while let Some(command) = commands.next() {
        let (name, value) = command.split_once('=').unwrap_or((&command, ""));
        match name {
            "hold" => held.push(hold(value)?),
            "child" => start(&[&format!("hold={value}"), "sleep"])?,
            "own" => return own_server(commands.collect()),
            "read" => drop(io::stdin().lock().read_to_end(&mut Vec::new())?),
            "sleep" => thread::sleep(LIFETIME),
            "arguments" => return write_arguments(value, commands),
            _ => return Err(io::Error::other(format!("unknown command: {command}"))),
        }
    }
    Ok(())
}

fn hold(path: &str) -> io::Result<File> {
    let file = File::create(path)?;
    file.lock()?;
    Ok(file)
}

#[expect(clippy::disallowed_methods, reason = "it starts processes without a process tree guard")]
fn start(commands: &[&str]) -> io::Result<()> {
    Command::new(env::current_exe()?).args(commands).stdin(Stdio::null()).spawn().map(drop)
}

/// Starts a server through the library and ends it at the end of stdin, unless it is killed before.
fn own_server(commands: Vec<String>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _entered = runtime.enter();
    let launch = ProcessLaunch {
        arguments: commands.into_iter().map(Into::into).collect(),
        environment: env::vars_os().collect(),
        ..ProcessLaunch::new(env::current_exe()?)
    };
    let started = runtime.block_on(Process::start(launch, &TaskTracker::new(), None));
    let server = started.map_err(io::Error::other)?;
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    let grace = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };
    runtime.block_on(server.end(grace));
    Ok(())
}

fn write_arguments(path: &str, arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mut file = File::create(path)?;
    arguments.into_iter().try_for_each(|text| writeln!(file, "{}", serde_json::json!(text)))
}
