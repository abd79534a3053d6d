//! Waits for the exit of a process without reaping it.
//!
//! On Linux a pidfd becomes readable. Where there is no pidfd, a thread waits, and ends with the
//! process.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::{io, thread};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;
use tokio_util::sync::CancellationToken;

/// Watches a child that is reaped elsewhere.
#[derive(Debug)]
pub(super) struct ExitWatch {
    pid: Pid,
    source: ExitSource,
}

#[derive(Debug)]
enum ExitSource {
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>),
    Thread(CancellationToken),
}

impl ExitWatch {
    /// Starts watching. The child must not be reaped yet, because its pid could be reused.
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{PidfdFlags, pidfd_open};
            use tokio::io::Interest;

            // Old kernels and some sandboxes have no pidfds.
            if let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) {
                #[expect(deprecated, reason = "the successor is unsafe; we own the descriptor")]
                let descriptor = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
                return Ok(Self { pid, source: ExitSource::Descriptor(descriptor) });
            }
        }
        Self::by_thread(pid)
    }

    fn by_thread(pid: Pid) -> io::Result<Self> {
        let exited = CancellationToken::new();
        let exit_guard = exited.clone().drop_guard();
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let exit_guard = exit_guard;
            // An error means that the child does not exist any more.
            let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            drop(exit_guard);
        };
        thread::Builder::new().name("wharf-wait".into()).stack_size(64 * 1024).spawn(wait)?;
        Ok(Self { pid, source: ExitSource::Thread(exited) })
    }

    /// Waits until the process has exited. Cancel safe.
    pub(super) async fn exited(&self) {
        match &self.source {
            #[cfg(target_os = "linux")]
            // The pidfd stays readable, so the readiness is never cleared. An error means that the
            // runtime is shutting down.
            ExitSource::Descriptor(descriptor) => drop(descriptor.readable().await),
            ExitSource::Thread(exited) => exited.cancelled().await,
        }
    }

    /// Returns the exit status, if the process has exited.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        waitid(WaitId::Pid(self.pid), options).ok().flatten().and_then(|status| as_exit(&status))
    }
}

/// Converts the result of `waitid` into the status format of `wait`.
fn as_exit(status: &WaitIdStatus) -> Option<ExitStatus> {
    const CORE_DUMPED: i32 = 0x80;
    let raw = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => (code & 0xff) << 8,
        (None, Some(signal)) if status.dumped() => signal | CORE_DUMPED,
        (None, Some(signal)) => signal,
        (None, None) => return None,
    };
    Some(ExitStatus::from_raw(raw))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::time::Duration;

    use rustix::process::Pid;

    use super::ExitWatch;

    #[expect(clippy::disallowed_methods, reason = "the guard itself is tested piece by piece")]
    fn shell(script: &str) -> Child {
        Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap()
    }

    async fn check(watch: fn(Pid) -> std::io::Result<ExitWatch>, script: &str) {
        let mut child = shell(script);
        let watch = watch(Pid::from_child(&child)).unwrap();
        assert_eq!(watch.status(), None);
        assert!(tokio::time::timeout(Duration::from_millis(20), watch.exited()).await.is_err());
        drop(child.stdin.take());
        tokio::time::timeout(Duration::from_secs(10), watch.exited()).await.unwrap();
        let seen: ExitStatus = watch.status().unwrap();
        assert_eq!(Some(seen), watch.status(), "the first call reaped it");
        assert_eq!(child.wait().unwrap(), seen);
        watch.exited().await;
        assert_eq!(watch.status(), None, "it is reaped");
    }

    #[tokio::test]
    async fn an_exit_is_noticed_and_the_child_is_not_reaped() {
        for watch in [ExitWatch::new, ExitWatch::by_thread] {
            check(watch, "read x; exit 7").await;
            check(watch, "read x; kill -KILL $$").await;
        }
    }
}
