//! Servers that keep the rules, for tests that need somebody to talk to.
//!
//! `sample` is a service on our own server core with a bit of everything; `catalogue` is what it
//! offers, `tools` what its tools do, `history` what it remembers. `record` writes a conversation
//! down, and `place` is where a program of this package serves.

mod catalogue;
mod history;
mod place;
mod record;
mod sample;
mod tools;

pub use place::{Place, UnknownPlace, input_ended};
pub use record::{Recorder, Tee};
pub use sample::Sample;
