//! Files that another program has open: Windows refuses to replace or remove them.
//!
//! Readers such as virus scanners close a file soon, so the operation is repeated for a short time.
//! Other systems replace a file whoever has it open.

use std::io;

/// Repeats an operation that fails because a file is open elsewhere, for at most a second.
#[cfg(windows)]
pub(super) fn retry<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    use std::thread;
    use std::time::{Duration, Instant};

    const LIMIT: Duration = Duration::from_secs(1);
    const INTERVAL: Duration = Duration::from_millis(5);

    let started = Instant::now();
    loop {
        match operation() {
            Err(error) if is_open_elsewhere(&error) && started.elapsed() < LIMIT => {
                thread::sleep(INTERVAL);
            }
            result => return result,
        }
    }
}

/// Does it once.
#[cfg(not(windows))]
pub(super) fn retry<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    operation()
}

/// Access denied, sharing violation, lock violation.
#[cfg(windows)]
fn is_open_elsewhere(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(5 | 32 | 33))
}
