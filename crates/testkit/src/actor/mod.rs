//! A server that does what a test tells it, and keeps a diary of what really happened.
//!
//! Its folder holds `script.json` (a [`Script`], read at every start), and gets `starts` (a line
//! with the process number per start), `hellos` (what each client can do), `asked` (the method of
//! each request), `levels` (how much to log), `metas` (the `_meta` of each call that was read) and
//! `effects` (a line per call that was carried out). A call may say where in its course the server
//! is to die, so the diary shows what ran and what did not.

mod call;
mod extras;
mod modern;
mod play;
mod script;

pub use play::play;
pub use script::{Diary, Script};
