//! `wharf tools`: what agents can call.
//!
//! `run` connects and waits, `json` is what programs get, `text` is what people see.

mod json;
mod run;
mod text;

pub(crate) use run::{ToolsArgs, run};
