//! What servers ask the person in the middle of a call, asked on the terminal.
//!
//! ```text
//! desk    takes the questions one after the other, whoever asks
//! talk    says something, and waits for a line
//! form    a form, field by field
//! page    a page that is to be visited
//! shown   how foreign texts and fields look
//! ```
//!
//! What is asked, and which answers fit, is read by `wharf::elicitation`.

mod dialog;
mod form;
mod queue;
mod render;
mod url;

pub(super) use queue::elicitation_queue;
