//! Errors of resolving a server. No message contains a secret: values of the entry are shown as
//! written and redacted, or not at all.

#[cfg(feature = "http")]
use wharf_protocol::transport::HttpTargetError;

/// Why a server could not be resolved.
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
    /// A value could not be resolved, and the entry is strict.
    #[error("{what} cannot be resolved: {why}")]
    Strict {
        /// The value, such as `header "Authorization"`.
        what: String,
        /// The field, such as `headers.Authorization`.
        field: String,
        /// Why it could not be resolved.
        why: String,
    },
    /// The address has a placeholder without a value.
    #[cfg(feature = "http")]
    #[error("a placeholder in \"url\" has no value: {url}")]
    IncompleteUrl {
        /// The address with its placeholder.
        url: String,
    },
    /// The server is reached over HTTP, which this build cannot.
    #[cfg(not(feature = "http"))]
    #[error("it is reached over HTTP, and this program was built without the feature `http`")]
    NoHttp,
    /// The address is not valid.
    #[cfg(feature = "http")]
    #[error("\"url\" cannot be used")]
    BadUrl(#[source] HttpTargetError),
    /// The handle of the program's own transport is of a type that the runtime does not know.
    #[error("the transport of the program (\"{word}\") is of an unknown type")]
    UnknownTransport {
        /// The word of the transport.
        word: &'static str,
    },
}

impl ResolveError {
    /// Tells whether the program is missing, rather than the entry being wrong.
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
            #[cfg(feature = "http")]
            Self::IncompleteUrl { .. } => "set the variable that \"url\" names".to_owned(),
            Self::UnknownTransport { .. } => {
                "make the transport with the functions of this library".to_owned()
            }
            #[cfg(not(feature = "http"))]
            Self::NoHttp => "use a build with that feature, or disable the server".to_owned(),
            #[cfg(feature = "http")]
            Self::BadUrl(_) => {
                "write the whole address, such as https://example.com/mcp".to_owned()
            }
        }
    }
}
