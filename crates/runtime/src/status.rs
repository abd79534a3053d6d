//! The status of a server, and the failure if it is not connected.
//!
//! Code decides by the [`FailureKind`], for example whether a sign-in would help, never by the text
//! of a message.

use std::error::Error;
use std::fmt;

use serde::{Serialize, Serializer};
use wharf_config::text::clip;
use wharf_protocol::ConnectError;
use wharf_protocol::peer::{EndReason, RequestError, SessionEnd};
use wharf_protocol::transport::process::StartError;

use crate::advice::{self, ConnectHint};
use crate::resolve::{ResolveError, Secrets};
use crate::stderr::last_meaningful_line;
use crate::trust_gate::WrittenDefinition;

/// The maximum length of a reason; it may be untrusted text.
const MAX_REASON: usize = 2_000;

/// How many omitted values a failure names.
const MAX_OMISSIONS: usize = 3;

/// The status of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Ready for calls.
    Connected,
    /// Connecting for the first time, or on request.
    Connecting,
    /// Not connected: lazy, or closed.
    Disconnected,
    /// The connection was lost and is being restored.
    Reconnecting,
    /// It requires authorization.
    NeedsAuth,
    /// It came with a project and is not trusted.
    Untrusted,
    /// It is disabled.
    Disabled,
    /// Connecting failed.
    Failed,
}

impl Status {
    /// Returns the word for machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Connecting => "connecting",
            Self::Disconnected => "disconnected",
            Self::Reconnecting => "reconnecting",
            Self::NeedsAuth => "needs_auth",
            Self::Untrusted => "untrusted",
            Self::Disabled => "disabled",
            Self::Failed => "failed",
        }
    }

    /// Tells whether the status will change without a request.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Connecting | Self::Reconnecting)
    }
}

/// Serializes as [`Status::word`].
impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// Its definition is invalid, or a value that a strict entry needs is missing.
    Config,
    /// Its program could not be started.
    Start,
    /// It did not answer, or not with valid messages.
    Connect,
    /// It took too long.
    TimedOut,
    /// It requires authorization.
    NeedsAuth,
    /// It was connected, and the connection was lost.
    Lost,
    /// It was started too often; it is started again only on request.
    Stopped,
}

/// Why a server is not connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerFailure {
    /// The kind.
    pub kind: FailureKind,
    /// The reason; parts of it may be untrusted text of the server.
    pub message: String,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The HTTP status of the answer, if that is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The stderr output of the server since the attempt began: untrusted text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    #[serde(skip)]
    points_to_stderr: bool,
}

/// Shows the reason.
impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ServerFailure {}

