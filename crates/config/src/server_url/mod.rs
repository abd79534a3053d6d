//! The address of a server: parsed once; the parsed form is shown, compared, bound to credentials
//! and contacted.
//!
//! Two parsers of one text are an attack: in `http://127.0.0.1\@api.example/` a search for `@`
//! finds another host than an HTTP client. So only this folder parses the text of an address.

mod parse;
mod render;
mod secrets;
#[cfg(test)]
mod tests;

pub use parse::{ForbiddenCharacter, ServerLocation, ServerUrl, ServerUrlError};
pub use render::redact_url;
pub(crate) use render::{check_written, render_written};
pub use secrets::{credentials_of_url, secrets_of_url};
