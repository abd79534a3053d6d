//! The state of one session with a server, shared by the transports and the client handle.
//!
//! A transport passes everything that it reads to [`SessionCore`], which routes it: a
//! response to the request that waits for it (`pending_requests`), a request of the server
//! to the [`ClientHandler`] (`server_requests`), and a notification to the handler, too. The
//! errors, limits and violations of a session are also here, because both sides use
//! them. This module does not know how bytes reach the server (`transport`) or what
//! a request means (`peer`).

pub(crate) mod callbacks;
mod client_request;
mod core;
mod deadline_timer;
mod error;
mod handler;
mod limits;
mod pending_requests;
mod request_cause;
mod server_requests;
mod trace;
mod violation;

pub use error::{EndReason, RequestError, SessionEnd};
pub use handler::{ClientHandler, HandlerFuture, NoHandler};
pub use limits::{Deadline, SessionLimits};
pub use request_cause::RequestCause;
pub use trace::{TraceEvent, Tracer};
pub use violation::SessionViolation;

#[cfg(any(feature = "http", test))]
pub(crate) use self::core::Arrival;
pub(crate) use self::core::{MessageSender, SessionCore};
pub(crate) use client_request::{ClientRequest, cancel_notification};
pub(crate) use deadline_timer::DeadlineTimer;
pub(crate) use error::is_about_request;
#[cfg(feature = "http")]
pub(crate) use pending_requests::wait_for_outcome;
pub(crate) use pending_requests::{Observer, RequestOutcome, SubscriptionAck};
pub(crate) use trace::trace;
