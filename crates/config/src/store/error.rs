//! Errors of reading, writing and locking files, with hints.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::read::MAX_FILE_BYTES;
use crate::problem::Problem;

/// An error about a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct StoreError {
    /// The path as requested.
    pub path: PathBuf,
    /// What went wrong.
    pub kind: StoreErrorKind,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" {}", self.path.display(), self.kind)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The message contains the kind but not its cause.
        self.kind.source()
    }
}

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// It is a folder, pipe, socket or device.
    #[error("is {0}, not a file")]
    NotAFile(&'static str),
    /// It is larger than [`MAX_FILE_BYTES`].
    #[error("is larger than {} MiB", MAX_FILE_BYTES / (1024 * 1024))]
    TooLarge,
    /// It is not UTF-8.
    #[error("is not valid UTF-8 (line {line})")]
    NotUtf8 {
        /// The line of the first invalid byte, counted from 1.
        line: u32,
    },
    /// It is a dangling symbolic link.
    #[error("is a link to \"{}\", which does not exist", .0.display())]
    DanglingLink(PathBuf),
    /// It is a symbolic link loop.
    #[error("is a symbolic link to itself")]
    LinkLoop,
    /// It is read-only.
    #[error("is read-only")]
    ReadOnly,
    /// It cannot be read.
    #[error("cannot be read")]
    Unreadable(#[source] io::Error),
    /// It cannot be written.
    #[error("cannot be written")]
    Unwritable {
        /// The folder of the new file.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// It is one of Wharf's own files and is malformed.
    #[error("is malformed")]
    Malformed,
    /// The system has no random numbers, which are needed to store secrets.
    #[error("cannot be written safely")]
    NoRandomness(#[source] io::Error),
    /// Another process holds the lock.
    #[error("is locked by another Wharf process, for longer than {0:?}")]
    Busy(Duration),
    /// The lock file cannot be created or locked.
    #[error("cannot be locked")]
    Unlockable(#[source] io::Error),
}

impl StoreError {
    pub(crate) fn new(path: &Path, kind: StoreErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// Says what to do about it.
    pub fn hint(&self) -> String {
        match &self.kind {
            StoreErrorKind::NotAFile(_) => "move it away, or put a file in its place".to_owned(),
            StoreErrorKind::TooLarge => "make the file smaller".to_owned(),
            StoreErrorKind::NotUtf8 { line } => format!("save it as UTF-8; line {line} is not"),
            StoreErrorKind::DanglingLink(target) => {
                format!("create \"{}\", or remove the link", target.display())
            }
            StoreErrorKind::LinkLoop => "remove the link".to_owned(),
            StoreErrorKind::ReadOnly => {
                "make it writable, or edit the file it is generated from".to_owned()
            }
            StoreErrorKind::Unreadable(source) => unreadable_hint(source),
            StoreErrorKind::Unwritable { folder, source } => unwritable_hint(folder, source),
            StoreErrorKind::Malformed => "correct the file, or delete it".to_owned(),
            StoreErrorKind::NoRandomness(_) => {
                "the operating system's random number generator failed".to_owned()
            }
            StoreErrorKind::Busy(_) => "try again when the other process is done".to_owned(),
            StoreErrorKind::Unlockable(source) => {
                let folder = self.path.parent().and_then(Path::parent).unwrap_or(&self.path);
                unwritable_hint(folder, source)
            }
        }
    }

    /// Tells whether another process held the lock, so that a retry may succeed.
    pub fn is_busy(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Busy(_))
    }

    /// Converts it to a problem of the file.
    pub fn as_problem(&self) -> Problem {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        let mut message = format!("\"{name}\" {}", self.kind);
        if let Some(cause) = self.source() {
            message = format!("{message}: {cause}");
        }
        let problem = Problem::error(self.code(), message).in_file(&self.path).hint(self.hint());
        match self.kind {
            StoreErrorKind::NotUtf8 { line } => problem.on_line(line),
            _ => problem,
        }
    }

    fn code(&self) -> &'static str {
        match self.kind {
            StoreErrorKind::NotAFile(_) => "not-a-file",
            StoreErrorKind::TooLarge => "too-large",
            StoreErrorKind::NotUtf8 { .. } => "not-utf8",
            StoreErrorKind::DanglingLink(_) => "dangling-link",
            StoreErrorKind::LinkLoop => "link-loop",
            StoreErrorKind::ReadOnly => "read-only",
            StoreErrorKind::Unreadable(_) => "unreadable",
            StoreErrorKind::Malformed => "malformed",
            StoreErrorKind::Unwritable { .. } | StoreErrorKind::NoRandomness(_) => "unwritable",
            StoreErrorKind::Busy(_) | StoreErrorKind::Unlockable(_) => "locked",
        }
    }
}

fn unreadable_hint(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "check its permissions".to_owned(),
        io::ErrorKind::NotADirectory => "a folder of its path is a file; move that away".to_owned(),
        _ => "check the path and the disk".to_owned(),
    }
}

fn unwritable_hint(folder: &Path, source: &io::Error) -> String {
    let folder = folder.display();
    match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("\"{folder}\" is on a read-only disk; edit the file it is generated from")
        }
        io::ErrorKind::PermissionDenied => {
            format!("make the folder \"{folder}\" writable for you; a new file is made in it first")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("make room on the disk of \"{folder}\"")
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            format!("\"{folder}\" must be a folder; move away what is there")
        }
        _ => format!("check the folder \"{folder}\""),
    }
}
