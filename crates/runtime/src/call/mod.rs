//! The outcome of a call: its result or error, and the text for a model or a person.
//!
//! ```text
//! arguments ─ approval ─ execute ─► outcome ─ spill
//!                              └ error ─ explain ┘
//! ```
//!
//! Nothing here sends requests: `execute` does, and `arguments` checks the arguments before.
//! `outcome` and `result_text` render a result. `error` is the error of a call; `request_errors`
//! maps request errors to it and decides whether a call may be repeated. `spill` stores results
//! that are too long.

mod error;
mod outcome;
mod phase_tracker;
pub(crate) mod request_errors;
mod result_text;
mod spill;

pub use error::{CallError, CallErrorKind, CallErrorReason, CallPhase};
pub use outcome::{CallDetails, Outcome};
pub(crate) use phase_tracker::CallPhaseCell;
pub use phase_tracker::PhaseTracker;
pub use spill::{Attachment, ModelText, Quota, ResultStore, SpillError};

pub(crate) use error::clip_message;
pub(crate) use spill::{binary_content, decode_base64};
