//! The client's side against servers that follow a script.

mod once;
mod questions;
mod sessions;
mod stage;
