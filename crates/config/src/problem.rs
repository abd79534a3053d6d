//! Problems: errors and warnings about config files, with file, line, message and hint.
//!
//! Reading does not fail as a whole: every stage returns values and problems. A problem never
//! quotes a value from a file, because the value may be a secret. Names of fields and servers may
//! be quoted.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// The longest message or hint; only absurdly long names reach it.
const MAX_CHARS: usize = 500;

/// One error or warning, and how to correct it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Whether something is not used (error) or is used with a remark (warning).
    pub severity: Severity,
    /// A short identifier for programs; the message may change, the code does not.
    pub code: &'static str,
    /// The server it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The field of that server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "serialize_path")]
    pub path: Option<PathBuf>,
    /// The line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something cannot be used.
    Error,
    /// Everything is used, but perhaps not as its author intended.
    Warning,
}

impl Problem {
    /// Makes an error.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, &message.into())
    }

    /// Makes a warning.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, &message.into())
    }

    /// Messages contain names from files, so they are escaped and cut here.
    fn new(severity: Severity, code: &'static str, message: &str) -> Self {
        let message = crate::text::clip(message, MAX_CHARS);
        Self {
            severity,
            code,
            message,
            server: None,
            field: None,
            path: None,
            line: None,
            hint: None,
        }
    }

    /// Tells whether every verb must report it: effects of a project's settings, and ignored
    /// variables. Both change the result of a verb without a visible reason.
    pub fn concerns_every_verb(&self) -> bool {
        [crate::settings::BY_PROJECT, crate::discover::RELATIVE_FOLDER].contains(&self.code)
    }

    /// Sets the file; an empty path, that of a server from code, is none.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned()).filter(|path| !path.as_os_str().is_empty());
        self
    }

    /// Sets the line; 0, that of a server from code, is none.
    #[must_use]
    pub fn on_line(mut self, line: u32) -> Self {
        self.line = Some(line).filter(|line| *line > 0);
        self
    }

    /// Sets the server.
    #[must_use]
    pub fn of_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Sets the field.
    #[must_use]
    pub fn of_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(crate::text::clip(&hint.into(), MAX_CHARS));
        self
    }

    /// Tells whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[expect(clippy::ref_option, reason = "serde passes the field as it is")]
fn serialize_path<S: serde::Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_str(&path.to_string_lossy()),
        None => serializer.serialize_none(),
    }
}

/// The message and the hint of a problem.
pub(crate) struct ProblemText {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl<H: Into<String>> From<(String, H)> for ProblemText {
    fn from((message, hint): (String, H)) -> Self {
        Self { message, hint: hint.into() }
    }
}
