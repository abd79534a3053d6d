//! The process tree on Windows: a job object, which the system ends as a whole.
//!
//! The job ends when its last handle is closed, so it also ends when this process is killed:
//! no markers and no cleanup are needed.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::io::AsyncReadExt;

use super::error::StartError;
use super::launch::ProcessLaunch;
use super::marker::{Marker, VARIABLE};
use super::process::StopMethod;
use super::stderr::YIELD_AFTER;

/// The pipe to a server's stdin.
pub type Stdin = tokio::process::ChildStdin;

/// The pipe from a server's stdout.
pub type Stdout = tokio::process::ChildStdout;

/// The pipe from a server's stderr.
pub(super) type Stderr = tokio::process::ChildStderr;

/// How long to wait for the exit of a process after its job has ended.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A process in a new job. Dropping it ends the job.
#[derive(Debug)]
pub(super) struct ProcessTree {
    child: Box<dyn ChildWrapper>,
    id: u32,
    status: Option<ExitStatus>,
}

/// A started process tree with its pipes.
pub(super) struct StartedProcess {
    pub(super) tree: ProcessTree,
    pub(super) stdin: Stdin,
    pub(super) stdout: Stdout,
    pub(super) stderr: Stderr,
}

/// Starts a program in a new job.
#[expect(clippy::unused_async, reason = "it waits on other systems")]
pub(super) async fn start(
    launch: Arc<ProcessLaunch>,
    marker: Marker,
) -> Result<StartedProcess, StartError> {
    let mut command = CommandWrap::with_new(&launch.program, |command| {
        command.args(&launch.arguments).env_clear();
        if let Some(raw) = &launch.raw_arguments {
            command.raw_arg(raw);
        }
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command.env(VARIABLE, marker.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
    });
    command.wrap(KillOnDrop).wrap(JobObject);
    let mut child = command.spawn().map_err(|error| StartError::new(&launch, error))?;
    let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(StartError::new(&launch, std::io::Error::other("a pipe is missing")));
    };
    let tree = ProcessTree { id: child.id().unwrap_or_default(), child, status: None };
    Ok(StartedProcess { tree, stdin, stdout, stderr })
}

impl ProcessTree {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) async fn exited(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            // The inner child is the process itself; the outer one would wait for the whole job.
            self.status = self.child.inner_mut().wait().await.ok();
        }
        self.status
    }

    /// Ends the job: a process without a window cannot be asked to terminate.
    pub(super) fn terminate(&mut self) {
        self.kill();
    }

    pub(super) fn kill(&mut self) {
        if let Err(error) = self.child.start_kill() {
            tracing::debug!(process = self.id, %error, "the job could not be ended");
        }
    }

    pub(super) async fn clean_up(mut self, _by: StopMethod, _until: Instant) -> Option<ExitStatus> {
        self.kill();
        tokio::time::timeout(KILL_LIMIT, self.exited()).await.ok().flatten()
    }
}

/// Reads stderr to its end.
pub(super) async fn read_stderr(mut stderr: Stderr, each: impl Fn(&[u8]) + Send) {
    let mut buffer = vec![0; 4096];
    let mut turn = 0;
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        each(&buffer[..length]);
        turn += length;
        if turn >= YIELD_AFTER {
            turn = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// Does nothing: the table of handles needs no reservation.
pub fn reserve_descriptors(_servers: usize) {}

/// Does nothing: a job ends when this program ends.
pub fn kill_all() {}

/// Does nothing: a process cannot leave its job. Returns whether this process adopts orphans.
pub fn adopt_orphans() -> bool {
    false
}

/// Does nothing: see [`adopt_orphans`]. Returns how many processes were ended.
pub async fn end_orphans() -> usize {
    0
}

/// Does nothing: a job ends with its owner, so no process is left over. Returns how many processes
/// were ended.
pub async fn end_leftover_processes() -> usize {
    0
}
