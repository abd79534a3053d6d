//! Questions of servers, made ready for a person: whoever fills [`Elicitor`](crate::Elicitor) reads
//! them here and only has to show them.
//!
//! `form` and `field` read the schema of a form, `answer` turns what was typed into values that fit
//! it, `written` knows dates and addresses, `page` takes the address of a page apart. All of it is
//! foreign: texts have to be cleaned before they are shown, and what is too large or too odd to be
//! answered says so.

mod answer;
mod field;
mod form;
mod page;
pub(crate) mod required_pages;
mod written;

pub use answer::Misfit;
pub use field::{Choice, Empty, Field, Kind, TextFormat};
pub use form::{Form, Unanswerable};
pub use page::{BadPage, Page};
