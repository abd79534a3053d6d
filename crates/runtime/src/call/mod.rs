//! One call, from its arguments to what a model or a person gets to read.
//!
//! ```text
//! arguments ─ approval ─ execute ─► outcome ─ spill
//!                              └ error ─ explain ┘
//! ```
//!
//! Nothing here talks to a server: `execute` does, and `arguments` are checked before. `outcome` and
//! `text` say what the answer says, `error` and `explain` what went wrong and whether the call may be
//! repeated, `spill` stores what is too long.

mod error;
pub(crate) mod explain;
mod outcome;
mod spill;
mod stage;
mod text;

pub use error::{CallError, ErrorKind, Phase, Reason};
pub use outcome::{Details, Outcome};
pub use spill::{Attachment, ModelText, Quota, ResultStore, SpillError};
pub use stage::CallStage;

pub(crate) use error::bounded;
