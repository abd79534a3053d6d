//! Questions of servers, made ready for a person: whoever fills [`Elicitor`](crate::Elicitor) reads
//! them here and only has to show them.
//!
//! `form` and `field` read the schema of a form, `answer` turns what was typed into values that fit
//! it, `text_format` knows dates and addresses, `page` takes the address of a page apart. All of it
//! is foreign: texts have to be cleaned before they are shown, and what is too large or too odd to
//! be answered says so.

mod field;
mod form;
mod input;
pub(crate) mod required_urls;
mod text_format;
mod url_elicitation;

pub use field::{Choice, EmptyInput, FieldKind, FormField, TextFormat};
pub use form::{Form, FormError};
pub use input::InvalidInput;
pub use url_elicitation::{UrlElicitation, UrlError};
