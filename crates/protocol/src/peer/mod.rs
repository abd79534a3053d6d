//! The client's side of a connection: one cheap handle through which everything is asked.
//!
//! `connection` sends one request and waits for its answer. The rest is built on requests:
//! `input_required` (a server that asks back), `lists` (pages), `methods` (one function per
//! method), `subscription`, `task` and `skill`. What is shared with the transports is in
//! [`session`](crate::session).

mod connection;
mod handle;
mod input_required;
mod lists;
mod meta_writer;
mod methods;
#[cfg(feature = "skills")]
mod skill;
mod subscription;
mod task;
#[cfg(test)]
mod tests;

pub use handle::{Peer, ProgressMode, RequestOptions, ServerProfile};
pub use lists::{ListCut, ListResult};
#[cfg(feature = "skills")]
pub use skill::{LoadedSkill, SkillError};
pub use subscription::Subscription;

pub use crate::session::{
    ClientHandler, Deadline, EndReason, HandlerFuture, NoHandler, RequestError, SessionEnd,
    SessionLimits, Warning,
};

pub(crate) use connection::ClientConnection;
pub(crate) use meta_writer::MetaWriter;
