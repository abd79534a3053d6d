//! Wharf's own files, the variable that replaces all files, and the built-in defaults.
//!
//! The fields are those of the user guide; all of them are honoured here, including approvals.

use super::program::{Dialect, Program, project, user};

/// Wharf's name as a source.
pub(crate) const NAME: &str = "Wharf";

pub(super) const PROGRAM: Program = Program {
    priority: 100,
    dialect: Dialect::NATIVE,
    keeps_documents: true,
    files: &[project(".wharf/mcp.json"), user("${WHARF_HOME:-~/.wharf}/mcp.json")],
    ..Program::new("wharf", NAME)
};

/// `WHARF_MCP_SERVERS`: if it is set, no file is read, so it is not in a list of files.
pub(super) const VARIABLE_PROGRAM: Program =
    Program { priority: 110, dialect: Dialect::NATIVE, ..Program::new("env", "WHARF_MCP_SERVERS") };

/// A server that is given only on the command line; see `one_off`.
pub(super) const ONE_OFF_PROGRAM: Program = Program {
    priority: 110,
    dialect: Dialect::NATIVE,
    ..Program::new(crate::catalog::ONE_OFF, "command line")
};

/// The built-in default servers; see `defaults`.
pub(super) const DEFAULTS_PROGRAM: Program =
    Program { priority: 0, dialect: Dialect::NATIVE, ..Program::new("defaults", "Wharf defaults") };

/// All programs, if those of other people are not compiled in.
#[cfg(not(feature = "discovery"))]
pub(crate) static PROGRAMS: [&Program; 3] = [&PROGRAM, &VARIABLE_PROGRAM, &DEFAULTS_PROGRAM];
