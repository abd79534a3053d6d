//! The few colours that are used, by what they mean. Every text makes sense without them.
//!
//! Colours are always written; the screen takes them out again where they are not wanted, so
//! nothing that makes text has to know.

use owo_colors::{OwoColorize, Style};
use wharf_config::DefinitionState;

use super::Paint;

/// Something is as it should be.
pub(crate) fn good(text: &str) -> String {
    text.style(Style::new().green()).to_string()
}

/// Somebody should look at it.
pub(crate) fn warning(text: &str) -> String {
    text.style(Style::new().yellow()).to_string()
}

/// Something does not work.
pub(crate) fn bad(text: &str) -> String {
    text.style(Style::new().red().bold()).to_string()
}

/// The thing that is talked about.
pub(crate) fn strong(text: &str) -> String {
    text.style(Style::new().bold()).to_string()
}

/// Worth knowing, not worth a look.
pub(crate) fn faint(text: &str) -> String {
    text.style(Style::new().dimmed()).to_string()
}

/// What can be done about it.
pub(crate) fn advice(text: &str) -> String {
    text.style(Style::new().cyan()).to_string()
}

/// Returns the colour of a state.
pub(crate) fn state_colour(state: DefinitionState) -> Paint {
    match state {
        DefinitionState::Enabled => good,
        DefinitionState::Untrusted => warning,
        DefinitionState::Invalid => bad,
        DefinitionState::Native => advice,
        DefinitionState::Disabled | DefinitionState::Shadowed | DefinitionState::Duplicate => faint,
    }
}
