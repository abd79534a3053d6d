//! The failures of the verbs: error texts and exit codes.
//!
//! All error texts and hints of the command line are in this folder. `advice` has the hints,
//! `sign_in` the texts about sign-ins, and `report` the JSON form for `--json`. The libraries return typed reasons; only this folder names
//! verbs and flags.

mod advice;
pub(crate) mod report;
mod sign_in;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use wharf::auth::SignInError;
use wharf::call::{CallError, CallErrorReason};
use wharf::{ApprovalsError, CredentialStoreError, FailureKind};
use wharf_config::manage::ManageError;
use wharf_config::settings::SettingsFileError;
use wharf_config::store::StoreError;
use wharf_config::trust::Trust;
use wharf_config::{Catalog, DiscoveryError, Server};

use crate::ui::phrase;

pub(crate) use advice::{
    SET_HOME, credential_hint, next_step, pair_hint, skip_text, tip, use_cli_hint,
};

/// The exit code of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The verb succeeded.
    Success = 0,
    /// A tool or a check failed, or a name was not found.
    Negative = 1,
    /// The command line is invalid.
    Usage = 2,
    /// Could not connect to a server.
    NotConnected = 3,
    /// A server requires sign-in.
    SignIn = 4,
    /// A timeout.
    TimedOut = 5,
    /// A server is not trusted.
    Untrusted = 6,
    /// The run was interrupted.
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The catalog could not be loaded.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// No file defines the server.
    #[error("Server {} not found", phrase::quoted(.name))]
    NotFound { name: String, nearest: Option<String> },
    /// The server is not trusted.
    #[error("Server {} {}", phrase::quoted(.name), .why.text())]
    Untrusted { name: String, why: UntrustedReason },
    /// The server is disabled.
    #[error("Server {} is disabled. Run wharf enable {} first.", phrase::quoted(.name), phrase::word(.name))]
    Disabled { name: String },
    /// The server is not used under this name.
    #[error("Server {} is not used: {why}", phrase::quoted(.name))]
    NotUsed { name: String, why: String, hint: String },
    /// The definition is invalid.
    #[error("Server {} has an invalid definition: {why}", phrase::quoted(.name))]
    Invalid { name: String, why: String, hint: String },
    /// Connecting to the server failed.
    #[error("Failed to connect to {}: {}", phrase::quoted(.name), .failure.message)]
    NotConnected { name: String, failure: Arc<wharf::ServerFailure> },
    /// No server has this tool, resource or prompt.
    #[error("{what} {} not found", phrase::quoted(.name))]
    ItemNotFound { what: &'static str, name: String, hint: Option<String> },
    /// Several servers have it.
    #[error("{what} {} exists on several servers: {servers}", phrase::quoted(.name))]
    Ambiguous { what: &'static str, name: String, servers: String, hint: String },
    /// A request to a server failed.
    #[error(transparent)]
    Request(#[from] Box<CallError>),
    /// Signing in or out failed.
    #[error("{}", sign_in::text(.name, .error))]
    SignIn { name: String, error: Box<SignInError> },
    /// The stored credentials could not be read or changed.
    #[error("the credential store failed: {0}")]
    CredentialStore(CredentialStoreError),
    /// The timeout was exceeded.
    #[error("no answer within {limit:?}")]
    TimedOut { limit: Duration },
    /// The server was not connected before the timeout.
    #[error("Server {} was not connected within {limit:?}", phrase::quoted(.name))]
    NotConnectedInTime { name: String, limit: Duration },
    /// The run was interrupted.
    #[error("cancelled by a signal")]
    Cancelled,
    /// The async runtime could not be created.
    #[error("could not create the async runtime")]
    Prepare(#[source] io::Error),
    /// A file could not be read or written.
    #[error("could not {verb} {path}")]
    File { verb: &'static str, path: String, source: io::Error },
    /// The arguments are valid one by one, but not together.
    #[error("{message}")]
    Usage { message: &'static str, hint: &'static str },
    /// The arguments for a tool or prompt are invalid.
    #[error("{message}")]
    BadArguments { message: String, hint: Option<String>, usage: Option<String> },
    /// There is no home folder to store something in.
    #[error("{}", wharf_config::NO_HOME)]
    NoHome,
    /// The working folder is not a project.
    #[error("this folder is not a project: your own servers need no trust here")]
    NotAProject,
    /// A token was given alone, and no server has the name.
    #[error("Server {} not found; to add it, --token requires --url (HTTP/SSE transport).", phrase::quoted(.name))]
    NoServerForToken { name: String, nearest: Option<String> },
    /// Another program's file defines the server, so Wharf does not remove it.
    #[error("Server \"{name}\" is defined in {} ({provider}); use `wharf disable {}`", .path.display(), phrase::word(.name))]
    DefinedElsewhere { name: String, path: PathBuf, provider: &'static str },
    /// A server could not be added, changed or removed.
    #[error(transparent)]
    Manage(ManageError),
    /// One of Wharf's own files could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The permanent approvals could not be changed.
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
    /// A setting could not be read or changed.
    #[error(transparent)]
    Setting(#[from] SettingsFileError),
    /// Writing to stdout failed.
    #[error("could not write the output")]
    Output(#[source] io::Error),
    /// The connection to the client of a built-in server failed.
    #[error("could not read from or write to the MCP client on standard input and output")]
    Serve(#[source] io::Error),
}

impl From<ManageError> for Failure {
    fn from(error: ManageError) -> Self {
        match error {
            ManageError::OtherProgram { name, path, provider } => {
                Self::DefinedElsewhere { name, path, provider }
            }
            error => Self::Manage(error),
        }
    }
}

/// Why a server is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UntrustedReason {
    /// The person has not been asked about it.
    New,
    /// It has changed since it was trusted.
    Changed,
    /// The person refused it.
    Refused,
}

impl From<&Trust> for UntrustedReason {
    fn from(trust: &Trust) -> Self {
        match trust {
            Trust::Changed(_) => Self::Changed,
            Trust::Refused => Self::Refused,
            Trust::NotNeeded | Trust::Accepted | Trust::Unknown => Self::New,
        }
    }
}

impl UntrustedReason {
    fn text(self) -> &'static str {
        match self {
            Self::New => "came with this project and is not trusted",
            Self::Changed => "has changed since you trusted it",
            Self::Refused => "is not trusted: you refused it",
        }
    }
}

impl Failure {
    /// Creates the failure for an untrusted server.
    pub(crate) fn untrusted(server: &Server) -> Self {
        let name = server.definition.name.as_str().to_owned();
        Self::Untrusted { name, why: UntrustedReason::from(&server.trust) }
    }

    /// Creates the failure of a sign-in.
    pub(crate) fn sign_in(name: &str, error: SignInError) -> Self {
        Self::SignIn { name: name.to_owned(), error: Box::new(error) }
    }

    /// Creates the failure for an unknown name, with the nearest known name.
    pub(crate) fn not_found(name: &str, catalog: &Catalog) -> Self {
        let nearest = catalog.nearest_name(name).map(str::to_owned);
        Self::NotFound { name: name.to_owned(), nearest }
    }

    /// Returns the usage line of a tool that was called with invalid arguments.
    pub(crate) fn usage(&self) -> Option<&str> {
        match self {
            Self::BadArguments { usage, .. } => usage.as_deref(),
            _ => None,
        }
    }

    /// Returns the last lines of a server's stderr, which are untrusted text.
    pub(crate) fn stderr(&self) -> Option<&str> {
        let stderr = match self {
            Self::NotConnected { failure, .. } => failure.stderr.as_str(),
            Self::Request(error) => error.stderr.as_deref()?,
            _ => return None,
        };
        Some(stderr).filter(|text| !text.trim().is_empty())
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. }
            | Self::BadArguments { .. }
            | Self::Ambiguous { .. }
            | Self::NoServerForToken { .. } => Exit::Usage,
            Self::Untrusted { .. } | Self::Manage(ManageError::Untrusted { .. }) => Exit::Untrusted,
            Self::NotConnected { failure, .. } => exit_of(failure.kind),
            Self::Invalid { .. } => Exit::NotConnected,
            Self::SignIn { error, .. } => sign_in::exit(error),
            Self::Request(error) => exit_of_call(error.reason),
            Self::TimedOut { .. } | Self::NotConnectedInTime { .. } => Exit::TimedOut,
            Self::Cancelled => Exit::Cancelled,
            // A closed stdout is not an error.
            _ if self.is_closed_output() => Exit::Success,
            _ => Exit::Negative,
        }
    }

    /// Tells whether the failure is a closed stdout, which is not reported.
    pub(crate) fn is_closed_output(&self) -> bool {
        match self {
            Self::Output(error) | Self::Serve(error) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

/// Returns the exit code for a server that is not connected.
pub(crate) fn exit_of(kind: FailureKind) -> Exit {
    match kind {
        FailureKind::NeedsAuth => Exit::SignIn,
        FailureKind::TimedOut => Exit::TimedOut,
        _ => Exit::NotConnected,
    }
}

/// Returns the exit code for a request that failed.
pub(crate) fn exit_of_call(reason: CallErrorReason) -> Exit {
    match reason {
        CallErrorReason::BadArguments => Exit::Usage,
        CallErrorReason::Connect | CallErrorReason::Lost => Exit::NotConnected,
        CallErrorReason::NeedsAuth => Exit::SignIn,
        CallErrorReason::TimedOut => Exit::TimedOut,
        CallErrorReason::Untrusted => Exit::Untrusted,
        CallErrorReason::Cancelled => Exit::Cancelled,
        _ => Exit::Negative,
    }
}
