//! `wharf tools`: lists the tools, or describes one.
//!
//! `run` connects and waits, `json` is the JSON output, `text` is the output for a
//! person.

mod json;
mod run;
mod text;

pub(crate) use run::{ToolsArgs, run};
