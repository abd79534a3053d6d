//! `wharf trust`: the person trusts servers of a project.
//!
//! `selection` has the arguments that select servers, `run` asks and records, `trust_prompt`
//! shows what the person agrees to, with `redacted_args` for the arguments and `variables` for
//! remarks on variables, `record` changes `trust.json` under the lock, and `tool_review`
//! accepts changed tools and revokes permanent approvals. `untrust` and the verbs that
//! connect use this folder as well.

pub(super) mod record;
mod redacted_args;
mod run;
pub(super) mod selection;
pub(super) mod tool_review;
mod trust_prompt;
mod variables;

pub(crate) use run::{TrustArgs, ask_in_place, run};
pub(crate) use trust_prompt::add_changes;
