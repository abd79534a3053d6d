//! The client's side of a connection: one cheap handle through which everything is asked.
//!
//! `wire` sends one request and waits for its answer. The rest is built on requests: `rounds` (a
//! server that asks back), `lists` (pages), `ask` (one function per method), `subscription`, `task`
//! and `skill`. What is shared with the transports is in [`session`](crate::session).

mod ask;
mod dialect;
mod handle;
mod lists;
mod rounds;
#[cfg(feature = "skills")]
mod skill;
mod subscription;
mod task;
#[cfg(test)]
mod tests;
mod wire;

pub use handle::{Peer, Profile, ProgressReport, RequestOptions};
pub use lists::{Cut, Listing};
#[cfg(feature = "skills")]
pub use skill::{LoadedSkill, SkillError};
pub use subscription::Subscription;

pub use crate::session::{
    Deadline, EndReason, Ended, Handler, Limits, NoHandler, Reply, RequestError, Warning,
};

pub(crate) use dialect::Dialect;
pub(crate) use wire::Wire;
