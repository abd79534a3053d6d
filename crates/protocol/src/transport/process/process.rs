//! The life of one server process: started, watched, ended with everything that it started.
//!
//! The handle owns the tree. Whoever drops it, at any time and on any thread, ends the tree.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::task::TaskTracker;

use super::error::StartError;
use super::launch::ProcessLaunch;
use super::marker::Marker;
use super::stderr::{LogSink, StderrReader, StderrSinks, StderrTail};
use super::system::{self, ProcessTree, Stdin, Stdout};

/// How long the system may take to end a process that was killed.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How long the end of stderr may take once nothing is running any more.
const STDERR_LIMIT: Duration = Duration::from_millis(200);

/// A running server and everything that it starts.
///
/// Dropping it kills the whole tree at once, also outside of a runtime. What has left the process
/// group by then is ended in the background; [`Process::end`] also waits for that.
#[derive(Debug)]
pub struct Process {
    tree: ProcessTree,
    stdin: Option<Stdin>,
    stdout: Option<Stdout>,
    tail: StderrTail,
    stderr_reader: StderrReader,
}

/// How patiently a tree is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GracePeriod {
    /// How long the server may take to exit after the end of its input.
    pub after_eof: Duration,
    /// How long the tree may take to exit after it was asked to terminate.
    pub after_term: Duration,
}

impl Default for GracePeriod {
    fn default() -> Self {
        Self { after_eof: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessExit {
    /// How the server exited; `None` if the system does not tell.
    pub status: Option<ExitStatus>,
    /// What it took to end the server itself.
    pub by: StopMethod,
}

/// What it took to end a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopMethod {
    /// Nothing more than the end of its input; or it had exited before.
    EndOfInput,
    /// SIGTERM to its process group.
    Terminate,
    /// SIGKILL to its process group, or the end of its job on Windows.
    Kill,
}

impl Process {
    /// Starts a program in a tree of its own, and a task that reads its stderr.
    ///
    /// `log` gets all of stderr but the secrets that `launch` names; the last of it is kept in any
    /// case. Must be called in a Tokio runtime with I/O and time. Dropping the future ends what it
    /// started.
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

    /// Returns the number of the server's process.
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// Returns the pipe to the server's input, once. Dropping it tells the server that we are done.
    pub fn take_stdin(&mut self) -> Option<Stdin> {
        self.stdin.take()
    }

    /// Returns the pipe from the server's output, once.
    pub fn take_stdout(&mut self) -> Option<Stdout> {
        self.stdout.take()
    }

    /// Returns what the server says on stderr, now and later.
    pub fn stderr(&self) -> &StderrTail {
        &self.tail
    }

    /// Waits until the server's process has exited, whoever still holds its pipes.
    ///
    /// Returns how it exited, if the system tells. What it started may still be running; that is
    /// ended by [`Process::end`]. May be dropped and called again at any time.
    pub async fn exited(&mut self) -> Option<ExitStatus> {
        self.tree.exited().await
    }

    /// Waits for the end of stderr, at most for `limit`, and returns the last of it.
    ///
    /// After an exit this gets the words that were not read yet. May be dropped at any time.
    pub async fn final_stderr(&mut self, limit: Duration) -> String {
        self.stderr_reader.finish(limit).await;
        self.tail.text()
    }

    /// Ends the tree: closes the server's input, waits, asks it to terminate, waits, kills it.
    ///
    /// Afterwards nothing that the server started is running, not even what has left its process
    /// group, and its stderr is complete. A pipe that was taken must be dropped by its owner for
    /// the server to see the end of its input. Dropping the future kills the tree at once.
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

/// Returns a moment in the future; a wait of a day is as good as one without end.
fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(Duration::from_secs(24 * 60 * 60))
}
