//! The address of a server: parsed once, and shown, compared, bound to credentials and contacted
//! from that parse.
//!
//! Two readings of one text are an attack: `http://127.0.0.1\@api.example/` names one host to a
//! search for `@` and another one to an HTTP client. So nothing outside this folder takes the text
//! of an address apart.

mod parse;
mod render;
#[cfg(test)]
mod tests;

pub use parse::{ForbiddenCharacter, ServerLocation, ServerUrl, ServerUrlError};
pub(crate) use render::{check_written, render_written};
pub use render::{redact_url, secrets_of_url};
