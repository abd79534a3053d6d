//! The client's side of a connection: one cheap handle through which everything is asked.
//!
//! `core` routes what comes in, `pending` knows who waits, `patience` for how long, `inbound` what the
//! server waits for, `wire` sends and waits, and the rest is built on requests: `rounds` (a server that asks back), `lists` (pages), `ask` (one function per
//! method), `subscription` and `task`.

mod ask;
mod core;
mod dialect;
mod error;
mod handle;
mod handler;
mod inbound;
mod limits;
mod lists;
mod patience;
mod pending;
mod rounds;
mod skill;
mod subscription;
mod task;
#[cfg(test)]
mod tests;
mod warning;
mod wire;

pub use error::{EndReason, Ended, RequestError};
pub use handle::{Peer, Profile, ProgressReport, RequestOptions};
pub use handler::{Handler, NoHandler, Reply};
pub use limits::{Deadline, Limits};
pub use lists::{Cut, Listing};
pub use skill::{LoadedSkill, SkillError};
pub use subscription::Subscription;
pub use warning::Warning;

pub(crate) use self::core::{Core, Speaker};
pub(crate) use dialect::Dialect;
pub(crate) use pending::{Answer, Observer};
pub(crate) use wire::{Question, Wire, awaited, cancellation};
