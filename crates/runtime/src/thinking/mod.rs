//! The `thinking` server: one tool with which a model thinks step by step.
//!
//! It needs only pipes, so that a machine without Node, Python or a network has a working server.
//! `tool` has the definition of the tool, `thought` reads and validates arguments, `history` stores
//! the state of a session, and `service` implements the protocol.

mod history;
mod service;
#[cfg(test)]
mod tests;
mod thought;
mod tool;

pub use self::service::serve;
