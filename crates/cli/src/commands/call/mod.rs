//! `wharf call TOOL`: one call, typed by a person.
//!
//! `given` is what was typed for the tool, `run` makes the call, `shown` prints what came of it.

mod given;
mod run;
mod shown;

pub(crate) use run::{CallArgs, run};
