//! Renders a value before expansion: placeholders are shown, literal parts are redacted.
//!
//! The person decides about which variable is sent where, so placeholders must be visible. Literal
//! parts may be secrets.

use std::fmt::Write as _;

use crate::env::Env;
use crate::expand::{ExpandContext, Piece, Placeholder, pieces};
use crate::named_files::NamedFiles;
use crate::secret::REDACTED;
use crate::server::{Definition, WrittenText};

/// Authentication schemes, which stand before a token and are not secret.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// Renders a value of a definition with its literal parts redacted: `Bearer ${GITHUB_TOKEN}`.
pub fn value_as_written(written: &WrittenText, definition: &Definition, env: &Env) -> String {
    redact_literals(written, ExpandContext::of(definition, env, &NamedFiles::default()))
}

/// Redacts the literal parts of a text.
pub(super) fn redact_literals(written: &WrittenText, context: ExpandContext<'_>) -> String {
    let mut redacted = String::new();
    let mut has_placeholder = false;
    for piece in pieces(written, context) {
        match piece {
            Piece::Text(text) => redacted.push_str(&literal(text)),
            Piece::Placeholder(whole, placeholder) => {
                has_placeholder = true;
                match placeholder {
                    // A default is literal text, too.
                    Placeholder::Variable { default: Some(default), .. } if !default.is_empty() => {
                        let before = whole.split_once(":-").map_or(whole, |(before, _)| before);
                        let _infallible = write!(redacted, "{before}:-{REDACTED}}}");
                    }
                    _ => redacted.push_str(whole),
                }
            }
        }
    }
    if has_placeholder { redacted } else { REDACTED.to_owned() }
}

/// Redacts a literal part, unless it is only an authentication scheme or punctuation.
fn literal(text: &str) -> String {
    let word = text.trim();
    let is_scheme = SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    let is_separator = word.chars().all(|c| c.is_ascii_punctuation());
    if is_scheme || is_separator { text.to_owned() } else { REDACTED.to_owned() }
}
