//! `wharf complete`: what could come next on a command line, for the scripts of `wharf
//! completions`.
//!
//! ```text
//! line        cuts the line of Bash into words; other shells give the words themselves
//! position    which flag, value or argument the last word is, by the definition of the arguments
//! candidates  what can stand there: verbs, flags, servers, tools, argument names
//! script      the script for each shell
//! run         prints the candidates
//! ```
//!
//! Only files are read: nothing is connected, expanded for use, asked or written. Names come from
//! servers and projects, so only those are offered that mean nothing to a shell
//! (`wharf_config::shell::is_plain`).

mod candidates;
mod position;
mod run;
mod script;
mod shell_words;

pub(crate) use run::{CompleteArgs, run};
pub(crate) use script::{Shell, script};
