//! The address of a server: parsed once; the parsed form is shown, compared, bound to credentials
//! and contacted.
//!
//! Two parsers of one text are an attack: in `http://127.0.0.1\@api.example/` a search for `@`
//! finds another host than an HTTP client. So only this folder parses the text of an address.
//!
//! Without the feature `http` there is no parser: addresses are neither shown nor contacted
//! (`opaque`).

mod error;
#[cfg(not(feature = "http"))]
mod opaque;
#[cfg(feature = "http")]
mod parse;
#[cfg(feature = "http")]
mod render;
mod secrets;
#[cfg(test)]
#[cfg(feature = "http")]
mod tests;
mod written;

#[cfg(not(feature = "http"))]
use opaque as address;
#[cfg(feature = "http")]
use render as address;

pub use address::redact_url;
pub(crate) use address::render_written;
pub use error::{ForbiddenCharacter, ServerUrlError};
#[cfg(not(feature = "http"))]
pub use opaque::ServerUrl;
#[cfg(feature = "http")]
pub use parse::{ServerLocation, ServerUrl};
pub use secrets::{credentials_of_url, secrets_of_url};
pub(crate) use written::check_written;
