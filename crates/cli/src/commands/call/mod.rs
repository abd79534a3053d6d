//! `wharf call TOOL`: one call, typed by a person.
//!
//! `arguments` is what was typed for the tool, `run` makes the call, `output` prints what came of
//! it, and `early_failure` says what a failure before the call means.

mod arguments;
mod early_failure;
mod output;
mod run;

pub(crate) use run::{CallArgs, run};
