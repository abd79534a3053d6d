//! Server-Sent Events: the stream in which a server answers over HTTP, cut into events.
//!
//! [`EventParser`] is pushed whatever pieces the network delivers and offers whole events. It waits
//! for nothing, copies a payload at most once and keeps at most as many bytes as it was allowed.
//! [`check`] is the promise of all that, for tests and for the fuzzer.

#[cfg(any(test, fuzzing))]
mod check;
mod event;
mod parser;
#[cfg(test)]
mod tests;

#[cfg(any(test, fuzzing))]
pub(crate) use check::check;
pub(crate) use event::Event;
pub(crate) use parser::EventParser;
