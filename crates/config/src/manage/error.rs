//! The error of changes to config files. Several messages are fixed by the product specification.

use std::path::PathBuf;

use crate::catalog::DiscoveryError;
use crate::credentials::CredentialError;
use crate::edit::EditError;
use crate::problem::Problem;
use crate::server::NameError;
use crate::store::StoreError;

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManageError {
    /// The name is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The entry is not valid.
    #[error("Invalid server config: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The server exists already.
    #[error("Server \"{name}\" already exists in {}", .path.display())]
    AlreadyExists {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// The server does not exist.
    #[error("Server \"{name}\" not found")]
    NotFound {
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The server is in another scope of Wharf's own files.
    #[error("Server \"{name}\" not found")]
    OtherScope {
        /// The name.
        name: String,
        /// The scope that has it.
        scope: &'static str,
    },
    /// Another program's file defines the server.
    #[error("Server \"{name}\" is defined in {} ({provider})", .path.display())]
    OtherProgram {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The program.
        provider: &'static str,
    },
    /// A token needs a server with an address.
    #[error("a token can only be stored for a server with \"url\"")]
    TokenWithoutUrl,
    /// Another program's file defines the server, and cannot hold a reference to a token.
    #[error("Server \"{name}\" is defined in {} ({provider}), which cannot refer to a stored token", .path.display())]
    OtherProgramToken {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The program.
        provider: &'static str,
        /// The short name of the program.
        provider_id: &'static str,
    },
    /// It comes from a project, and the person has not accepted it.
    #[error("Server \"{name}\" came with this project and is not trusted")]
    Untrusted {
        /// The name.
        name: String,
    },
    /// A project defines a local program, which gets no stored token.
    #[error("Server \"{name}\" is a local program of a project, which cannot use stored tokens")]
    ProjectProgram {
        /// The name.
        name: String,
    },
    /// The program is unknown.
    #[error("unknown program \"{name}\"")]
    UnknownProgram {
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// The file to import does not exist.
    #[error("there is no file {}", .path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },
    /// The program has no file in this scope.
    #[error("{program} has no {scope} file to write to")]
    NoSuchFile {
        /// The program.
        program: &'static str,
        /// The scope.
        scope: &'static str,
    },
    /// A symbolic link in the project leads out of it.
    #[error("{} is a symbolic link to a file outside the project; not changed", .path.display())]
    OutsideProject {
        /// The link.
        path: PathBuf,
    },
    /// The home folder is never a project.
    #[error("the home folder is not a project")]
    NoProject,
    /// There is no home folder.
    #[error("{}", crate::env::NO_HOME)]
    NoHome,
    /// A file has an error.
    #[error("{}", with_location(.0))]
    Problem(Box<Problem>),
    /// No catalog could be made.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The credentials could not be used.
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    /// A file could not be edited.
    #[error("could not edit {}", .path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: EditError,
    },
}

fn with_location(problem: &Problem) -> String {
    let path = problem.path.as_deref().map(|path| format!("{}: ", path.display()));
    let line = problem.line.map(|line| format!("line {line}: "));
    format!("{}{}{}", path.unwrap_or_default(), line.unwrap_or_default(), problem.message)
}
