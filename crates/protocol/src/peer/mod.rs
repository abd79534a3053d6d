//! The client's side of a connection: [`Peer`], a cheap handle for all requests to one server.
//!
//! `connection` sends one request and waits for its response. The rest uses it: `methods` (one
//! function per method), `lists` (pagination), `input_required` (multi round-trip requests),
//! `subscription`, `task` and `skill`. The state that is shared with the transports
//! is in `session`.

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
    ClientHandler, Deadline, EndReason, HandlerFuture, NoHandler, RequestCause, RequestError,
    SessionEnd, SessionLimits, SessionViolation,
};

pub(crate) use connection::ClientConnection;
pub(crate) use meta_writer::MetaWriter;
