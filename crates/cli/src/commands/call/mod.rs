//! `wharf call TOOL`: one call, typed by a person.
//!
//! `arguments` parses the arguments, `run` makes the call, `output` prints the outcome, and
//! `early_failure` describes a failure before the call.

mod arguments;
mod early_failure;
mod output;
mod run;

pub(crate) use run::{CallArgs, run};
