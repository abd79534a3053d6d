//! `wharf explain NAME`: why a server is or is not used.
//!
//! `run` gathers, `why` says who comes first, `differ` compares what they say, `answer` puts it
//! into words.

mod differences;
mod explanation;
mod ranking;
mod run;

pub(crate) use run::{ExplainArgs, run};
