//! The environment variable that marks every process of one session, including grandchildren.
//!
//! It is `WHARF_SESSION=<owner>.<started>.<sequence>.<namespace>`: the pid of the process that
//! started the session, its start time (in clock ticks since boot), a number for the session, and
//! the pid namespace of the owner. The namespace prevents a cleanup on the host from ending the
//! servers of a running owner inside a container.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of the variable.
pub(super) const VARIABLE: &str = "WHARF_SESSION";

/// One session of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Marker {
    pub(super) owner: Owner,
    sequence: u64,
}

/// A process that starts sessions. The pid alone is not enough, because pids are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) pid: u32,
    pub(super) started: u64,
    pub(super) namespace: u64,
}

impl Marker {
    /// Returns a marker that no other session has.
    pub(super) fn next() -> Self {
        static SEQUENCE: AtomicU64 = AtomicU64::new(1);
        Self { owner: Owner::current(), sequence: SEQUENCE.fetch_add(1, Ordering::Relaxed) }
    }

    /// Parses the value of the variable; `None` for anything but the exact format.
    #[cfg(any(test, target_os = "linux"))]
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let mut numbers = str::from_utf8(value).ok()?.split('.').map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| part.parse::<u64>().ok()).flatten()
        });
        let mut number = || numbers.next().flatten();
        let pid = u32::try_from(number()?).ok()?;
        let (started, sequence, namespace) = (number()?, number()?, number()?);
        let owner = Owner { pid, started, namespace };
        numbers.next().is_none().then_some(Self { owner, sequence })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Owner { pid, started, namespace } = self.owner;
        write!(f, "{pid}.{started}.{}.{namespace}", self.sequence)
    }
}

impl Owner {
    /// Returns this process as an owner.
    pub(super) fn current() -> Self {
        static CURRENT: OnceLock<Owner> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let (started, namespace) = start_and_namespace().unwrap_or_default();
            Self { pid: std::process::id(), started, namespace }
        })
    }
}

/// Returns when this process started, and its pid namespace.
#[cfg(target_os = "linux")]
fn start_and_namespace() -> Option<(u64, u64)> {
    use super::unix::process_table;

    let started = process_table::own_start_time()?;
    Some((started, process_table::own_namespace()?))
}

/// Returns `None`: markers cannot be searched on this system, so they need not identify the owner.
#[cfg(not(target_os = "linux"))]
fn start_and_namespace() -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::Marker;

    #[test]
    fn a_marker_is_read_back() {
        let marker = Marker::next();
        assert_eq!(Marker::parse(marker.to_string().as_bytes()), Some(marker));
        assert_ne!(Marker::next(), marker);
    }

    #[test]
    fn anything_but_an_exact_marker_is_rejected() {
        for text in ["", "1", "1.2.3", "1.2.3.", "1.2.3.4.5", "+1.2.3.4", "-1.2.3.4", "1.2.x.4"] {
            assert_eq!(Marker::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Marker::parse(b"99999999999.1.1.1"), None);
        assert_eq!(Marker::parse(b"\xff.1.1.1"), None);
    }
}
