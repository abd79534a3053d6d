//! The life of one server process: started, watched, ended with everything that it started.
//!
//! The handle owns the tree. Whoever drops it, at any time and on any thread, ends the tree.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::task::TaskTracker;

use super::error::StartError;
use super::launch::Launch;
use super::marker::Marker;
use super::stderr::{Heard, LogSink, Pump, StderrTail};
use super::system::{self, Stdin, Stdout, Tree};

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
    tree: Tree,
    stdin: Option<Stdin>,
    stdout: Option<Stdout>,
    tail: StderrTail,
    pump: Pump,
}

/// How patiently a tree is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grace {
    /// How long the server may take to exit after the end of its input.
    pub after_eof: Duration,
    /// How long the tree may take to exit after it was asked to terminate.
    pub after_term: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self { after_eof: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How the server exited; `None` if the system does not tell.
    pub status: Option<ExitStatus>,
    /// What it took to end the server itself.
    pub by: EndedBy,
}

/// What it took to end a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndedBy {
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
    /// `log` gets all of stderr but the secrets that `launch` names; the last of it is kept in any case. Must be called in a Tokio
    /// runtime with I/O and time. Dropping the future ends what it started.
    pub async fn start(
        launch: impl Into<Arc<Launch>>,
        tracker: &TaskTracker,
        log: Option<LogSink>,
    ) -> Result<Self, StartError> {
        let launch = launch.into();
        let redactor = launch.redactor.clone();
        let started = system::start(launch, Marker::next()).await?;
        let tail = StderrTail::default();
        let pump =
            Pump::start(started.stderr, &redactor, Heard { tail: tail.clone(), log }, tracker);
        let (stdin, stdout) = (Some(started.stdin), Some(started.stdout));
        Ok(Self { tree: started.tree, stdin, stdout, tail, pump })
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
    pub async fn last_words(&mut self, limit: Duration) -> String {
        self.pump.finish(limit).await;
        self.tail.text()
    }

    /// Ends the tree: closes the server's input, waits, asks it to terminate, waits, kills it.
    ///
    /// Afterwards nothing that the server started is running, not even what has left its process
    /// group, and its stderr is complete. A pipe that was taken must be dropped by its owner for
    /// the server to see the end of its input. Dropping the future kills the tree at once.
    pub async fn end(mut self, grace: Grace) -> Ended {
        drop(self.stdin.take());
        drop(self.stdout.take());
        let mut by = EndedBy::EndOfInput;
        let mut gentle_until = None;
        if !self.exits_within(grace.after_eof).await {
            by = EndedBy::Terminate;
            gentle_until = Some(after(grace.after_term));
            self.tree.terminate();
            if !self.exits_within(grace.after_term).await {
                by = EndedBy::Kill;
                self.tree.kill();
                self.exits_within(KILL_LIMIT).await;
            }
        }
        let gentle_until = gentle_until.unwrap_or_else(|| after(grace.after_term));
        let status = self.tree.clear(by, gentle_until).await;
        self.pump.finish(STDERR_LIMIT).await;
        Ended { status, by }
    }

    async fn exits_within(&mut self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.tree.exited()).await.is_ok()
    }
}

/// Returns a moment in the future; a wait of a day is as good as one without end.
fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(Duration::from_secs(24 * 60 * 60))
}
