//! Executes one tool call, from the name of the tool to its outcome.
//!
//! A call is executed at most once, unless the entry of its server has `"retry": "hints"` and the
//! tool declares that it may be repeated.
//!
//! `call` is the call as the host makes it, with its `options`; it returns an
//! [`Outcome`](crate::call::Outcome) in every case. `lookup` finds the tool. `steps` decides what a call does next and does no input or output; `execution` does it. Whether
//! a failed request may be repeated is decided in `call::request_errors`.

mod call;
mod execution;
mod lookup;
mod options;
mod steps;

pub use call::ToolCall;
pub(crate) use execution::{may_mean_disconnected, unavailable};
pub use options::{CallOptions, ToolRef};
