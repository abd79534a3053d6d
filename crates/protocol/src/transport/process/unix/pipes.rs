//! The pipes for a server's stdin, stdout and stderr, and the loop that reads stderr.
//!
//! The parent's ends are non-blocking, so that a caller can write without waiting. The server's
//! ends stay blocking, as every program expects.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::{Receiver, Sender};

use super::super::stderr::YIELD_AFTER;

/// The pipe to a server's stdin.
pub type Stdin = Sender;

/// The pipe from a server's stdout.
pub type Stdout = Receiver;

/// The pipe from a server's stderr.
pub(in super::super) type Stderr = Receiver;

/// How many bytes are read at once. The buffer is on the stack, and only while there is something
/// to read, so that an idle connection needs no buffer.
const READ_SIZE: usize = 16 * 1024;

/// The capacity of the stdout pipe.
#[cfg(target_os = "linux")]
const OUTPUT_PIPE_SIZE: usize = 256 * 1024;

/// The child's ends of the pipes, in the sequence of their descriptors 0, 1 and 2.
pub(super) struct ChildEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// The parent's ends of the pipes; non-blocking.
pub(super) struct OurEnds {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Reserves file descriptors for the pipes of so many servers.
///
/// On Linux a process with several threads waits for 10 ms and more whenever its table of
/// descriptors grows, which happens several times with a hundred servers. With one thread there is
/// no such wait, so this must be called before the second thread starts.
pub fn reserve_descriptors(servers: usize) {
    /// Three pipes and the pidfd of each server.
    const EACH: usize = 4;
    const OTHERS: usize = 64;
    let wanted = servers.saturating_mul(EACH).saturating_add(OTHERS);
    if servers > 1
        && let (Ok(number), Ok(anything)) = (i32::try_from(wanted), File::open("/"))
    {
        // A number over the limit is an error; then nothing is reserved.
        drop(rustix::io::fcntl_dupfd_cloexec(anything, number));
    }
}

/// Creates the three pipes of a child.
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

/// Enlarges the stdout pipe for large messages.
///
/// Over the user's limit for pipe memory the system refuses, and the pipe keeps its size.
#[cfg(target_os = "linux")]
fn enlarge(stdout: &io::PipeReader) {
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(stdout, OUTPUT_PIPE_SIZE) {
        tracing::trace!(%error, "the stdout pipe keeps its size");
    }
}

/// Does nothing: only Linux can enlarge a pipe.
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
            // A server that writes without end must not starve other tasks.
            ReadOutcome::Full => tokio::task::yield_now().await,
            ReadOutcome::End => return,
        }
    }
}

/// The result of [`read_available`].
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
