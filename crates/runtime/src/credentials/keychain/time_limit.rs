//! Runs a blocking call on a thread of its own, with a limit.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::KeychainError;

/// Runs a call and waits for its result. After the limit the thread is left behind: a call to the
/// keychain cannot be cancelled.
pub(super) fn run<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> Result<T, KeychainError> + Send + 'static,
) -> Result<T, KeychainError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let send = move || {
        // Nobody waits any more after the limit.
        drop(sender.send(call()));
    };
    thread::Builder::new()
        .name("keychain".to_owned())
        .spawn(send)
        .map_err(|error| KeychainError::Failed(error.to_string()))?;
    match receiver.recv_timeout(limit) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(KeychainError::TimedOut(limit)),
        // The sender is dropped by a panic.
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(KeychainError::Failed("the call panicked".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_hangs_ends_at_the_limit() {
        let (_open, never) = mpsc::channel::<()>();
        let hang = move || never.recv().map_err(|error| KeychainError::Failed(error.to_string()));
        let limit = Duration::from_millis(20);
        assert!(matches!(run(limit, hang), Err(KeychainError::TimedOut(found)) if found == limit));
    }

    #[test]
    fn a_call_that_panics_is_an_error() {
        let outcome = run::<()>(Duration::from_secs(20), || panic!("a defect of a keychain"));
        assert!(matches!(outcome, Err(KeychainError::Failed(_))));
    }
}
