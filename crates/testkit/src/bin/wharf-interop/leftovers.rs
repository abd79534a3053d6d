//! Looks for processes that a visit has left behind, by the mark in their environment.

use std::fs;

/// What every process of a session has in its environment, before the number of its owner.
const MARK: &str = "WHARF_SESSION=";

/// Returns the processes that we have started and that still run; only Linux tells.
pub(crate) fn find() -> Vec<String> {
    let mark = format!("{MARK}{}.", std::process::id());
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| has(&it, &mark)))
        .map(|pid| describe(&pid))
        .collect()
}

fn has(environment: &[u8], mark: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(mark.as_bytes()))
}

fn describe(pid: &str) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("process {pid} ({}) is still running", name.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mark_of_this_owner_counts() {
        let mark = "WHARF_SESSION=12.";
        assert!(has(b"A=b\0WHARF_SESSION=12.3.4.5\0", mark));
        assert!(!has(b"A=b\0WHARF_SESSION=123.3.4.5\0", mark));
        assert!(!has(b"X=WHARF_SESSION=12.3\0", mark));
        assert!(!has(b"", mark));
    }
}
