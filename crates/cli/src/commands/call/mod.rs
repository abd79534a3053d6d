//! `wharf call TOOL`: one call, typed by a person.
//!
//! `given` is what was typed for the tool, `run` makes the call, `shown` prints what came of it, and
//! `unmade` says what a failure before the call means.

mod given;
mod run;
mod shown;
mod unmade;

pub(crate) use run::{CallArgs, run};
