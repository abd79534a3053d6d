//! `wharf explain NAME`: why a server is or is not used.
//!
//! `run` gathers, `why` compares the candidates, `answer` puts it into words.

mod answer;
mod run;
mod why;

pub(crate) use run::{ExplainArgs, run};