impl ServerFailure {
    /// Makes a failure without a hint, an HTTP status and stderr output.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            hint: None,
            http_status: None,
            stderr: String::new(),
            points_to_stderr: false,
        }
    }

    /// Returns the reason and the last meaningful line of stderr, on one line.
    pub fn in_one_line(&self) -> String {
        one_line(&self.message, Some(&self.stderr))
    }

    /// Tells whether the hint only points to stderr; not needed where stderr is shown.
    pub fn points_to_stderr(&self) -> bool {
        self.points_to_stderr
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), points_to_stderr: false, ..self }
    }

    fn with_connect_hint(self, hint: Option<&ConnectHint>, secrets: &Secrets) -> Self {
        Self {
            hint: hint.map(|hint| secrets.redact(hint.text())),
            points_to_stderr: hint == Some(&ConnectHint::ReadStderr),
            ..self
        }
    }

    /// Puts values that were omitted before connecting first: they may be the reason.
    pub(crate) fn with_omissions(self, omissions: &[String]) -> Self {
        if omissions.is_empty() {
            return self;
        }
        let omitted: Vec<&str> = omissions.iter().take(MAX_OMISSIONS).map(String::as_str).collect();
        let more = match omissions.len().saturating_sub(MAX_OMISSIONS) {
            0 => String::new(),
            more => format!("; {more} more left out"),
        };
        Self { message: format!("{}{more}; {}", omitted.join("; "), self.message), ..self }
    }

    /// Makes the failure of a server that could not be resolved.
    pub(crate) fn from_resolve_error(error: &ResolveError) -> Self {
        let kind =
            if error.is_missing_program() { FailureKind::Start } else { FailureKind::Config };
        Self::new(kind, error_with_causes(error, &Secrets::default())).hint(error.hint())
    }

    /// Makes the failure of a server that could not be connected; redacts `secrets` in it.
    pub(crate) fn from_connect_error(
        error: &ConnectError,
        written: &WrittenDefinition,
        secrets: &Secrets,
    ) -> Self {
        if let ConnectError::Start(error) = error {
            return Self::from_start_error(error, written);
        }
        let kind = match error {
            ConnectError::TimedOut { .. } => FailureKind::TimedOut,
            _ if error.needs_auth() => FailureKind::NeedsAuth,
            _ => FailureKind::Connect,
        };
        let hint = match error {
            ConnectError::TimedOut { .. } => {
                Some(ConnectHint::Text(advice::RAISE_TIMEOUT.to_owned()))
            }
            _ => error.request().and_then(|request| advice::on_connecting(request, error.stderr())),
        };
        let failure = Self {
            http_status: error.request().and_then(http_status),
            stderr: error.stderr().to_owned(),
            ..Self::new(kind, error_with_causes(error, secrets))
        };
        failure.with_connect_hint(hint.as_ref(), secrets)
    }

    /// Adds a hint about a pinned protocol revision, if that may be the reason.
    pub(crate) fn with_pinned_version_hint(self, version: Option<&str>) -> Self {
        match version {
            Some(version) if self.kind == FailureKind::Connect && self.hint.is_none() => {
                let hint = format!(
                    "its entry pins `protocolVersion` to {version}; without that, another \
                     revision is tried"
                );
                self.hint(hint)
            }
            _ => self,
        }
    }

    /// Makes the failure of a program that did not start. Names the command as written, because the
    /// expanded command may be secret.
    fn from_start_error(error: &StartError, written: &WrittenDefinition) -> Self {
        let (command, folder) = (&written.command, &written.folder);
        let (message, hint) = match error {
            StartError::NotFound { .. } => (
                format!("{command} not found"),
                format!("install {command}, or give its full path in \"command\""),
            ),
            StartError::NoInterpreter { .. } => (
                format!("{command} was found, but not the interpreter that it names"),
                format!("install what the first line of {command} names"),
            ),
            StartError::PermissionDenied { .. } => (
                format!("{command} may not be executed"),
                format!("check that {command} is a program you may execute"),
            ),
            StartError::FolderMissing { .. } => (
                format!("no such folder: {folder}"),
                "create the folder, or correct \"cwd\"".to_owned(),
            ),
            _ => {
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                (
                    format!("could not start {command}: {cause}"),
                    "check the system's limits".to_owned(),
                )
            }
        };
        Self::new(FailureKind::Start, message).hint(hint)
    }

    /// Makes the failure of a connected server that no longer answers.
    pub(crate) fn from_request_error(
        error: &RequestError,
        stderr: String,
        secrets: &Secrets,
    ) -> Self {
        let kind = match error {
            RequestError::Unauthorized { .. } => FailureKind::NeedsAuth,
            RequestError::TimedOut { .. } => FailureKind::TimedOut,
            _ => FailureKind::Lost,
        };
        let hint = advice::on_connecting(error, &stderr);
        let message = error_with_causes(error, secrets);
        let failure = Self { http_status: http_status(error), stderr, ..Self::new(kind, message) };
        failure.with_connect_hint(hint.as_ref(), secrets)
    }

    /// Makes the failure of a server that did not list its tools.
    pub(crate) fn from_list_error(error: &RequestError, stderr: String, secrets: &Secrets) -> Self {
        let failure = Self::from_request_error(error, stderr, secrets);
        let message = format!("could not list its tools: {}", failure.message);
        match failure.kind {
            FailureKind::TimedOut => Self { message, ..failure }.hint(advice::RAISE_TIMEOUT),
            FailureKind::Lost => Self { message, kind: FailureKind::Connect, ..failure },
            _ => Self { message, ..failure },
        }
    }

    /// Makes the failure of a lost session.
    pub(crate) fn from_session_end(ended: &SessionEnd, secrets: &Secrets) -> Self {
        let failure = Self::new(FailureKind::Lost, error_with_causes(&ended.reason, secrets));
        let failure = Self { stderr: ended.stderr.clone(), ..failure };
        match &ended.reason {
            EndReason::NotMcp => failure.hint(advice::START_AN_MCP_SERVER),
            _ => failure,
        }
    }
}

/// Returns the HTTP status that a request was refused with.
fn http_status(error: &RequestError) -> Option<u16> {
    match error.innermost() {
        RequestError::Status { status, .. }
        | RequestError::Unauthorized { status, .. }
        | RequestError::NotRenewed { status, .. } => Some(status.as_u16()),
        _ => None,
    }
}

/// Puts a reason and the last meaningful line of stderr on one line.
pub(crate) fn one_line(message: &str, stderr: Option<&str>) -> String {
    match stderr.and_then(last_meaningful_line) {
        // Some reasons quote the line already.
        Some(line) if !message.contains(&line) => format!("{message}; stderr: {line}"),
        _ => message.to_owned(),
    }
}

/// Renders an error and its causes in one line, each level once, redacted. The text is cut after it
/// is redacted: a part of a secret would not be found.
pub(crate) fn error_with_causes(error: &dyn Error, secrets: &Secrets) -> String {
    let mut message = clip(&secrets.redact(&error.to_string()), MAX_REASON);
    let mut source = error.source();
    while let Some(cause) = source {
        let text = clip(&secrets.redact(&cause.to_string()), MAX_REASON);
        if !message.contains(&text) && message.len() < MAX_REASON {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    message
}
