//! Executes one tool call, from the name of the tool to its outcome.
//!
//! A call is executed at most once, unless the entry of its server has `"retry": "hints"` and the
//! tool declares that it may be repeated.
//!
//! `call` finds the tool and turns whatever happens into an [`Outcome`](crate::call::Outcome).
//! `steps` decides what a call does next and does no input or output; `execution` does it. Whether
//! a failed request may be repeated is decided in `call::request_errors`.

mod call;
mod execution;
mod steps;

pub use call::{CallOptions, ToolRef};
pub(crate) use execution::{may_mean_disconnected, unavailable};
