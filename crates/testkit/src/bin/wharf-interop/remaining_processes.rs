//! Finds processes of servers that still run, by the marker in their environment.

use std::fs;

/// The environment variable of every server process; its value starts with the id of the owner.
const MARKER: &str = "WHARF_SESSION=";

/// Describes the running processes that this process has started; works on Linux only.
pub(crate) fn find() -> Vec<String> {
    let marker = format!("{MARKER}{}.", std::process::id());
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| has_marker(&it, &marker))
        })
        .map(|pid| describe(&pid))
        .collect()
}

fn has_marker(environment: &[u8], marker: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(marker.as_bytes()))
}

fn describe(pid: &str) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("process {pid} ({}) is still running", name.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_of_this_owner_match() {
        let marker = "WHARF_SESSION=12.";
        assert!(has_marker(b"A=b\0WHARF_SESSION=12.3.4.5\0", marker));
        assert!(!has_marker(b"A=b\0WHARF_SESSION=123.3.4.5\0", marker));
        assert!(!has_marker(b"X=WHARF_SESSION=12.3\0", marker));
        assert!(!has_marker(b"", marker));
    }
}
