//! Handles signals (SIGINT, SIGTERM, SIGHUP, SIGQUIT; on Windows console events) on a separate
//! thread, so that a busy or blocked main thread does not delay them.
//!
//! The first signal asks the work to stop, if some code listens for that ([`Interrupts`]), and
//! gives it [`GRACE`] to shut its servers down, and longer while the answer to a refresh token is
//! due. If no code listens, if the grace period is over, or if a second signal arrives, this thread
//! ends the program: it kills all server processes, restores the terminal, and exits with the code
//! for "cancelled".

use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::watch;
use wharf::auth::unfinished_renewals;
use wharf::protocol::transport::process;

use crate::commands::Exit;

/// How long the work may take to stop. Servers get a tenth of a second to exit at the end of a run
/// before they are killed, so this is ample.
const GRACE: Duration = Duration::from_secs(3);

/// The additional time while a token is being renewed: for one request, and to store its response.
const RENEWAL_GRACE: Duration = Duration::from_secs(25);

/// How often to look whether it is renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(20);

/// The number of signals received; every [`Interrupts`] watches it.
static RECEIVED: LazyLock<watch::Sender<u32>> = LazyLock::new(|| watch::channel(0).0);

/// How many [`Interrupts`] exist: work that stops by itself on a signal.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// Waits for signals. While one exists, the first signal does not end the program at once.
pub(crate) struct Interrupts(watch::Receiver<u32>);

impl Interrupts {
    /// Starts to listen.
    pub(crate) fn listen() -> Self {
        LISTENERS.fetch_add(1, Ordering::SeqCst);
        Self(RECEIVED.subscribe())
    }

    /// Waits for the next signal. Cancel safe: the future may be dropped and called again.
    pub(crate) async fn next(&mut self) {
        // The sender is never dropped.
        let _never_fails = self.0.changed().await;
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The number of servers for which file descriptors are reserved before the second thread starts.
const RESERVED_SERVERS: usize = 128;

/// Starts the signal thread. If that fails, signals keep their default behaviour.
pub(crate) fn receive() {
    // Growing the table of open files is slow with several threads, so it is enlarged before.
    process::reserve_descriptors(RESERVED_SERVERS);
    let start = || -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // Registered here and not in the thread, so that no early signal is missed.
        let entered = runtime.enter();
        let signals = system::Signals::register()?;
        drop(entered);
        let terminal = system::Terminal::remember();
        let work = move || runtime.block_on(handle_signals(signals, &terminal));
        thread::Builder::new().name("wharf-signals".into()).stack_size(256 * 1024).spawn(work)?;
        Ok(())
    };
    if let Err(error) = start() {
        tracing::debug!(%error, "signals are left to the system");
    }
}

async fn handle_signals(mut signals: system::Signals, terminal: &system::Terminal) {
    signals.next().await;
    if LISTENERS.load(Ordering::SeqCst) > 0 {
        RECEIVED.send_modify(|count| *count += 1);
        // A second signal ends the grace period early.
        if tokio::time::timeout(GRACE, signals.next()).await.is_err() {
            tokio::select! {
                () = signals.next() => {}
                _ = tokio::time::timeout(RENEWAL_GRACE, renewed()) => {}
            }
        }
    }
    end(terminal);
}

/// Waits until no sent refresh token is without its answer: the next run would have to sign in again.
async fn renewed() {
    while unfinished_renewals() > 0 {
        tokio::time::sleep(RENEWAL_INTERVAL).await;
    }
}

/// Ends the program and all processes that its servers have started.
#[expect(clippy::exit, reason = "the thread that would return from `main` may be blocked for ever")]
fn end(terminal: &system::Terminal) {
    process::kill_all();
    terminal.restore();
    std::process::exit(Exit::Cancelled as i32);
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::{self, Read as _};
    use std::pin::Pin;
    use std::task::Poll;

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// The signals that end a run.
    pub(super) struct Signals(Vec<Signal>);

    impl Signals {
        /// Handles all of them except those that were ignored when the program started, as `nohup`
        /// does with SIGHUP.
        pub(super) fn register() -> io::Result<Self> {
            let ignored = ignored();
            let all = [
                SignalKind::interrupt(),
                SignalKind::terminate(),
                SignalKind::hangup(),
                SignalKind::quit(),
            ];
            let wanted = all.into_iter().filter(|kind| !is_in(ignored, *kind));
            wanted.map(signal).collect::<io::Result<_>>().map(Self)
        }

        /// Waits for any of these signals.
        pub(super) async fn next(&mut self) {
            std::future::poll_fn(|context| {
                let mut signals = self.0.iter_mut();
                if signals.any(|signal| Pin::new(signal).poll_recv(context).is_ready()) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
    }

    fn is_in(set: u64, kind: SignalKind) -> bool {
        let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or(u32::MAX);
        set.checked_shr(bit).is_some_and(|rest| rest & 1 == 1)
    }

    /// Returns the ignored signals as a bit set; empty on systems where this cannot be read without
    /// unsafe code.
    fn ignored() -> u64 {
        let mut status = String::new();
        if cfg!(target_os = "linux")
            && let Ok(mut file) = File::open("/proc/self/status")
        {
            // The file has no size, and reading it in small pieces takes longer.
            status.reserve(4096);
            // Nothing is ignored if it cannot be read.
            let _best_effort = file.read_to_string(&mut status);
        }
        let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
    }

    /// The terminal settings at the start. A password prompt, for example, switches echo off, and
    /// an interrupted run must switch it on again.
    pub(super) struct Terminal(Option<Termios>);

    impl Terminal {
        pub(super) fn remember() -> Self {
            Self(tcgetattr(io::stdin()).ok())
        }

        pub(super) fn restore(&self) {
            // The system stops a background process that changes the terminal.
            let is_ours = tcgetpgrp(io::stdin()).is_ok_and(|it| it == rustix::process::getpgrp());
            if let Some(before) = self.0.as_ref().filter(|_| is_ours) {
                // A closed terminal needs no reset.
                let _best_effort = tcsetattr(io::stdin(), OptionalActions::Now, before);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_signal_is_found_in_a_set_by_its_number() {
            assert!(is_in(0b1, SignalKind::hangup()));
            assert!(is_in(0b10, SignalKind::interrupt()));
            assert!(!is_in(0b10, SignalKind::hangup()));
            assert!(!is_in(0, SignalKind::terminate()));
        }
    }
}

#[cfg(windows)]
mod system {
    use std::io;

    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
    };

    /// The console events that end a run.
    pub(super) struct Signals(CtrlC, CtrlBreak, CtrlClose, CtrlShutdown);

    impl Signals {
        pub(super) fn register() -> io::Result<Self> {
            Ok(Self(ctrl_c()?, ctrl_break()?, ctrl_close()?, ctrl_shutdown()?))
        }

        /// Waits for any of them.
        pub(super) async fn next(&mut self) {
            tokio::select! {
                _ = self.0.recv() => {}
                _ = self.1.recv() => {}
                _ = self.2.recv() => {}
                _ = self.3.recv() => {}
            }
        }
    }

    /// Windows restores the console itself.
    pub(super) struct Terminal;

    impl Terminal {
        pub(super) fn remember() -> Self {
            Self
        }

        pub(super) fn restore(&self) {}
    }
}
