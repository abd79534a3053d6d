//! The state of one session with a server, shared by the transports and the client handle.
//!
//! A transport hands everything that it reads to [`Core`], which routes it: an answer to the request
//! that waits for it (`pending`), a request of the server to the [`Handler`] (`inbound`), anything
//! else to the handler as a notification. The errors, limits and warnings of a session are here too,
//! because both sides use them. Nothing here knows how bytes reach the server (`transport`) or what a
//! request means (`peer`).

mod core;
mod error;
mod handler;
mod inbound;
mod limits;
mod patience;
mod pending;
mod question;
mod trace;
mod warning;

pub use error::{EndReason, Ended, RequestError};
pub use handler::{Handler, NoHandler, Reply};
pub use limits::{Deadline, Limits};
pub use trace::{TraceEvent, Tracer};
pub use warning::Warning;

pub(crate) use self::core::{Core, Speaker};
pub(crate) use patience::Patience;
pub(crate) use pending::{Answer, Heard, Observer, awaited};
pub(crate) use question::{Question, cancellation};
