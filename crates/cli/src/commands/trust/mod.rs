//! `wharf trust`: the person agrees to what came with a project.
//!
//! `chosen` reads which servers are meant, `run` decides whom to ask about, `agreement` shows
//! exactly what is agreed to with `hidden` for its arguments and `variables` for remarks,
//! `record` writes it down under the lock, `tools` accepts changed tools and takes back what was answered about calls. `untrust` uses
//! the same record, and verbs that connect ask in place.

mod agreement;
pub(super) mod chosen;
mod hidden;
pub(super) mod record;
mod run;
pub(super) mod tools;
mod variables;

pub(crate) use agreement::add_changes;
pub(crate) use run::{TrustArgs, ask_in_place, run};
