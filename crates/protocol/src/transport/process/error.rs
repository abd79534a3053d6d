//! Why a program could not be started, with a hint how to fix it.
//!
//! Messages name only the program and the folder: arguments and environment may contain secrets.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::launch::ProcessLaunch;

/// A program could not be started; no process of it is running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The program is neither an existing file nor in the `PATH` of its environment.
    #[error("program `{program}` was not found")]
    NotFound {
        /// The program as configured.
        program: String,
    },
    /// The program is a script whose first line names an interpreter that does not exist.
    #[error("program `{program}` was found, but not the interpreter that it names")]
    NoInterpreter {
        /// The program as configured.
        program: String,
    },
    /// The program may not be executed.
    #[error("program `{program}` may not be executed")]
    PermissionDenied {
        /// The program as configured.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The folder to run in does not exist, or is not a folder.
    #[error("program `{program}` cannot run in {}, which is not a folder", folder.display())]
    FolderMissing {
        /// The program as configured.
        program: String,
        /// The folder that is missing.
        folder: PathBuf,
    },
    /// The program is a batch file, and its interpreter could take an argument for a command.
    #[error("an argument cannot be passed safely to the batch file `{program}`")]
    UnsafeArgument {
        /// The program as configured.
        program: String,
    },
    /// The operating system refused for another reason.
    #[error("could not start program `{program}`")]
    Failed {
        /// The program as configured.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl StartError {
    /// Returns what a person can do to fix it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { program } if program.is_empty() => Some("name a program".into()),
            Self::NotFound { program } if Path::new(program).components().count() > 1 => {
                Some(format!("check the path `{program}`"))
            }
            Self::NotFound { program } => {
                Some(format!("install `{program}`, or give its full path"))
            }
            Self::NoInterpreter { program } => {
                Some(format!("install what the first line of `{program}` names"))
            }
            Self::PermissionDenied { program, .. } => {
                Some(format!("check that `{program}` is a file you may execute"))
            }
            Self::FolderMissing { folder, .. } => {
                Some(format!("create {}, or name another folder", folder.display()))
            }
            Self::UnsafeArgument { .. } => {
                Some("remove line breaks from its arguments, or name the program that the batch file starts".into())
            }
            Self::Failed { .. } => None,
        }
    }

    /// Finds the cause of an error of the operating system.
    pub(super) fn new(launch: &ProcessLaunch, source: io::Error) -> Self {
        let program = launch.program.to_string_lossy().into_owned();
        // Entering the folder and finding the program fail with the same code.
        let is_ambiguous = matches!(
            source.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::PermissionDenied
        );
        if let Some(folder) =
            launch.folder.as_ref().filter(|folder| is_ambiguous && !folder.is_dir())
        {
            return Self::FolderMissing { program, folder: folder.clone() };
        }
        match source.kind() {
            io::ErrorKind::NotFound if program_exists(launch) => Self::NoInterpreter { program },
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound { program },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { program, source },
            io::ErrorKind::InvalidInput if is_batch_file(&launch.program) => {
                Self::UnsafeArgument { program }
            }
            _ => Self::Failed { program, source },
        }
    }
}

/// Tells whether a program is run by the shell of Windows. The standard library quotes the arguments
/// for it, or refuses them.
fn is_batch_file(program: &OsStr) -> bool {
    let extension = Path::new(program).extension().unwrap_or_default();
    cfg!(windows) && ["bat", "cmd"].iter().any(|it| extension.eq_ignore_ascii_case(it))
}

/// Tells whether the program's file exists although the system did not find it.
fn program_exists(launch: &ProcessLaunch) -> bool {
    let program = Path::new(&launch.program);
    let folder = launch.folder.as_deref().unwrap_or(Path::new(""));
    if program.components().count() > 1 {
        return folder.join(program).is_file();
    }
    let path = launch.variable("PATH").unwrap_or(OsStr::new(""));
    !launch.program.is_empty()
        && std::env::split_paths(path).any(|place| folder.join(place).join(program).is_file())
}
