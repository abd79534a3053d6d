//! Why a server cannot be started or reached as its entry says. No text here holds a secret: what
//! an entry says is named as written and masked, or not at all.

use wharf_protocol::transport::HttpTargetError;

/// What keeps a server from being tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ResolveError {
    /// The program is not in the PATH, or not where its path says.
    #[error("{command} not found")]
    NotFound {
        /// The command as written.
        command: String,
    },
    /// The program's file is there, but may not be executed.
    #[error("{command} may not be executed")]
    NotExecutable {
        /// The command as written.
        command: String,
    },
    /// The folder to run in does not exist.
    #[error("no such folder: {folder}")]
    NoFolder {
        /// The folder as written.
        folder: String,
    },
    /// A value could not be had, and the entry is strict.
    #[error("{what} cannot be resolved: {why}")]
    Strict {
        /// What it is, such as `header "Authorization"`.
        what: String,
        /// The field, such as `headers.Authorization`.
        field: String,
        /// Why it could not be had.
        why: String,
    },
    /// The address has a placeholder without a value.
    #[error("\"url\" has a placeholder that is not set: {url}")]
    IncompleteUrl {
        /// The address as far as it is known.
        url: String,
    },
    /// The address is none.
    #[error("\"url\" cannot be used")]
    BadUrl(#[source] HttpTargetError),
}

impl ResolveError {
    /// Tells whether there is no program to start, rather than something wrong with the entry.
    pub(crate) fn is_missing_program(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::NotExecutable { .. })
    }

    /// Says what to do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotFound { command } if command.contains(['/', '\\']) => {
                format!("check the path {command} in \"command\"")
            }
            Self::NotFound { command } => {
                format!("install {command}, or give its full path in \"command\"")
            }
            Self::NotExecutable { command } => {
                format!("check that {command} is a program you may execute")
            }
            Self::NoFolder { .. } => "create the folder, or correct \"cwd\"".to_owned(),
            Self::Strict { field, .. } => {
                format!("correct \"{field}\", or remove \"strict\" to go on without it")
            }
            Self::IncompleteUrl { .. } => "set the variable that \"url\" names".to_owned(),
            Self::BadUrl(_) => {
                "write the whole address, such as https://example.com/mcp".to_owned()
            }
        }
    }
}
