//! The three pipes of a server, and the reading of its stderr.
//!
//! Ours are anonymous pipes with non-blocking ends on our side, so that a caller can write without
//! waiting. The server's ends stay as every program expects them: blocking.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::{Receiver, Sender};

use super::super::stderr::YIELD_AFTER;

/// The pipe to a server's input.
pub type Stdin = Sender;

/// The pipe from a server's output.
pub type Stdout = Receiver;

/// The pipe from a server's stderr.
pub(in super::super) type Stderr = Receiver;

/// How much is read at once. The buffer lives on the stack, and only while there is something to
/// read, so that an idle connection does not pay for it.
const READ_SIZE: usize = 16 * 1024;

/// How much a server may write before we read.
#[cfg(target_os = "linux")]
const OUTPUT_PIPE_SIZE: usize = 256 * 1024;

/// The ends of the pipes that a child gets, in the order of their numbers there.
pub(super) struct ChildEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// The ends of the pipes that stay with us. They do not block.
pub(super) struct OurEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Reserves room in the table of open files for the pipes of so many servers.
///
/// Linux makes a process with several threads wait for ten milliseconds and more whenever this
/// table has to grow, which happens several times with a hundred servers. In a process that has
/// only one thread the table grows at once, so this must be called before the second thread starts.
pub fn reserve_descriptors(servers: usize) {
    /// Three pipes and the process itself, and a little more while it is started.
    const EACH: usize = 4;
    const OTHERS: usize = 64;
    let wanted = servers.saturating_mul(EACH).saturating_add(OTHERS);
    if servers > 1
        && let (Ok(number), Ok(anything)) = (i32::try_from(wanted), File::open("/"))
    {
        // A number that is not allowed is refused, and then it goes on as it would without.
        drop(rustix::io::fcntl_dupfd_cloexec(anything, number));
    }
}

/// Makes the three pipes of a child.
pub(super) fn create() -> io::Result<(OurEnds, ChildEnds)> {
    let (input, stdin) = io::pipe()?;
    let (stdout, output) = io::pipe()?;
    let (stderr, child_stderr) = io::pipe()?;
    enlarge(&stdout);
    let ours = OurEnds { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() };
    for end in [&ours.stdin, &ours.stdout, &ours.stderr] {
        rustix::io::ioctl_fionbio(end, true)?;
    }
    let theirs =
        ChildEnds { stdin: input.into(), stdout: output.into(), stderr: child_stderr.into() };
    Ok((ours, theirs))
}

/// Makes room for large messages in the pipe from a server's output.
///
/// Beyond the person's share of pipe memory the system refuses, and the pipe stays as it is.
#[cfg(target_os = "linux")]
fn enlarge(stdout: &io::PipeReader) {
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(stdout, OUTPUT_PIPE_SIZE) {
        tracing::trace!(%error, "the output's pipe keeps its size");
    }
}

/// Leaves the pipe as it is; only Linux can enlarge one.
#[cfg(not(target_os = "linux"))]
fn enlarge(_stdout: &io::PipeReader) {}

/// Reads stderr to its end.
pub(in super::super) async fn read_stderr(stderr: Stderr, each: impl Fn(&[u8]) + Send) {
    loop {
        if stderr.readable().await.is_err() {
            return;
        }
        match read_available(&stderr, &each) {
            ReadOutcome::Empty => {}
            // A server that writes without end must not keep others from their turn.
            ReadOutcome::Full => tokio::task::yield_now().await,
            ReadOutcome::End => return,
        }
    }
}

/// What a turn of reading came to.
enum ReadOutcome {
    Empty,
    Full,
    End,
}

fn read_available(stderr: &Stderr, each: &impl Fn(&[u8])) -> ReadOutcome {
    let mut buffer = [0; READ_SIZE];
    let mut turn = 0;
    while turn < YIELD_AFTER {
        match stderr.try_read(&mut buffer) {
            Ok(0) => return ReadOutcome::End,
            Ok(length) => {
                each(&buffer[..length]);
                turn += length;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return ReadOutcome::Empty,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return ReadOutcome::End,
        }
    }
    ReadOutcome::Full
}
