//! The colours, named by their meaning. Every text is understandable without them.
//!
//! Text is always built with colours; `screen` removes them where they are not wanted.

use owo_colors::{OwoColorize, Style};
use wharf_config::DefinitionState;

use super::Paint;

/// Marks something that works.
pub(crate) fn good(text: &str) -> String {
    text.style(Style::new().green()).to_string()
}

/// Marks a warning.
pub(crate) fn warning(text: &str) -> String {
    text.style(Style::new().yellow()).to_string()
}

/// Marks an error.
pub(crate) fn bad(text: &str) -> String {
    text.style(Style::new().red().bold()).to_string()
}

/// Marks the subject of a line, such as a name.
pub(crate) fn strong(text: &str) -> String {
    text.style(Style::new().bold()).to_string()
}

/// Marks secondary information.
pub(crate) fn faint(text: &str) -> String {
    text.style(Style::new().dimmed()).to_string()
}

/// Marks a hint.
pub(crate) fn advice(text: &str) -> String {
    text.style(Style::new().cyan()).to_string()
}

/// Returns the colour of a server's state.
pub(crate) fn state_colour(state: DefinitionState) -> Paint {
    match state {
        DefinitionState::Enabled => good,
        DefinitionState::Untrusted => warning,
        DefinitionState::Invalid => bad,
        DefinitionState::Native => advice,
        DefinitionState::Disabled | DefinitionState::Shadowed | DefinitionState::Duplicate => faint,
    }
}
