//! Why a verb did not do what was asked, with what to do about it and the exit code.

use std::io;
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

use super::connect::one_off;
use crate::ui::phrase;

/// How a run ended, for the program that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// The check said no, or there is no such name.
    No = 1,
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
    #[error("Server {} {}", phrase::quoted(.name), .why.words())]
    Untrusted { name: String, why: Distrust },
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
    NotConnected { name: String, failure: Arc<wharf::Failure> },
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
    DamagedTrust { path: String },
    /// A server could not be changed.
    #[error(transparent)]
    Manage(#[from] ManageError),
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

/// Why a server is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distrust {
    /// Nobody has agreed to it.
    New,
    /// It is not what was agreed to any more.
    Changed,
    /// Somebody said no.
    Refused,
}

impl From<&Trust> for Distrust {
    fn from(trust: &Trust) -> Self {
        match trust {
            Trust::Changed(_) => Self::Changed,
            Trust::Refused => Self::Refused,
            Trust::NotNeeded | Trust::Given | Trust::Unknown => Self::New,
        }
    }
}

impl Distrust {
    fn words(self) -> &'static str {
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
        Self::Untrusted { name, why: Distrust::from(&server.trust) }
    }

    /// Says that a name is not there, and which one may have been meant.
    pub(crate) fn not_found(name: &str, catalog: &Catalog) -> Self {
        let nearest = catalog.nearest_name(name).map(str::to_owned);
        Self::NotFound { name: name.to_owned(), nearest }
    }

    /// Says what to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Discovery(error) => Some(error.hint().to_owned()),
            Self::NotFound { nearest, .. } => {
                let nearest = nearest.as_deref()?;
                Some(format!("did you mean {}?", phrase::quoted(nearest)))
            }
            Self::Untrusted { name, why: Distrust::Changed } => {
                let word = phrase::word(name);
                Some(format!("wharf explain {word} shows what changed; wharf trust {word}"))
            }
            Self::Untrusted { name, .. } => Some(format!("wharf trust {}", phrase::word(name))),
            Self::Usage { hint, .. } => Some((*hint).to_owned()),
            Self::NoHome => Some("set HOME, or WHARF_HOME to a folder of yours".to_owned()),
            Self::NotAProject => Some("go to a project, or name one with --project".to_owned()),
            Self::DamagedTrust { .. } => {
                Some("correct the file, or delete it and trust again".to_owned())
            }
            Self::NotUsed { hint, .. }
            | Self::Invalid { hint, .. }
            | Self::Ambiguous { hint, .. } => Some(hint.clone()),
            Self::NotConnected { name, failure } => tip(name, failure),
            Self::NotOffered { hint, .. } | Self::BadArguments { hint, .. } => hint.clone(),
            Self::Request(error) => error.hint.clone(),
            Self::TimedOut { .. } => Some("allow more with --timeout".to_owned()),
            Self::Manage(error) => error.hint(),
            Self::Store(error) => Some(error.hint()),
            Self::Approvals(error) => Some(error.hint()),
            Self::Setting(error) => setting_hint(error),
            Self::Disabled { .. }
            | Self::Cancelled
            | Self::Prepare(_)
            | Self::File { .. }
            | Self::Output(_)
            | Self::Serve(_) => None,
        }
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
            _ if self.is_quiet() => Exit::Fine,
            _ => Exit::No,
        }
    }

    /// Tells whether there is nobody left to tell: the reader of the answer went away.
    pub(crate) fn is_quiet(&self) -> bool {
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
        _ => Exit::No,
    }
}

/// Says what can be done about a server that is not there, and what to type next.
pub(crate) fn tip(name: &str, failure: &wharf::Failure) -> Option<String> {
    if name == one_off::NAME {
        return given_tip(failure);
    }
    let word = phrase::word(name);
    let otherwise = match failure.kind {
        FailureKind::Start => Some("check \"command\" in its entry"),
        FailureKind::TimedOut => Some("raise `timeout` in its entry if it needs longer"),
        _ => None,
    };
    // Its error output is shown with the failure.
    let own = failure.hint.as_deref().filter(|_| !failure.points_to_stderr());
    let advice = own.or(otherwise);
    let has_written = !failure.stderr.trim().is_empty();
    let next = match (failure.kind, failure.http_status) {
        (FailureKind::Config | FailureKind::Start, _) => return advice.map(str::to_owned),
        (FailureKind::NeedsAuth, Some(403)) => format!("wharf get {word}"),
        (FailureKind::NeedsAuth, _) => return Some(token_tip(name)),
        (FailureKind::Stopped, _) => {
            return Some(format!("see why with `wharf logs {word}`, then: wharf reconnect {word}"));
        }
        _ if has_written && advice.is_none() => {
            return Some(format!("wharf logs {word} shows all of its output"));
        }
        _ if has_written => format!("wharf logs {word}"),
        (_, Some(408 | 429 | 500..)) => format!("wharf test {word}"),
        _ => format!("wharf get {word}"),
    };
    Some(advice.map_or_else(|| next.clone(), |advice| format!("{advice} ({next})")))
}

/// Says what can be done about a server that was given on the command line: it has no entry.
fn given_tip(failure: &wharf::Failure) -> Option<String> {
    match failure.kind {
        FailureKind::NeedsAuth => Some(GIVE_A_TOKEN.to_owned()),
        FailureKind::TimedOut => None,
        _ if failure.points_to_stderr() => None,
        _ => failure.hint.clone(),
    }
}

const GIVE_A_TOKEN: &str = "give a token with --token -, or check --header";

/// Says how a server gets a token.
fn token_tip(name: &str) -> String {
    let word = phrase::word(name);
    format!(
        "store a token with `wharf add {word} --token -`, or check its headers (wharf get {word})"
    )
}

/// Says what to type next about a call that has no result; its own hint is told beside it.
pub(crate) fn next_step(server: &str, error: &CallError) -> Option<String> {
    let word = phrase::word(server);
    match error.reason {
        _ if server.is_empty() => None,
        Reason::NeedsAuth if server == one_off::NAME => Some(GIVE_A_TOKEN.to_owned()),
        _ if server == one_off::NAME => None,
        Reason::NeedsAuth => Some(token_tip(server)),
        Reason::Untrusted => Some(format!("wharf trust {word}")),
        Reason::Disabled => Some(format!("wharf enable {word}")),
        Reason::Connect | Reason::Lost | Reason::TimedOut if error.stderr.is_some() => {
            Some(format!("all that it wrote: wharf logs {word}"))
        }
        Reason::Connect | Reason::Lost => Some(format!("wharf test {word}")),
        _ => None,
    }
}

fn setting_hint(error: &SettingError) -> Option<String> {
    match error {
        SettingError::Unknown { nearest: Some(nearest), .. } => {
            Some(format!("did you mean \"{nearest}\"?"))
        }
        SettingError::Unknown { nearest: None, .. } => {
            Some("`wharf config get` lists all settings".to_owned())
        }
        SettingError::Later { wanted, .. } => Some(format!("use {wanted}")),
        SettingError::NoHome => Some("set HOME, or WHARF_HOME to a folder of yours".to_owned()),
        SettingError::Store(error) => Some(error.hint()),
        _ => None,
    }
}
