//! The result of one check of `wharf doctor`.

use serde::Serialize;

/// The result of one check. The texts may contain untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// What was checked: a file, a server, or a topic.
    pub(super) name: String,
    /// Whether nothing has to be fixed.
    pub(super) ok: bool,
    /// The result.
    pub(super) message: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// Whether it is shown although nothing has to be fixed.
    #[serde(rename = "note", skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_note: bool,
}

impl Check {
    /// Creates a check that passed.
    pub(super) fn passed(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), ok: true, message: message.into(), hint: None, is_note: false }
    }

    /// Creates a check that passed with information that is shown.
    pub(super) fn note(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { is_note: true, ..Self::passed(name, message) }
    }

    /// Creates a check that failed.
    pub(super) fn failed(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { ok: false, ..Self::passed(name, message) }
    }

    /// Adds a hint.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
