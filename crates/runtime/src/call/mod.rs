//! One call, from its arguments to what a model or a person gets to read.
//!
//! ```text
//! arguments ─ (approval) ─ (the wire) ─► outcome ─ spill
//!                              └ error ─ explain ┘
//! ```
//!
//! Nothing here talks to a server. Each file answers one question: do the arguments fit (`arguments`),
//! what does the answer say (`outcome`, `text`), what went wrong and may it be tried again (`error`,
//! `explain`), where does what is too long go (`spill`).

pub(crate) mod arguments;
mod error;
pub(crate) mod explain;
mod outcome;
mod spill;
mod stage;
mod text;

pub use arguments::{Argument, Misuse, PairError, Signature, from_pairs};
pub use error::{CallError, ErrorKind, Phase, Reason};
pub use outcome::{Details, Outcome};
pub use spill::{Attachment, ModelText, Quota, ResultStore, SpillError};
pub use stage::CallStage;

pub(crate) use error::bounded;
