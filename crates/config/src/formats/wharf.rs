//! Wharf's own files, the variable that replaces all files, and the defaults.
//!
//! The fields are those of the user guide; all of them count here, approvals included.

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

/// `WHARF_MCP_SERVERS`: when it is set, no file is looked at, so it is not among the files here.
pub(super) const VARIABLE_PROGRAM: Program =
    Program { priority: 110, dialect: Dialect::NATIVE, ..Program::new("env", "WHARF_MCP_SERVERS") };

/// A server that is given on a command line and in no file; see `one_off`.
pub(super) const ONE_OFF_PROGRAM: Program = Program {
    priority: 110,
    dialect: Dialect::NATIVE,
    ..Program::new(crate::one_off::ONE_OFF, "command line")
};

/// What a fresh machine gets; see `defaults`.
pub(super) const DEFAULTS_PROGRAM: Program =
    Program { priority: 0, dialect: Dialect::NATIVE, ..Program::new("defaults", "Wharf defaults") };
