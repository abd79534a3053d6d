//! Why a change was not made. Several of the texts are part of the product.

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
    /// Wharf does not write such names.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The entry could not be used.
    #[error("Invalid server config: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// There is one already.
    #[error("Server \"{name}\" already exists in {}", .path.display())]
    AlreadyExists {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// There is none.
    #[error("Server \"{name}\" not found")]
    NotFound {
        /// The name.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// It is in the other one of Wharf's own files.
    #[error("Server \"{name}\" not found")]
    OtherScope {
        /// The name.
        name: String,
        /// Whose file it is in.
        scope: &'static str,
    },
    /// It belongs to another program.
    #[error("Server \"{name}\" is defined in {} ({provider})", .path.display())]
    OtherProgram {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The program.
        provider: &'static str,
    },
    /// A token can only be sent to an address.
    #[error("a token needs the address of a server")]
    TokenWithoutUrl,
    /// Its token cannot be noted in the file of another program.
    #[error("Server \"{name}\" is defined in {} ({provider}), which cannot refer to a stored token", .path.display())]
    OtherProgramToken {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The program.
        provider: &'static str,
        /// How the program is named in a command.
        provider_id: &'static str,
    },
    /// It came with a project, and nobody has agreed to it.
    #[error("Server \"{name}\" came with this project and is not trusted")]
    Untrusted {
        /// The name.
        name: String,
    },
    /// A program that a project defines gets no stored token.
    #[error("Server \"{name}\" is a program of a project, and such a program gets no stored token")]
    ProjectProgram {
        /// The name.
        name: String,
    },
    /// No program of that name can be copied from or to.
    #[error("unknown program \"{name}\"")]
    UnknownProgram {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// There is no such file to copy from.
    #[error("there is no file {}", .path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },
    /// The program keeps no such file.
    #[error("{program} has no {scope} file to write to")]
    NoSuchFile {
        /// The program.
        program: &'static str,
        /// Whose file.
        scope: &'static str,
    },
    /// A link of the project leads out of it.
    #[error("{} is a link that leads out of the project; it is not written to", .path.display())]
    OutsideProject {
        /// The link.
        path: PathBuf,
    },
    /// The home folder is never a project.
    #[error("the home folder is not a project")]
    NoProject,
    /// There is no home.
    #[error("there is no home folder for Wharf's files")]
    NoHome,
    /// A file is not what it should be.
    #[error("{}", with_location(.0))]
    Problem(Box<Problem>),
    /// Nothing could be found at all.
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
