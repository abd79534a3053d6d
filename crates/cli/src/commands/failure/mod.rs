//! Why a verb did not do what was asked: the text of the error and the exit code.
//!
//! This folder is the only place of the command line that words errors. `advice` has the hints, and
//! `report` the form for programs that read `--json`. The libraries return typed reasons; whatever
//! names a verb or a flag is written here.

mod advice;
pub(crate) mod report;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use wharf::call::{CallError, Reason};
use wharf::{ApprovalsError, FailureKind};
use wharf_config::manage::ManageError;
use wharf_config::settings::SettingError;
use wharf_config::store::StoreError;
use wharf_config::trust::Trust;
use wharf_config::{Catalog, DiscoveryError, Server};

use crate::ui::phrase;

pub(crate) use advice::{credential_hint, next_step, pair_hint, skip_text, tip, use_cli_hint};

/// How a run ended, for the program that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Success = 0,
    /// The check said no, or there is no such name.
    Negative = 1,
    /// The command line was not understood.
    Usage = 2,
    /// A server could not be connected to.
    NotConnected = 3,
    /// A server wants to know who asks.
    SignIn = 4,
    /// It took too long.
    TimedOut = 5,
    /// Somebody has to agree first.
    Untrusted = 6,
    /// Somebody ended the run.
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a verb did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// There was nothing to look at.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// No file defines it.
    #[error("Server {} not found", phrase::quoted(.name))]
    NotFound { name: String, nearest: Option<String> },
    /// Nobody has agreed to it.
    #[error("Server {} {}", phrase::quoted(.name), .why.text())]
    Untrusted { name: String, why: UntrustedReason },
    /// It is switched off.
    #[error("Server {} is disabled. Run wharf enable {} first.", phrase::quoted(.name), phrase::word(.name))]
    Disabled { name: String },
    /// It is not used under this name.
    #[error("Server {} is not used: {why}", phrase::quoted(.name))]
    NotUsed { name: String, why: String, hint: String },
    /// Its definition does not say enough.
    #[error("Server {} cannot be used, its definition is invalid: {why}", phrase::quoted(.name))]
    Invalid { name: String, why: String, hint: String },
    /// It could not be connected to.
    #[error("Failed to connect to {}: {}", phrase::quoted(.name), .failure.message)]
    NotConnected { name: String, failure: Arc<wharf::ServerFailure> },
    /// No server has such a tool, resource or prompt.
    #[error("{what} {} not found", phrase::quoted(.name))]
    NotOffered { what: &'static str, name: String, hint: Option<String> },
    /// Several servers have it.
    #[error("{what} {} is offered by several servers: {servers}", phrase::quoted(.name))]
    Ambiguous { what: &'static str, name: String, servers: String, hint: String },
    /// A request to a server failed.
    #[error(transparent)]
    Request(#[from] Box<CallError>),
    /// It took longer than it was given.
    #[error("no answer within {limit:?}")]
    TimedOut { limit: Duration },
    /// Somebody ended the run.
    #[error("cancelled")]
    Cancelled,
    /// There is nothing to wait with.
    #[error("could not prepare to connect")]
    Prepare(#[source] io::Error),
    /// A file could not be read or written.
    #[error("could not {verb} {path}")]
    File { verb: &'static str, path: String, source: io::Error },
    /// The words were understood, but not what to do with them.
    #[error("{message}")]
    Usage { message: &'static str, hint: &'static str },
    /// What was typed for a tool does not make arguments.
    #[error("{message}")]
    BadArguments { message: String, hint: Option<String>, usage: Option<String> },
    /// There is nowhere to remember something.
    #[error("there is no home folder to remember this in")]
    NoHome,
    /// The working folder is not a project.
    #[error("this folder is not a project: servers of your own need no trust here")]
    NotAProject,
    /// The record of what is trusted cannot be read, so it must not be overwritten.
    #[error("the record of what you trust cannot be read: {path}")]
    MalformedTrustFile { path: String },
    /// A token was given for something that is not an address.
    #[error("--token requires --url (HTTP/SSE transport).")]
    TokenWithoutUrl,
    /// Another program defines the server, so Wharf does not remove it.
    #[error("Server \"{name}\" is defined in {} ({provider}); use wharf disable {}", .path.display(), phrase::word(.name))]
    DefinedElsewhere { name: String, path: PathBuf, provider: &'static str },
    /// A server could not be changed.
    #[error(transparent)]
    Manage(ManageError),
    /// A file of ours could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was answered for good could not be changed.
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
    /// A setting could not be read or changed.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The answer could not be written.
    #[error("could not write the answer")]
    Output(#[source] io::Error),
    /// A client could not be served any more.
    #[error("the connection to the client broke")]
    Serve(#[source] io::Error),
}

impl From<ManageError> for Failure {
    fn from(error: ManageError) -> Self {
        match error {
            ManageError::TokenWithoutUrl => Self::TokenWithoutUrl,
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
    /// Nobody has agreed to it.
    New,
    /// It is not what was agreed to any more.
    Changed,
    /// Somebody said no.
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
            Self::Refused => "is not trusted: you said no to it",
        }
    }
}

impl Failure {
    /// Says that a server is not trusted, and why.
    pub(crate) fn untrusted(server: &Server) -> Self {
        let name = server.definition.name.as_str().to_owned();
        Self::Untrusted { name, why: UntrustedReason::from(&server.trust) }
    }

    /// Says that a name is not there, and which one may have been meant.
    pub(crate) fn not_found(name: &str, catalog: &Catalog) -> Self {
        let nearest = catalog.nearest_name(name).map(str::to_owned);
        Self::NotFound { name: name.to_owned(), nearest }
    }

    /// Returns how the tool is called, if it was called wrongly.
    pub(crate) fn usage(&self) -> Option<&str> {
        match self {
            Self::BadArguments { usage, .. } => usage.as_deref(),
            _ => None,
        }
    }

    /// Returns the last of what a server wrote to its error output: foreign text.
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
            Self::Usage { .. } | Self::BadArguments { .. } | Self::Ambiguous { .. } => Exit::Usage,
            Self::Untrusted { .. } | Self::Manage(ManageError::Untrusted { .. }) => Exit::Untrusted,
            Self::NotConnected { failure, .. } => exit_of(failure.kind),
            Self::Invalid { .. } => Exit::NotConnected,
            Self::Request(error) => exit_of_call(error.reason),
            Self::TimedOut { .. } => Exit::TimedOut,
            Self::Cancelled => Exit::Cancelled,
            // Who stops reading has seen enough.
            _ if self.is_closed_output() => Exit::Success,
            _ => Exit::Negative,
        }
    }

    /// Tells whether there is nobody left to tell: the reader of the answer went away.
    pub(crate) fn is_closed_output(&self) -> bool {
        match self {
            Self::Output(error) | Self::Serve(error) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

/// Returns the exit code for a server that is not there.
pub(crate) fn exit_of(kind: FailureKind) -> Exit {
    match kind {
        FailureKind::NeedsAuth => Exit::SignIn,
        FailureKind::TimedOut => Exit::TimedOut,
        _ => Exit::NotConnected,
    }
}

/// Returns the exit code for a request that has no result.
pub(crate) fn exit_of_call(reason: Reason) -> Exit {
    match reason {
        Reason::BadArguments => Exit::Usage,
        Reason::Connect | Reason::Lost => Exit::NotConnected,
        Reason::NeedsAuth => Exit::SignIn,
        Reason::TimedOut => Exit::TimedOut,
        Reason::Untrusted => Exit::Untrusted,
        Reason::Cancelled => Exit::Cancelled,
        _ => Exit::Negative,
    }
}
