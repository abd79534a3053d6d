//! Executes one tool call, from the name of the tool to its outcome, and never twice.
//!
//! `call` finds the tool and turns whatever happens into an [`Outcome`](crate::call::Outcome).
//! `steps` decides what a call does next and touches nothing else; `execution` does it. Whether a
//! failed request may be repeated is decided in `call::request_errors`.

mod call;
mod execution;
mod steps;

pub use call::{CallOptions, ToolRef};
pub(crate) use execution::{may_mean_disconnected, unavailable};
