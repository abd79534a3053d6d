//! A failure as a JSON document: with `--json`, every verb that fails prints one.

use std::error::Error;
use std::path::Path;

use serde::Serialize;
use wharf_config::manage::ManageError;

use super::{Exit, Failure};

/// The fields `ok` and `error` of a verb that failed.
#[derive(Debug, Serialize)]
pub(crate) struct FailureDocument {
    ok: bool,
    error: ErrorReport,
}

/// Why a verb failed.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorReport {
    /// A stable code; the message may change, the code does not.
    pub(crate) code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

/// The answer of a verb, with the failure if it failed nevertheless.
#[derive(Debug, Serialize)]
pub(crate) struct AnswerDocument<'a, T> {
    #[serde(flatten)]
    answer: &'a T,
    #[serde(flatten)]
    failure: Option<FailureDocument>,
}

/// Combines the answer of a verb with its failure.
pub(crate) fn with_failure<'a, T: Serialize>(
    answer: &'a T,
    outcome: &Result<Exit, Failure>,
) -> AnswerDocument<'a, T> {
    AnswerDocument { answer, failure: outcome.as_ref().err().map(FailureDocument::of) }
}

impl FailureDocument {
    /// Describes a failure.
    pub(crate) fn of(failure: &Failure) -> Self {
        Self { ok: false, error: ErrorReport::of(failure) }
    }

    /// Describes an invalid command line.
    pub(crate) fn of_usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let mut parts = text.split("\n\n").map(str::trim);
        let message = parts.next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message).to_owned();
        let tip = parts.find_map(|part| part.strip_prefix("tip: "));
        let hint = tip.map_or_else(|| "see --help".to_owned(), str::to_owned);
        let error =
            ErrorReport { code: "usage", message, hint: Some(hint), server: None, path: None };
        Self { ok: false, error }
    }
}

impl ErrorReport {
    /// Describes a negative result that is not a failure of the verb.
    pub(crate) fn new(code: &'static str, message: String) -> Self {
        Self { code, message, hint: None, server: None, path: None }
    }

    /// Describes a failure.
    pub(crate) fn of(failure: &Failure) -> Self {
        Self {
            code: code(failure),
            message: message(failure),
            hint: failure.hint(),
            server: server(failure).map(str::to_owned),
            path: path(failure),
        }
    }
}

/// Returns what failed and why, on one line.
fn message(failure: &Failure) -> String {
    let mut message = failure.to_string();
    let mut source = failure.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        // The text of some errors already ends with the text of their cause.
        if !message.ends_with(&words) {
            message = format!("{message}: {words}");
        }
        source = cause.source();
    }
    message
}

fn code(failure: &Failure) -> &'static str {
    match failure {
        Failure::Discovery(_) => "discovery-failed",
        Failure::NotFound { .. } | Failure::ItemNotFound { .. } => "not-found",
        Failure::Disabled { .. } => "disabled",
        Failure::NotUsed { .. } | Failure::Invalid { .. } => "not-used",
        Failure::Ambiguous { .. } => "ambiguous",
        Failure::NoHome => "no-home",
        Failure::NotAProject => "not-a-project",
        Failure::File { .. } | Failure::Store(_) | Failure::Approvals(_) => "file",
        Failure::DefinedElsewhere { .. } => "not-ours",
        Failure::Manage(error) => code_of_change(error),
        Failure::Setting(_) => "setting",
        Failure::CredentialStore(_) => "credential-store",
        _ => match failure.exit() {
            Exit::Usage => "usage",
            Exit::NotConnected => "not-connected",
            Exit::SignIn => "needs-auth",
            Exit::TimedOut => "timeout",
            Exit::Untrusted => "untrusted",
            Exit::Cancelled => "cancelled",
            Exit::Success | Exit::Negative => "failed",
        },
    }
}

fn code_of_change(error: &ManageError) -> &'static str {
    match error {
        ManageError::Name(_) | ManageError::Invalid { .. } | ManageError::TokenWithoutUrl => {
            "invalid"
        }
        ManageError::AlreadyExists { .. } => "already-exists",
        ManageError::NotFound { .. } | ManageError::OtherScope { .. } => "not-found",
        ManageError::UnknownProgram { .. } => "unknown-program",
        ManageError::NoProject => "not-a-project",
        ManageError::NoHome => "no-home",
        ManageError::Discovery(_) => "discovery-failed",
        _ => "file",
    }
}

fn server(failure: &Failure) -> Option<&str> {
    match failure {
        Failure::NotFound { name, .. }
        | Failure::NoServerForToken { name, .. }
        | Failure::NotConnectedInTime { name, .. }
        | Failure::Untrusted { name, .. }
        | Failure::Disabled { name }
        | Failure::SignIn { name, .. }
        | Failure::NotUsed { name, .. }
        | Failure::Invalid { name, .. }
        | Failure::NotConnected { name, .. }
        | Failure::DefinedElsewhere { name, .. }
        | Failure::Manage(
            ManageError::AlreadyExists { name, .. }
            | ManageError::NotFound { name, .. }
            | ManageError::OtherScope { name, .. },
        ) => Some(name),
        _ => None,
    }
}

fn path(failure: &Failure) -> Option<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    match failure {
        Failure::File { path, .. } => Some(path.clone()),
        Failure::DefinedElsewhere { path, .. }
        | Failure::Manage(
            ManageError::AlreadyExists { path, .. }
            | ManageError::MissingFile { path }
            | ManageError::OutsideProject { path }
            | ManageError::Edit { path, .. },
        ) => Some(text(path)),
        Failure::Manage(ManageError::Problem(problem)) => problem.path.as_deref().map(text),
        _ => None,
    }
}
