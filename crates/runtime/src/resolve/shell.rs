//! Runs one `!command` in the shell and returns its output.
//!
//! The command gets the full environment of the user, because password managers need more variables
//! than servers do. It has no input and is limited to ten seconds and 64 KiB; afterwards its whole
//! process group has ended.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout, timeout_at};
use wharf_config::{Env, Secret};
use wharf_protocol::transport::process::{
    GracePeriod, Process, ProcessLaunch, StartError, TaskTracker,
};

use super::environment;

/// How long a command may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How much a command may print.
const MAX_OUTPUT: usize = 64 * 1024;

/// How long the rest of the output is read after the command has exited.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// Kills the rest of the process group at once, after the output or the timeout.
const NO_GRACE: GracePeriod = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };

/// Why a command has no value. Contains neither the command nor its output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandFailure {
    #[error("command exited {0}")]
    Exited(i32),
    #[error("command was ended by signal {0}")]
    Signalled(i32),
    #[error("command ended with an unknown exit status")]
    Unknown,
    #[error("command took longer than {} s", TIMEOUT.as_secs())]
    TimedOut,
    #[error("command printed nothing")]
    NoOutput,
    #[error("command printed more than {} KiB", MAX_OUTPUT / 1024)]
    TooMuch,
    #[error("the output of the command is not UTF-8")]
    NotUtf8,
    #[error("the output of the command could not be read")]
    Unreadable,
    #[error("command could not be started: {0}")]
    NotStarted(String),
}

/// Runs a command to its end. Dropping the future kills its process group.
pub(super) async fn run(
    command: &Secret,
    folder: &Path,
    env: &Env,
    tracker: &TaskTracker,
) -> Result<Secret, CommandFailure> {
    let mut launch = in_shell(command, env);
    launch.environment = environment::full_environment(env);
    launch.folder = Some(folder.to_owned());
    let deadline = Instant::now() + TIMEOUT;
    let started = timeout_at(deadline, Process::start(launch, tracker, None)).await;
    let started = started.map_err(|_| CommandFailure::TimedOut)?;
    let mut process = started.map_err(|error| not_started(&error))?;
    let printed = timeout_at(deadline, output(&mut process)).await;
    process.end(NO_GRACE).await;
    let printed = printed.map_err(|_| CommandFailure::TimedOut)??;
    let text = String::from_utf8(printed).map_err(|_| CommandFailure::NotUtf8)?;
    let text = text.trim();
    if text.is_empty() { Err(CommandFailure::NoOutput) } else { Ok(Secret::new(text)) }
}

/// Returns how the shell of the system runs a command. An entry that wants PowerShell says so:
/// `!powershell -Command …`.
fn in_shell(command: &Secret, env: &Env) -> ProcessLaunch {
    if cfg!(windows) {
        let shell = env.nonempty_variable("ComSpec").unwrap_or("cmd.exe");
        let mut launch = ProcessLaunch::new(shell);
        launch.arguments = ["/D", "/S", "/C"].map(Into::into).into();
        // With `/S` the shell removes the outer quotes and takes the rest as it is.
        launch.raw_arguments = Some(format!("\"{}\"", command.expose()).into());
        return launch;
    }
    let mut launch = ProcessLaunch::new("/bin/sh");
    launch.arguments = vec!["-c".into(), command.expose().into()];
    launch
}

fn not_started(error: &StartError) -> CommandFailure {
    CommandFailure::NotStarted(error.to_string())
}

/// Reads the output of the command until it has exited.
async fn output(process: &mut Process) -> Result<Vec<u8>, CommandFailure> {
    drop(process.take_stdin());
    let mut stdout = process.take_stdout().ok_or(CommandFailure::Unreadable)?;
    let mut printed = Vec::new();
    let status = tokio::select! {
        biased;
        read = read_all(&mut stdout, &mut printed) => {
            read?;
            process.exited().await
        }
        status = process.exited() => status,
    };
    check(status)?;
    // A background process may keep the output open forever, so only the output of the command
    // itself is awaited.
    match timeout(DRAIN_TIMEOUT, read_all(&mut stdout, &mut printed)).await {
        Ok(read) => read?,
        Err(_still_open) => {}
    }
    Ok(printed)
}

/// Reads to the end. If the future is dropped, `printed` has the output so far.
async fn read_all(
    stdout: &mut (impl AsyncRead + Unpin),
    printed: &mut Vec<u8>,
) -> Result<(), CommandFailure> {
    loop {
        match stdout.read_buf(printed).await {
            Ok(0) => return Ok(()),
            Ok(_) if printed.len() > MAX_OUTPUT => return Err(CommandFailure::TooMuch),
            Ok(_) => {}
            Err(_) => return Err(CommandFailure::Unreadable),
        }
    }
}

fn check(status: Option<ExitStatus>) -> Result<(), CommandFailure> {
    let status = status.ok_or(CommandFailure::Unknown)?;
    if status.success() {
        return Ok(());
    }
    match status.code() {
        Some(code) => Err(CommandFailure::Exited(code)),
        None => Err(signal(status).map_or(CommandFailure::Unknown, CommandFailure::Signalled)),
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}
