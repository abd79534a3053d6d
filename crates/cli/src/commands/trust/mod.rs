//! `wharf trust`: the person agrees to what came with a project.
//!
//! `chosen` reads which servers are meant, `run` decides whom to ask about, `agreement` shows
//! exactly what is agreed to with `hidden` for its arguments, `record` writes it down under the
//! lock. `untrust` uses the same record.

mod agreement;
pub(super) mod chosen;
mod hidden;
pub(super) mod record;
mod run;

pub(crate) use run::{TrustArgs, run};
