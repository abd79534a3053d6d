//! `wharf tools`: what agents can call.
//!
//! `run` connects and waits, `shown` is what programs get, `text` is what people see.

mod run;
mod shown;
mod text;

pub(crate) use run::{ToolsArgs, run};
