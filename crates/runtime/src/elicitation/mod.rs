//! MCP elicitation: reads what a server asks the person, for hosts that implement
//! [`Elicitor`](crate::Elicitor).
//!
//! `form` and `field` read the schema of a form, `input` parses and validates input, `text_format`
//! checks the text formats (email, URI, date), `url_elicitation` reads URL elicitations,
//! `required_urls` handles calls that are rejected until URLs were visited. All texts are
//! untrusted: the host must escape them before they are shown.
//!
//! Without the feature `http`, no URL can be parsed: URL elicitation is not declared to servers.

mod field;
mod form;
mod input;
pub(crate) mod required_urls;
mod text_format;
#[cfg(feature = "http")]
mod url_elicitation;

pub use field::{Choice, EmptyInput, FieldKind, FormField, TextFormat};
pub use form::{Form, FormError};
pub use input::InvalidInput;
#[cfg(feature = "http")]
pub use url_elicitation::{UrlElicitation, UrlError};
