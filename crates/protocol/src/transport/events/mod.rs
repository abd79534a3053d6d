//! SSE parsing: splits the Server-Sent Events of an HTTP response into events.
//!
//! [`EventParser`] takes chunks of any size and returns whole events. It does no I/O, copies a
//! payload at most once and buffers no more bytes than its limit. [`check`] verifies this
//! for tests and for the fuzzer.

#[cfg(any(test, fuzzing))]
mod check;
mod event;
mod parser;
#[cfg(test)]
mod tests;

#[cfg(any(test, fuzzing))]
pub(crate) use check::check;
pub(crate) use event::SseEvent;
pub(crate) use parser::EventParser;
