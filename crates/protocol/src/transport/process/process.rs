//! Starts a server process, watches it, and ends it together with everything that it started.
//!
//! The handle owns the process tree: dropping it, at any time and on any thread, ends the tree.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::task::TaskTracker;

use super::error::StartError;
use super::launch::ProcessLaunch;
use super::marker::Marker;
use super::stderr::{LogSink, StderrReader, StderrSinks, StderrTail};
use super::system::{self, ProcessTree, Stdin, Stdout};

/// How long to wait for the exit of a killed process.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How long to wait for the end of stderr after the tree has ended.
const STDERR_LIMIT: Duration = Duration::from_millis(200);

/// A running server and everything that it starts.
///
/// Dropping it kills the process group at once, also outside of a runtime. Processes that have left
/// the group are killed in the background; [`Process::end`] waits for them, too.
#[derive(Debug)]
pub struct Process {
    tree: ProcessTree,
    stdin: Option<Stdin>,
    stdout: Option<Stdout>,
    tail: StderrTail,
    stderr_reader: StderrReader,
}

/// How long the steps of ending a process tree may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GracePeriod {
    /// How long the server may take to exit after its stdin is closed.
    pub after_eof: Duration,
    /// How long the tree may take to exit after SIGTERM.
    pub after_term: Duration,
}

impl Default for GracePeriod {
    fn default() -> Self {
        Self { after_eof: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}

/// How a server process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessExit {
    /// The exit status; `None` if it is unknown.
    pub status: Option<ExitStatus>,
    /// Which step ended the server itself.
    pub by: StopMethod,
}

/// Which step ended a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopMethod {
    /// The end of its stdin, or it had exited before.
    EndOfInput,
    /// SIGTERM to its process group.
    Terminate,
    /// SIGKILL to its process group; on Windows, the end of its job.
    Kill,
}

impl Process {
    /// Starts a program as a new process tree, and a task that reads its stderr.
    ///
    /// `log` gets all of stderr, redacted as `launch` says; the last part is kept in any case. Must
    /// be called in a Tokio runtime with I/O and time. Dropping the future ends the process.
    pub async fn start(
        launch: impl Into<Arc<ProcessLaunch>>,
        tracker: &TaskTracker,
        log: Option<LogSink>,
    ) -> Result<Self, StartError> {
        let launch = launch.into();
        let redactor = launch.redactor.clone();
        let started = system::start(launch, Marker::next()).await?;
        let tail = StderrTail::default();
        let stderr_reader = StderrReader::start(
            started.stderr,
            &redactor,
            StderrSinks { tail: tail.clone(), log },
            tracker,
        );
        let (stdin, stdout) = (Some(started.stdin), Some(started.stdout));
        Ok(Self { tree: started.tree, stdin, stdout, tail, stderr_reader })
    }

    /// Returns the pid of the server.
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// Returns the pipe to the server's stdin, once. Dropping it closes the server's stdin.
    pub fn take_stdin(&mut self) -> Option<Stdin> {
        self.stdin.take()
    }

    /// Returns the pipe from the server's stdout, once.
    pub fn take_stdout(&mut self) -> Option<Stdout> {
        self.stdout.take()
    }

    /// Returns the server's stderr, which is updated as it is read.
    pub fn stderr(&self) -> &StderrTail {
        &self.tail
    }

    /// Waits until the server's process has exited, even if other processes still hold its pipes.
    ///
    /// Returns the exit status, if it is known. Processes that it started may still be running;
    /// [`Process::end`] ends them. Cancel safe.
    pub async fn exited(&mut self) -> Option<ExitStatus> {
        self.tree.exited().await
    }

    /// Waits for the end of stderr, at most for `limit`, and returns the last part of it.
    ///
    /// After an exit this includes the text that was not read yet. Cancel safe.
    pub async fn final_stderr(&mut self, limit: Duration) -> String {
        self.stderr_reader.finish(limit).await;
        self.tail.text()
    }

    /// Ends the tree: closes the server's stdin, waits, sends SIGTERM, waits, sends SIGKILL.
    ///
    /// Afterwards no process that the server started is running, not even one that has left the
    /// process group, and stderr is complete. If the stdin pipe was taken, its owner must drop it
    /// for the server to see the end of its stdin. Dropping the future kills the tree at once.
    pub async fn end(mut self, grace: GracePeriod) -> ProcessExit {
        drop(self.stdin.take());
        drop(self.stdout.take());
        let mut by = StopMethod::EndOfInput;
        let mut kill_at = None;
        if !self.exits_within(grace.after_eof).await {
            by = StopMethod::Terminate;
            kill_at = Some(after(grace.after_term));
            self.tree.terminate();
            if !self.exits_within(grace.after_term).await {
                by = StopMethod::Kill;
                self.tree.kill();
                self.exits_within(KILL_LIMIT).await;
            }
        }
        let kill_at = kill_at.unwrap_or_else(|| after(grace.after_term));
        let status = self.tree.clean_up(by, kill_at).await;
        self.stderr_reader.finish(STDERR_LIMIT).await;
        ProcessExit { status, by }
    }

    async fn exits_within(&mut self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.tree.exited()).await.is_ok()
    }
}

/// Returns the instant after `limit`, at most a day from now, so that it cannot overflow.
fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(Duration::from_secs(24 * 60 * 60))
}
