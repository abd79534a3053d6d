//! One thing that was looked at, and how it is.

use serde::Serialize;

/// The result of looking at one thing. The texts may hold foreign words as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// What was looked at.
    pub(super) name: String,
    /// Whether nothing has to be done.
    pub(super) ok: bool,
    /// How it is.
    pub(super) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// Whether it is worth telling although nothing has to be done.
    #[serde(rename = "note", skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_note: bool,
}

impl Check {
    /// All is well.
    pub(super) fn passed(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), ok: true, message: message.into(), hint: None, is_note: false }
    }

    /// Nothing is broken, but somebody may want to know.
    pub(super) fn note(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { is_note: true, ..Self::passed(name, message) }
    }

    /// Something has to be done.
    pub(super) fn failed(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { ok: false, ..Self::passed(name, message) }
    }

    /// Says what to do about it.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
