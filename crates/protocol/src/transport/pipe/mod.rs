//! The transport for any byte stream that a program brings: an in-process server, a channel of SSH,
//! a socket.
//!
//! `opener` has the trait that opens such a [`Pipe`]. `driver` runs its session. Lines and messages
//! are in `lines`, as for a process.

mod driver;
mod opener;

pub(crate) use driver::open;
pub use opener::{Pipe, PipeOpener};
