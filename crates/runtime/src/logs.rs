//! Log files: the stderr output of each server, in one file per server with a limited size.
//!
//! A file is created with the first output. At one megabyte it is rotated, and one older file is
//! kept. Only the user may read the files, because servers also log secrets that Wharf does not know.
//! The format of the lines is in `log_entry`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use wharf_config::store::{open_regular, private_file};
use wharf_protocol::transport::process::LogSink;

use crate::log_entry::{self, LogEntry, start_mark};

/// The size at which a file is rotated.
const ROTATE_AT: u64 = 1 << 20;

/// How much of a file is read at most. The last write before a rotation may exceed [`ROTATE_AT`].
const MAX_READ: u64 = 2 * ROTATE_AT;

/// Returns the log file of a server.
pub fn log_path(folder: &Path, server: &str) -> PathBuf {
    folder.join(format!("{}.log", file_name(server)))
}

/// Returns the last lines that a server wrote, with their times, oldest first, and the starts
/// between and right before them; at most `most` lines.
///
/// The lines are untrusted text and may contain control characters.
pub fn log_entries(folder: &Path, server: &str, most: usize) -> io::Result<Vec<LogEntry>> {
    let path = log_path(folder, server);
    let mut bytes = end_of(&older(&path))?;
    bytes.extend(end_of(&path)?);
    let text = String::from_utf8_lossy(&bytes);
    let (mut entries, mut lines) = (Vec::new(), 0);
    for entry in text.lines().rev().map(LogEntry::parse) {
        lines += usize::from(entry.text.is_some());
        if lines > most {
            break;
        }
        entries.push(entry);
    }
    entries.reverse();
    Ok(entries)
}

/// Reads the end of a file, up to the maximum size of a log; nothing if the file does not exist.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = match open_regular(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_READ)))?;
    let mut bytes = Vec::new();
    file.take(MAX_READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a sink that writes to the log file of a server; `None` without a folder.
pub(crate) fn sink(folder: Option<&Path>, server: &str) -> Option<LogSink> {
    let log = Mutex::new(LogFile {
        path: log_path(folder?, server),
        started: Some(SystemTime::now()),
        begins_line: true,
        file: None,
        is_broken: false,
    });
    Some(Arc::new(move |bytes: &[u8]| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = log.write(bytes) {
            // The server keeps running when its log cannot be written.
            tracing::debug!(%error, "a server's log cannot be written");
            log.is_broken = true;
        }
    }))
}

struct LogFile {
    path: PathBuf,
    /// The time of a start that is not in the file yet.
    started: Option<SystemTime>,
    /// Whether the next output starts a line.
    begins_line: bool,
    file: Option<(File, u64)>,
    is_broken: bool,
}

impl LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            // An empty piece marks a start; the file is created with the first output.
            self.started = Some(SystemTime::now());
        }
        if self.is_broken || bytes.is_empty() {
            return Ok(());
        }
        let (mut file, size) = match self.file.take() {
            Some((file, size)) if size < ROTATE_AT => (file, size),
            Some(_) => {
                fs::rename(&self.path, older(&self.path))?;
                self.open()?
            }
            None => self.open()?,
        };
        let mut written = Vec::with_capacity(bytes.len() + bytes.len() / 2);
        if let Some(started) = self.started.take() {
            if size > 0 && !ends_line(&self.path) {
                written.push(b'\n');
            }
            self.begins_line = true;
            written.extend_from_slice(start_mark(started).as_bytes());
        }
        self.begins_line = log_entry::append(&mut written, bytes, self.begins_line);
        file.write_all(&written)?;
        self.file = Some((file, size + written.len() as u64));
        Ok(())
    }

    fn open(&self) -> io::Result<(File, u64)> {
        if let Some(folder) = self.path.parent() {
            private_file::create_folder(folder)?;
        }
        let mut options = private_file::options();
        let file = open_regular(&self.path, options.create(true).append(true))?;
        let size = file.metadata()?.len();
        Ok((file, size))
    }
}

/// Tells whether a file ends with a line break; `true` if it cannot be read.
fn ends_line(path: &Path) -> bool {
    let last = || -> io::Result<u8> {
        let mut file = open_regular(path, OpenOptions::new().read(true))?;
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last[0])
    };
    last().map_or(true, |last| last == b'\n')
}

fn older(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// Returns a file name that is valid on every file system and different for each server.
fn file_name(server: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if !server.is_empty() && server.len() <= 100 && server.chars().all(is_plain) {
        return server.to_owned();
    }
    let plain: String =
        server.chars().take(40).map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{plain}-{}", private_file::hex(&Sha256::digest(server.as_bytes())[..6]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_with_different_names_have_different_files() {
        assert_eq!(file_name("github"), "github");
        let names = ["GitHub", "git/hub", "git hub", "", "..", "日本", "git_hub-x"];
        let files: std::collections::BTreeSet<String> =
            names.iter().map(|name| file_name(name)).collect();
        assert_eq!(files.len(), names.len());
        for name in files {
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{name}");
        }
    }

    #[test]
    fn a_log_keeps_the_last_lines_in_at_most_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        let write = sink(Some(&logs), "fs").unwrap();
        assert!(!logs.exists(), "the folder is created with the first output");
        let line = format!("{}\n", "x".repeat(1023));
        for _ in 0..5 * 1024 {
            write(line.as_bytes());
        }
        write(b"the last words\n");
        let size: u64 =
            fs::read_dir(&logs).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
        assert!(size <= 2 * ROTATE_AT + 2048, "{size}");
        let tail = log_entries(&logs, "fs", 2).unwrap().into_iter().map(|entry| entry.text);
        let expected = [Some("x".repeat(1023)), Some("the last words".to_owned())];
        assert_eq!(tail.collect::<Vec<_>>(), expected);
        assert_eq!(log_entries(&logs, "other", 2).unwrap(), []);
    }

    #[test]
    fn each_start_is_marked_and_begins_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        let write = sink(Some(&logs), "fs").unwrap();
        for piece in [&b""[..], b"", b"one\ntw", b"o", b"", b"three\n"] {
            write(piece);
        }
        let entries = log_entries(&logs, "fs", 10).unwrap();
        let rendered: Vec<&str> =
            entries.iter().map(|entry| entry.text.as_deref().unwrap_or("(started)")).collect();
        assert_eq!(rendered, ["(started)", "one", "two", "(started)", "three"]);
        assert!(entries.iter().all(|entry| entry.at.is_some()));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_may_read_a_log() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        sink(Some(&logs), "fs").unwrap()(b"token\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&logs), mode(&log_path(&logs, "fs"))), (0o700, 0o600));
    }
}
