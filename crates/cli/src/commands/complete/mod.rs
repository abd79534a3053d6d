//! Shell completion, `wharf complete`: the candidates for a command line. The scripts of
//! `wharf completions` call it.
//!
//! ```text
//! shell_words  splits the line of Bash into words; other shells pass the words
//! position     which flag, value or argument the last word is, from the parser's definition
//! candidates   the candidates there: verbs, flags, servers, tools, argument names
//! script       the script for each shell
//! run          prints the candidates
//! ```
//!
//! Only files are read: nothing is connected, asked or written. Names come from servers and
//! projects, so only names are offered that are plain words for a shell
//! (`wharf_config::shell::is_plain`).

mod candidates;
mod position;
mod run;
mod script;
mod shell_words;

pub(crate) use run::{CompleteArgs, run};
pub(crate) use script::{Shell, script};
