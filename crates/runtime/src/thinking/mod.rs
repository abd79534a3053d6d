//! The `thinking` server: one tool with which a model thinks step by step.
//!
//! It needs nothing but pipes, so a machine without Node, Python or a network has a working server.
//! `tool` is what clients are told, `thought` reads and judges arguments, `train` is what is
//! remembered, and `service` puts them behind the protocol.

mod history;
mod service;
#[cfg(test)]
mod tests;
mod thought;
mod tool;

pub use self::service::serve;
