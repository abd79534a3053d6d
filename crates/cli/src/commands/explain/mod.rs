//! `wharf explain NAME`: why a server is or is not used.
//!
//! ```text
//! run          collects the definitions and prints JSON
//! ranking      why a definition wins or is shadowed
//! differences  how a definition differs from the winner
//! explanation  the text for a person
//! ```

mod differences;
mod explanation;
mod ranking;
mod run;

pub(crate) use run::{ExplainArgs, run};
