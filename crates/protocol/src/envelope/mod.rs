//! JSON-RPC messages: requests, responses, notifications, ids; read leniently, written strictly.
//!
//! Params and results stay text ([`Json`](crate::Json)); only the envelope around them is parsed.
//! A line may also hold a batch.

mod id;
mod message;
mod read;
mod write;

pub use id::Id;
pub use message::{Notification, RpcError, code};
pub use read::EnvelopeViolation;

pub(crate) use message::{Message, Request, Response};
#[cfg(feature = "serve")]
pub(crate) use read::Malformed;
#[cfg(any(feature = "http", feature = "serve", test, fuzzing))]
pub(crate) use read::read;
pub(crate) use read::{Received, read_leniently};
pub(crate) use write::request_with;
pub use write::{failure, notification, request, success};
