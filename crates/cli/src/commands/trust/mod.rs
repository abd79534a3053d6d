//! `wharf trust`: the person agrees to what came with a project.
//!
//! `selection` reads which servers are meant, `run` decides whom to ask about, `trust_prompt` shows
//! exactly what is agreed to with `redacted_args` for its arguments and `variables` for remarks,
//! `record` writes it down under the lock, `tool_review` accepts changed tools and takes back what
//! was answered about calls. `untrust` uses the same record, and verbs that connect ask in place.

pub(super) mod record;
mod redacted_args;
mod run;
pub(super) mod selection;
pub(super) mod tool_review;
mod trust_prompt;
mod variables;

pub(crate) use run::{TrustArgs, ask_in_place, run};
pub(crate) use trust_prompt::add_changes;
