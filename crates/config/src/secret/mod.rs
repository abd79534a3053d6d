//! Secrets: the type [`Secret`], which is redacted in debug output, and functions that redact
//! texts.
//!
//! These are secrets: values of environment variables and headers, every expanded or resolved
//! value, the user and query of a URL, and the argument after a flag such as `--token`.

mod name;
mod redact;

use std::fmt;

pub use crate::server_url::{credentials_of_url, redact_url, secrets_of_url};
pub use name::names_a_secret;
pub use redact::{redact_args, redact_command};

/// The text that replaces a secret; `wharf-protocol` has the same one for texts of servers.
pub const REDACTED: &str = "•••";

/// A text that no log, error or listing may contain.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for the one call that sends or stores it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_output_of_a_secret_is_redacted() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), REDACTED);
    }
}
