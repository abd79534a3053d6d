//! MCP elicitation on the terminal: asks the person for input that servers request in a call.
//!
//! ```text
//! queue   takes the requests of all servers, one at a time
//! dialog  prints text and reads a line
//! form    form elicitation, field by field
//! url     URL elicitation: a page to visit
//! render  formats untrusted text and fields
//! ```
//!
//! `wharf::elicitation` parses the requests and validates the answers.

mod dialog;
mod form;
mod queue;
mod render;
mod url;

pub(super) use queue::elicitation_queue;
