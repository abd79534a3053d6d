//! What is wrong with somebody's file, in words that help: where, what, and what to do.
//!
//! Reading never fails as a whole. Every stage yields values and problems, and a problem never
//! contains a value from the file: a value may be a secret. Names of fields and servers are fine.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// How many characters a message or hint may have; only a name that is no name makes it longer.
const MAX_CHARS: usize = 500;

/// One thing that is wrong, and how to put it right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Whether something is lost (error) or only worth knowing (warning).
    pub severity: Severity,
    /// A short word for programs; the message may change, the code does not.
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
    /// The line in the file, counted from 1.
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
    /// Something does not load.
    Error,
    /// Everything loads, but not quite as its author meant.
    Warning,
}

impl Problem {
    /// Makes a problem because of which something does not load.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, &message.into())
    }

    /// Makes a problem that stops nothing.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, &message.into())
    }

    /// Names from the file stand in messages, so those are cleaned and cut here.
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

    /// Tells whether every verb has to say it: what a project's settings did, and variables of the
    /// person's that do not count. Both change what a verb finds without a trace in its answer.
    pub fn concerns_every_verb(&self) -> bool {
        [crate::settings::BY_PROJECT, crate::discover::RELATIVE_FOLDER].contains(&self.code)
    }

    /// Says in which file it is.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Says on which line it is.
    #[must_use]
    pub fn on_line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// Says which server it concerns.
    #[must_use]
    pub fn of_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Says which field it concerns.
    #[must_use]
    pub fn of_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(crate::text::clip(&hint.into(), MAX_CHARS));
        self
    }

    /// Tells whether something does not load because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[expect(clippy::ref_option, reason = "serde hands the field as it is")]
fn serialize_path<S: serde::Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.serialize_str(&path.to_string_lossy()),
        None => serializer.serialize_none(),
    }
}
