//! Receives signals on a thread of its own, whatever the rest of the program is busy with.
//!
//! The first signal asks the work to stop, if there is work that listens for that ([`Interrupts`]),
//! and gives it [`GRACE`] to end its servers in order. Work that does not listen, does not stop in
//! time, or is told a second time, is ended from here: all server processes are killed, the
//! terminal is put back as it was, and the program exits with the code for "cancelled".

use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::watch;
use wharf::protocol::transport::process;

use crate::commands::Exit;

/// How long work that was asked to stop may take. Servers of a run that is over get a tenth of a
/// second to exit before they are killed, so this is plenty.
const GRACE: Duration = Duration::from_secs(3);

/// Counts the signals; what changes it reaches everybody who listens.
static RECEIVED: LazyLock<watch::Sender<u32>> = LazyLock::new(|| watch::channel(0).0);

/// How much work there is that stops by itself when it is asked to.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// Hears when the run is to end. While one exists, a first signal does not end the program at once.
pub(crate) struct Interrupts(watch::Receiver<u32>);

impl Interrupts {
    /// Listens from now on.
    pub(crate) fn listen() -> Self {
        LISTENERS.fetch_add(1, Ordering::SeqCst);
        Self(RECEIVED.subscribe())
    }

    /// Waits for the next signal. May be dropped and called again.
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

/// For how many servers descriptors are reserved before the second thread starts.
const RESERVED_SERVERS: usize = 128;

/// Starts to receive signals. Without a thread for that, signals do what the system does by
/// default.
pub(crate) fn receive() {
    // With several threads the table of open files grows slowly, so it is enlarged before the
    // first.
    process::reserve_descriptors(RESERVED_SERVERS);
    let start = || -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // Registered before anything else runs, so that no signal finds us unprepared.
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
        // Whichever comes first: impatience, or the end of ours.
        drop(tokio::time::timeout(GRACE, signals.next()).await);
    }
    end(terminal);
}

/// Ends the program, and everything that its servers have started.
#[expect(clippy::exit, reason = "the thread that would return from `main` may be blocked for ever")]
fn end(terminal: &system::Terminal) {
    process::kill_all();
    terminal.restore();
    std::process::exit(Exit::Cancelled as i32);
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::pin::Pin;
    use std::task::Poll;

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// The signals that end a run.
    pub(super) struct Signals(Vec<Signal>);

    impl Signals {
        /// Takes over all of them but those that whoever started us wants to be ignored, as `nohup`
        /// does.
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

        /// Waits for any of them.
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

    /// Returns which signals are ignored, as a set of bits; none where the system does not tell
    /// without unsafe code.
    fn ignored() -> u64 {
        let status = if cfg!(target_os = "linux") {
            std::fs::read_to_string("/proc/self/status").unwrap_or_default()
        } else {
            String::new()
        };
        let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
    }

    /// How the terminal was at the start. A question for a password, for example, hides what is
    /// typed, and must not leave it so.
    pub(super) struct Terminal(Option<Termios>);

    impl Terminal {
        pub(super) fn remember() -> Self {
            Self(tcgetattr(io::stdin()).ok())
        }

        pub(super) fn restore(&self) {
            // Somebody in the background would be stopped for touching the terminal.
            let is_ours = tcgetpgrp(io::stdin()).is_ok_and(|it| it == rustix::process::getpgrp());
            if let Some(before) = self.0.as_ref().filter(|_| is_ours) {
                // A terminal that is gone needs nothing.
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

    /// What ends a run.
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

    /// The console is put back by the system.
    pub(super) struct Terminal;

    impl Terminal {
        pub(super) fn remember() -> Self {
            Self
        }

        pub(super) fn restore(&self) {}
    }
}
