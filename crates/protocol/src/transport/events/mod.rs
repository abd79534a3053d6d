//! Server-Sent Events: the stream in which a server answers over HTTP, cut into events.
//!
//! [`Parser`] is pushed whatever pieces the network delivers and offers whole events. It waits for
//! nothing, copies a payload at most once and keeps at most as many bytes as it was allowed.
//! [`check`] is the promise of all that, for tests and for the fuzzer.

mod check;
mod event;
mod parser;
#[cfg(test)]
mod tests;

pub use check::check;
pub use event::{Event, EventTooLarge};
pub use parser::Parser;
