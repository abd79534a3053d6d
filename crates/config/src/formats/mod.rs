//! The programs that keep MCP servers in files: Wharf (`wharf`) and all others (`programs`).
//!
//! A program is a table of files plus the few things it does differently. Shared code is in
//! `program` (the table), `file_reader` (server maps), `entry_reader` and `scalars` (fields).
//! Without the feature `discovery` there is only Wharf.

#[cfg_attr(
    not(feature = "discovery"),
    expect(dead_code, reason = "other programs need more than Wharf's own files")
)]
mod entry_reader;
#[cfg_attr(
    not(feature = "discovery"),
    expect(dead_code, reason = "other programs need more than Wharf's own files")
)]
mod file_reader;
#[cfg_attr(
    not(feature = "discovery"),
    expect(dead_code, reason = "other programs need more than Wharf's own files")
)]
mod program;
#[cfg(feature = "discovery")]
mod programs;
mod scalars;
pub(crate) mod wharf;

pub(crate) use file_reader::FileReader;
pub(crate) use program::{ConfigFile, FileShape, PathTemplate, Program};
#[cfg(feature = "discovery")]
pub(crate) use programs::{ExportStyle, PROGRAMS, braced_variable};
#[cfg(not(feature = "discovery"))]
pub(crate) use wharf::PROGRAMS;

/// A variable whose value is the servers as JSON.
pub(crate) static VARIABLE: ConfigFile = program::variable("");

/// Servers given on the command line, which are not in a file.
pub(crate) static ONE_OFF_PROGRAM: &Program = &wharf::ONE_OFF_PROGRAM;

/// A file that the person named, of any program.
#[cfg(feature = "discovery")]
pub(crate) static ANY_FILE: ConfigFile = program::user("").any_key_or_root();

/// Finds a program by its short name.
pub(crate) fn program(id: &str) -> Option<&'static Program> {
    PROGRAMS.iter().copied().find(|program| program.id == id)
}

/// Finds a program by its short name, or by its name as one word: `claude-code`, `vs-code`.
#[cfg(feature = "discovery")]
pub(crate) fn program_by_name(word: &str) -> Option<&'static Program> {
    let is_name = |program: &&Program| program.name.to_ascii_lowercase().replace(' ', "-") == word;
    program(word).or_else(|| PROGRAMS.iter().copied().find(is_name))
}

/// Lists the programs whose files are read, as id and name.
pub fn providers() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.iter().map(|program| (program.id, program.name))
}
