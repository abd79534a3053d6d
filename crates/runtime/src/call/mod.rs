//! One call, from its arguments to what a model or a person gets to read.
//!
//! ```text
//! arguments ─ approval ─ execute ─► outcome ─ spill
//!                              └ error ─ explain ┘
//! ```
//!
//! Nothing here talks to a server: `execute` does, and `arguments` are checked before. `outcome`
//! and `result_text` say what the answer says, `error` and `request_errors` what went wrong and
//! whether the call may be repeated, `spill` stores what is too long.

mod error;
mod outcome;
mod phase_tracker;
pub(crate) mod request_errors;
mod result_text;
mod spill;

pub use error::{CallError, CallPhase, ErrorKind, Reason};
pub use outcome::{CallDetails, Outcome};
pub use phase_tracker::PhaseTracker;
pub use spill::{Attachment, ModelText, Quota, ResultStore, SpillError};

pub(crate) use error::clip_message;
